package bindings_test

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"

	"transect/client"
	"transect/client/declare"
	"transect/client/schema"
)

// throughGo carries out the operations that Lua calls by the typed ones of
// another client, as a Go program would, and hands on what they return.
func throughGo(t *testing.T, c *client.Client) declare.Interceptor {
	typed := typedOperations(t, c)
	return func(ctx context.Context, call *declare.Call, _ declare.Handler) (declare.Value, error) {
		op, ok := typed[call.Spec.FullName()]
		if !ok {
			t.Fatalf("%s has no typed operation", call.Spec.FullName())
		}
		out := op.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(call.In)})
		if err, _ := out[1].Interface().(error); err != nil {
			return declare.Value{}, err
		}
		return untyped(t, call, out[0])
	}
}

// typedOperations finds the Go function of each operation, the two of a search
// among them.
func typedOperations(t *testing.T, c *client.Client) map[string]reflect.Value {
	ops := map[string]reflect.Value{}
	v := reflect.ValueOf(c).Elem()
	for i := 0; i < v.NumField(); i++ {
		name, ok := v.Type().Field(i).Tag.Lookup("manager")
		if !ok {
			continue
		}
		names := c.Manager(name).OpNames()
		for j := 0; j < v.Field(i).NumField(); j++ {
			field := v.Field(i).Field(j)
			if v.Field(i).Type().Field(j).Tag.Get("hidden") == "yes" {
				continue
			}
			if field.Kind() == reflect.Func {
				ops[name+"."+names[0]], names = field, names[1:]
				continue
			}
			ops[name+"."+names[0]] = field.FieldByName("Page")
			ops[name+"."+names[1]], names = field.FieldByName("Cursor"), names[2:]
		}
		if len(names) != 0 {
			t.Fatalf("%s: no Go field for %v", name, names)
		}
	}
	return ops
}

type rawRecord interface{ JSON() []byte }

// untyped turns a typed result back into what the bindings take.
func untyped(t *testing.T, call *declare.Call, out reflect.Value) (declare.Value, error) {
	switch o := out.Interface().(type) {
	case declare.None:
		return declare.Value{Shape: declare.ShapeNone}, nil
	case rawRecord:
		if len(o.JSON()) == 0 {
			return declare.Value{Shape: declare.ShapeNone}, nil
		}
		return declare.Value{Shape: declare.ShapeResource, JSON: o.JSON()}, nil
	case schema.Object:
		text, err := json.Marshal(o)
		return declare.Value{Shape: declare.ShapeObject, JSON: text}, err
	}
	if out.Kind() == reflect.Pointer {
		return declare.Value{Shape: declare.ShapeIterator, Stream: out.Elem().FieldByName("Stream").Interface().(*declare.Stream)}, nil
	}
	if out.Kind() == reflect.Struct && out.FieldByName("Results").IsValid() {
		return declare.Value{Shape: declare.ShapePage, Items: itemsOf(t, call, out.FieldByName("Results")), Total: out.FieldByName("Total").Int()}, nil
	}
	if out.Kind() == reflect.Slice && out.Type().Elem().Implements(reflect.TypeFor[rawRecord]()) {
		items := itemsOf(t, call, out)
		if one := len(items) == 1 && call.Spec.Shape == declare.ShapeSome && !listed(call); one {
			return declare.Value{Shape: declare.ShapeResource, JSON: items[0]}, nil
		}
		return declare.Value{Shape: declare.ShapeResources, Items: items}, nil
	}
	return declare.Value{Shape: declare.ShapeGo, Go: out.Interface()}, nil
}

func itemsOf(t *testing.T, call *declare.Call, list reflect.Value) [][]byte {
	items := make([][]byte, list.Len())
	for i := range items {
		items[i] = list.Index(i).Interface().(rawRecord).JSON()
		if len(items[i]) == 0 {
			t.Errorf("%s: record %d lost what the platform sent", call.Spec.FullName(), i)
		}
	}
	return items
}

// listed reports whether a list of ids was given, even of one.
func listed(call *declare.Call) bool {
	for _, v := range call.Args.Values {
		if _, ok := v.([]string); ok {
			return true
		}
	}
	return false
}

// TestExamplesThroughGo runs the example of every operation once more over
// real HTTP, with each call carried out by the typed operation of a Go client.
func TestExamplesThroughGo(t *testing.T) {
	eachExample(t, func(t *testing.T, files []string, code string) {
		w := newWorldIn(t, ".", files)
		server := httptest.NewServer(w.platform.Handler())
		defer server.Close()
		login := w.platform.Credentials()
		c, err := client.New(context.Background(), client.Settings{URL: server.URL, User: login.User, Password: login.Password,
			ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{})
		if err != nil {
			t.Fatal(err)
		}
		w.links = []client.Link{client.At(client.PlaceObserve, throughGo(t, c))}
		w.lua(t, code)
	})
}
