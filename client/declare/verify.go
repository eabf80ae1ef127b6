package declare

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"transect/client/schema"
)

// Verify finds tags that no rule knows, such as a misspelt one. Binding does
// not look for them: it happens at every start, and a test is enough.
func Verify(client any) error {
	v := reflect.ValueOf(client).Elem()
	for i := 0; i < v.NumField(); i++ {
		manager := v.Type().Field(i)
		if _, ok := manager.Tag.Lookup("manager"); !ok {
			continue
		}
		for j := 0; j < v.Field(i).NumField(); j++ {
			field := manager.Type.Field(j)
			op, ok := v.Field(i).Field(j).Addr().Interface().(operation)
			if !ok {
				return fmt.Errorf("%s.%s is no operation", manager.Name, field.Name)
			}
			if err := knownTags(field.Tag, opTags); err != nil {
				return fmt.Errorf("%s.%s: %w", manager.Name, field.Name, err)
			}
			if err := verifyInput(op.input()); err != nil {
				return fmt.Errorf("%s.%s: %w", manager.Name, field.Name, err)
			}
		}
	}
	return nil
}

func verifyInput(t reflect.Type) error {
	for i := 0; i < t.NumField(); i++ {
		field := t.Field(i)
		if field.Anonymous && field.Type != reflect.TypeFor[schema.Extra]() {
			if err := verifyInput(field.Type); err != nil {
				return err
			}
			continue
		}
		if field.Type == reflect.TypeFor[schema.Extra]() {
			continue
		}
		if err := knownTags(field.Tag, schema.Tags); err != nil {
			return fmt.Errorf("argument %s: %w", field.Name, err)
		}
	}
	return nil
}

var (
	tagKey   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\w+):"`) })
	tagValue = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"(\\.|[^"\\])*"`) })
)

func knownTags(tag reflect.StructTag, known []string) error {
	bare := tagValue().ReplaceAllString(string(tag), `""`)
	for _, m := range tagKey().FindAllStringSubmatch(bare, -1) {
		if !slices.Contains(known, m[1]) {
			return fmt.Errorf("unknown tag %s", m[1])
		}
	}
	return nil
}
