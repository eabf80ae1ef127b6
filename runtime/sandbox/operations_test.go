package sandbox_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"transect/client"
	"transect/client/declare"
	"transect/client/fault"
	"transect/runtime/sandbox"
)

var operations = func() (all []*declare.Spec) {
	for _, m := range client.Declarations() {
		all = append(all, m.Ops()...)
	}
	return all
}()

func operation(name string) *declare.Spec {
	return operations[slices.IndexFunc(operations, func(s *declare.Spec) bool { return s.FullName() == name })]
}

// called reports whether a policy lets a call pass to where requests are sent.
func called(p *sandbox.Policy, s *declare.Spec) (passed bool, err error) {
	_, err = p.Intercept(context.Background(), &declare.Call{Spec: s},
		func(context.Context, *declare.Call) (declare.Value, error) {
			passed = true
			return declare.Value{}, nil
		})
	return passed, err
}

func operationPolicy(t testing.TB, allow, deny string) *sandbox.Policy {
	prefixed := func(rules string) string {
		if rules == "" {
			return ""
		}
		return "ops=" + rules
	}
	return sandbox.NewPolicy(rules(t, prefixed(allow), prefixed(deny), as), "", false)
}

// What users write, and the operations that it must stop or let pass.
func TestRulesOfOperations(t *testing.T) {
	for _, c := range []struct{ allow, deny, passes, refused string }{
		{deny: "projects.search", passes: "projects.describe projects.create missions.search", refused: "projects.search projects.search_generator"},
		{deny: "projects.search_generator", passes: "projects.describe", refused: "projects.search projects.search_generator"},
		{deny: "tags.search", refused: "tags.search tags.search_generator"},
		{deny: "sensor_models.search", refused: "sensors_models.search sensors_models.search_generator"}, // an alias
		{deny: "features.search_generator", passes: "collections.describe", refused: "features.search collections.export"},
		{deny: "flights.search", passes: "flights.describe", refused: "flights.describe_uploads_status flights.search_generator"},
		{deny: "*.delete", passes: "datasets.rename datasets.restore", refused: "projects.delete datasets.delete_properties features.delete_feature_properties " +
			"features.delete_features_properties features.remove_attachments annotations.remove_attachments datasets.remove_categories " +
			"share_tokens.revoke analytics.unassign_credentials analytics.unexpose analytics.disable analytic_configurations.unassign_from_company"},
		{deny: "share_tokens.delete", passes: "share_tokens.create", refused: "share_tokens.revoke"},
		{deny: "datasets.delete", passes: "annotations.delete", refused: "datasets.delete missions.delete projects.delete"},
		{deny: "features.delete_feature_properties", passes: "features.delete features.update_feature_properties", refused: "features.delete_features_properties"},
		{deny: "datasets.create_mesh_dataset", passes: "datasets.search", refused: "datasets.create_datasets datasets.create_file_dataset"},
		{deny: "projects.describe", passes: "projects.create missions.describe", refused: "projects.search projects.search_generator projects.compute_bbox"},
		{deny: "flights.update_bbox", passes: "flights.update_name", refused: "flights.update_bbox flights.update_geodata"},
		{deny: "products.create", passes: "products.cancel analytics.create", refused: "analytics.order"},
		{deny: "datasets.change", refused: "datasets.rename datasets.delete_properties datasets.upload_file"},
		{deny: "share_tokens.*", refused: "share_tokens.create datasets.share_tiles"},
		{deny: "analytics.set_docker_credentials", refused: "analytics.set_container_credentials"},
		{allow: "*.search", passes: "projects.search projects.search_generator tags.search_generator", refused: "projects.describe projects.create collections.export"},
		{allow: "projects.search_generator", passes: "projects.search projects.search_generator", refused: "missions.search projects.describe"},
		{allow: "*.read", passes: "projects.search_generator projects.describe datasets.download_component products.follow_logs", refused: "projects.create datasets.share_tiles datasets.upload_file products.cancel"},
		{allow: "datasets.create_mesh_dataset", passes: "datasets.create_mesh_dataset", refused: "datasets.create_datasets datasets.create_file_dataset"},
		{allow: "datasets.create", passes: "datasets.create_mesh_dataset datasets.create_datasets", refused: "datasets.share_tiles missions.create_archive datasets.rename"},
		{allow: "products.*", passes: "products.cancel products.search", refused: "analytics.order"},
		{allow: "projects.delete", passes: "projects.delete", refused: "datasets.delete missions.delete"},
		{allow: "*.change", passes: "datasets.rename", refused: "datasets.delete_properties datasets.delete"},
		{allow: "*.delete", passes: "datasets.delete_properties share_tokens.revoke", refused: "datasets.rename"},
		{allow: "datasets.*", deny: "*.delete", passes: "datasets.search_generator datasets.rename", refused: "datasets.delete datasets.remove_categories projects.search"},
	} {
		p := operationPolicy(t, c.allow, c.deny)
		for _, s := range operations {
			passed, err := called(p, s)
			name := s.FullName()
			if slices.Contains(strings.Fields(c.passes), name) && !passed || slices.Contains(strings.Fields(c.refused), name) && passed {
				t.Errorf("allow %q, deny %q: %s passes: %t", c.allow, c.deny, name, passed)
			}
			if f := fault.Find(err); passed != (err == nil) || err != nil && (f.Name() != "PermissionError" || f.Facts().Hint == "") {
				t.Errorf("%s: %v does not say what to do", name, err)
			}
		}
	}
}

