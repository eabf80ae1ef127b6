package client

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"transect/client/declare"
	"transect/client/schema"
	"transect/client/transfer"
)

func TestDeclarationsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range Declarations() {
		for _, s := range m.Ops() {
			if seen[s.FullName()] {
				t.Errorf("%s is declared twice", s.FullName())
			}
			seen[s.FullName()] = true
		}
	}
	t.Logf("%d operations", len(seen))
}

// A tag that no rule knows, such as a misspelt one, would go unnoticed.
func TestDeclarationsHaveKnownTags(t *testing.T) {
	for _, manager := range reflect.VisibleFields(reflect.TypeFor[Client]()) {
		if _, ok := manager.Tag.Lookup("manager"); !ok {
			continue
		}
		for _, op := range reflect.VisibleFields(manager.Type) {
			knownTags(t, op, declare.Tags)
			call := op.Type
			if call.Kind() == reflect.Struct {
				call = call.Field(0).Type // Search: the operation and its generator take the same
			}
			for _, argument := range reflect.VisibleFields(call.In(1)) {
				if !argument.Anonymous && argument.Name != "Extra" {
					knownTags(t, argument, schema.Tags)
				}
			}
		}
	}
}

var (
	tagKey   = regexp.MustCompile(`(\w+):"`)
	tagValue = regexp.MustCompile(`"(\\.|[^"\\])*"`)
)

func knownTags(t *testing.T, field reflect.StructField, known []string) {
	bare := tagValue.ReplaceAllString(string(field.Tag), `""`)
	for _, m := range tagKey.FindAllStringSubmatch(bare, -1) {
		if !slices.Contains(known, m[1]) {
			t.Errorf("%s: unknown tag %s", field.Name, m[1])
		}
	}
}

func BenchmarkDeclarations(b *testing.B) {
	for b.Loop() {
		Declarations()
	}
}

func TestUploadersOfTheSwitch(t *testing.T) {
	for value, want := range map[string]transfer.UploadMode{"yes": transfer.ThroughPlatform, "TRUE": transfer.ThroughPlatform, "1": transfer.ThroughPlatform,
		"no": transfer.ToStorage, "": transfer.ToStorage} {
		env := func(name string) (string, bool) { return value, name == "USE_LEGACY_UPLOADER" }
		if got := uploadMode(env); got != want {
			t.Errorf("USE_LEGACY_UPLOADER=%s: %v", value, got)
		}
	}
}