// A rule about each verb of each kind of record, and each name of an operation,
// stops and lets pass the operations that say so.
func TestRulesCoverWhatTheDeclarationsSay(t *testing.T) {
	var names []string
	allowed, denied := map[string][]*declare.Spec{}, map[string][]*declare.Spec{}
	for _, s := range operations {
		for _, name := range s.AllowedBy() {
			allowed[name] = append(allowed[name], s)
		}
		for _, name := range s.DeniedBy() {
			denied[name] = append(denied[name], s)
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		denying, allowing := operationPolicy(t, "", name), operationPolicy(t, name, "")
		for _, s := range operations {
			if passed, _ := called(denying, s); passed == slices.Contains(denied[name], s) {
				t.Errorf("deny %s: %s passes: %t", name, s.FullName(), passed)
			}
			if passed, _ := called(allowing, s); passed != slices.Contains(allowed[name], s) {
				t.Errorf("allow %s: %s passes: %t", name, s.FullName(), passed)
			}
		}
	}
}

// The same holds for the policy of a worker and for the steps of an operation.
func TestRulesOfWorkersAndSteps(t *testing.T) {
	worker := operationPolicy(t, "", "")
	worker.Within(sandbox.Rules{Deny: sandbox.List{sandbox.Op: {"projects.search"}}, Allow: sandbox.List{sandbox.Op: {"*.read", "*.delete"}}})
	outer, denying := operation("products.wait"), operationPolicy(t, "", "*.delete")
	for name, want := range map[string]bool{"projects.search_generator": false, "missions.search_generator": true, "share_tokens.revoke": true, "projects.create": false} {
		if passed, _ := called(worker, operation(name)); passed != want {
			t.Errorf("within a worker: %s passes: %t", name, passed)
		}
	}
	for name, want := range map[string]bool{"share_tokens.revoke": false, "share_tokens.create": true} {
		_, err := denying.Intercept(t.Context(), &declare.Call{Spec: outer}, func(ctx context.Context, _ *declare.Call) (declare.Value, error) {
			return denying.Intercept(ctx, &declare.Call{Spec: operation(name)}, func(context.Context, *declare.Call) (declare.Value, error) {
				return declare.Value{}, nil
			})
		})
		if (err == nil) != want {
			t.Errorf("as a step: %s: %v", name, err)
		}
	}
}

// Whatever a pattern stops or lets pass by the name of an operation alone, it still does.
func TestPatternsMatchTheNamesOfOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := operations[rapid.IntRange(0, len(operations)-1).Draw(t, "operation")]
		pattern := s.FullName()
		if from := rapid.IntRange(0, len(pattern)).Draw(t, "from"); rapid.Bool().Draw(t, "star") {
			pattern = pattern[:from] + "*" + pattern[rapid.IntRange(from, len(pattern)).Draw(t, "to"):]
		}
		list := sandbox.List{sandbox.Op: {pattern}}
		if passed, _ := called(sandbox.NewPolicy(sandbox.Rules{Deny: list}, "", false), s); passed {
			t.Fatalf("deny %s: %s passes", pattern, s.FullName())
		}
		if passed, _ := called(sandbox.NewPolicy(sandbox.Rules{Allow: list}, "", false), s); !passed {
			t.Fatalf("allow %s: %s is refused", pattern, s.FullName())
		}
	})
}
