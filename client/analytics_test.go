package client

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
	"transect/client/schema"
)

const analyticsPath = "POST /analytics-service/"

func TestAnalyticsOnTheWire(t *testing.T) {
	image := object{"name": "n", "version": "1.0.0", "docker_image": "registry/i", "docker_credentials_name": "login", "company": "c1"}
	const imageJSON = `"name":"n","version":"1.0.0","company":"c1","algorithm":{"docker_image":"registry/i","docker_credentials_name":"login"}`
	with := func(more object) object {
		all := object{}
		for _, o := range []object{image, more} {
			for k, v := range o {
				all[k] = v
			}
		}
		return all
	}
	testWire(t, []wireCase{
		{call: "analytics.create", args: image, want: one(analyticsPath + `create-analytic {` + imageJSON + `}`)},
		{call: "analytics.create", args: object{"name": "n", "version": "1.0.0", "container_image": "registry/i", "container_credentials_name": "login", "company": "c1"},
			want: one(analyticsPath + `create-analytic {` + imageJSON + `}`)},
		{call: "analytics.create", args: with(object{"display_name": "N", "description": "d", "instance_type": "large", "volume_size": 50, "inputs": list{object{"name": "i"}}, "parameters": list{object{"name": "p"}},
			"credentials": list{object{"name": "k"}}, "deliverables": list{object{"name": "d"}}, "outputs": list{object{"name": "o"}}, "tags": list{"t"}, "groups": list{"g"}, "extra": object{"hidden": true, "name": "other"}}),
			want: one(analyticsPath + `create-analytic {` + imageJSON + `,"display_name":"N","description":"d","instance":{"type":"large","volume":50},"inputs":[{"name":"i"}],"parameters":[{"name":"p"}],
				"credentials":[{"name":"k"}],"deliverables":[{"name":"d"}],"outputs":[{"name":"o"}],"tags":["t"],"groups":["g"],"hidden":true}`)},
		{call: "analytics.create", args: with(object{"display_name": "", "description": "", "instance_type": "", "volume_size": 0, "inputs": schema.Empty{}, "tags": schema.Empty{}, "groups": list{}}),
			want: one(analyticsPath + `create-analytic {` + imageJSON + `}`)},
		{call: "analytics.describe", args: object{"analytic": "a1"}, want: one(analyticsPath + `describe-analytic {"analytic":"a1"}`)},
		{call: "analytics.delete", args: object{"analytic": "a1"}, want: one(analyticsPath + `delete-analytic-permanently {"analytic":"a1"}`)},
		{call: "analytics.delete", args: object{"analytic": list{"a1", "a2"}, "extra": object{"force": true}},
			want: []string{analyticsPath + `delete-analytic-permanently {"analytic":"a1","force":true}`, analyticsPath + `delete-analytic-permanently {"analytic":"a2","force":true}`}},
		{call: "analytics.delete", args: object{"analytic": schema.Empty{}}},
		{call: "analytics.expose", args: object{"analytics": "a", "root_companies": "c1"}, want: one(analyticsPath + `expose-analytics {"expose":[{"root_company":"c1","analytics_names":["a"]}]}`)},
		{call: "analytics.unexpose", args: object{"analytics": list{"a", "b"}, "root_companies": list{"c1", "c2"}},
			want: one(analyticsPath + `unexpose-analytics {"unexpose":[{"root_company":"c1","analytics_names":["a","b"]},{"root_company":"c2","analytics_names":["a","b"]}]}`)},
		{call: "analytics.enable", args: object{"analytics": "a", "companies": list{"c1", "c2"}, "extra": object{"quiet": true}},
			want: one(analyticsPath + `enable-analytics {"enable":[{"company":"c1","analytics_names":["a"]},{"company":"c2","analytics_names":["a"]}],"quiet":true}`)},
		{call: "analytics.disable", args: object{"analytics": list{"a"}, "companies": "c1", "extra": object{"disable": list{}}}, want: one(analyticsPath + `disable-analytics {"disable":[]}`)},
		{call: "analytics.set_container_credentials", args: object{"name": "n", "version": "1.0.0", "company": "c1", "container_credentials_name": "login"},
			want: one(analyticsPath + `set-analytic-docker-credentials {"name":"n","version":"1.0.0","company":"c1","docker_credentials_name":"login"}`)},
		{call: "analytics.set_docker_credentials", args: object{"name": "n", "version": "1.0.0", "company": "c1", "docker_credentials_name": "login", "extra": object{"name": "m"}},
			want: one(analyticsPath + `set-analytic-docker-credentials {"name":"m","version":"1.0.0","company":"c1","docker_credentials_name":"login"}`)},
		{call: "analytics.assign_credentials", args: object{"analytic_name": "n", "analytic_version_range": "1.x", "company": "c1", "credentials": object{"key": "login"}, "extra": object{"company": "c2"}},
			want: one(analyticsPath + `assign-analytic-credentials {"analytic_name":"n","analytic_version_range":"1.x","company":"c2","credentials":{"key":"login"}}`)},
		{call: "analytics.unassign_credentials", args: object{"analytic_name": "n", "analytic_version_range": "1.x", "company": "c1", "credential_names": list{"key"}, "extra": object{"company": "c2"}},
			want: one(analyticsPath + `unassign-analytic-credentials {"analytic_name":"n","analytic_version_range":"1.x","company":"c2","credential_names":["key"]}`)},
		{call: "analytics.share_with_company", args: object{"analytic": "a1", "company": "c1"}},
		{call: "analytics.unshare_with_company", args: object{"analytic": "a1", "company": "c1"}},
		{call: "analytics.search", args: object{"name": "n"}, want: one(analyticsPath + `search-analytics {"filter":{"name":{"$eq":"n"}}}`)},
	})
	testRefused(t, []refusedCase{
		{"analytics.create", with(object{"container_image": "other"}), "ParameterError", "given twice"},
		{"analytics.describe", object{"analytic": list{"a1"}}, "ParameterError", "must be an id"},
		{"analytics.order", object{}, "ParameterError", "analytic or name is missing"},
		{"analytics.order", object{"version": "1.x"}, "ParameterError", "analytic or name is missing"},
		{"analytics.describe_by_name", object{"name": "n", "extra": object{"fields": 1}}, "ParameterError", "takes no extra arguments"},
	})
}

func TestOrdersOnTheWire(t *testing.T) {
	const byID = analyticsPath + `order-analytic `
	testWire(t, []wireCase{
		{call: "analytics.order", args: object{"analytic": "a1"}, want: one(byID + `{"analytic":"a1"}`)},
		{call: "analytics.order", args: object{"analytic": "a1", "inputs": object{"i": "d1"}, "parameters": object{"p": list{}}, "deliverables": list{"a", "b"}, "project": "p1", "mission": "m1", "extra": object{"note": "x", "mission": "m2"}},
			want: one(byID + `{"analytic":"a1","inputs":{"i":"d1"},"parameters":{"p":[]},"deliverables":{"a":null,"b":null},"project":"p1","mission":"m2","note":"x"}`)},
		{call: "analytics.order", args: object{"analytic": "a1", "inputs": schema.Empty{}, "parameters": schema.Empty{}, "deliverables": schema.Empty{}}, want: one(byID + `{"analytic":"a1"}`)},
		{call: "analytics.order", args: object{"analytic": "a1", "deliverables": list{"a"}, "extra": object{"deliverables": object{"b": nil}}}, want: one(byID + `{"analytic":"a1","deliverables":{"b":null}}`)},
		{call: "analytics.order", args: object{"analytic": "a1", "version": "1.x"}, want: one(byID + `{"analytic":"a1"}`)},
	})
	t.Run("by name", func(t *testing.T) {
		versions := `{"results":[{"_id":"a1","version":"1.4.0"},{"_id":"a2","version":"2.0.0"},{"_id":"a3"},{"_id":"a4","version":"1.10.0"}],"total":4}`
		c, r := record(t, map[string]string{analyticsPath + "search-analytics": versions})
		if _, err := invoke(t, c, "analytics.order", object{"analytic": "ignored", "name": "n", "version": "1.x", "project": "p1"}); err != nil {
			t.Fatal(err)
		}
		expect(t, r, listVersions, byID+`{"analytic":"a4","project":"p1"}`)
	})
	t.Run("no such version", func(t *testing.T) {
		c, r := record(t, nil)
		_, err := invoke(t, c, "analytics.order", object{"name": "n", "version": "1.2.3"})
		if f := fault.Find(err); f == nil || f.Name() != "ParameterError" || !strings.Contains(err.Error(), "no analytic n 1.2.3") {
			t.Errorf("the error is %v", err)
		}
		expect(t, r, analyticsPath+`search-analytics {"filter":{"name":{"$eq":"n"},"version":{"$eq":"1.2.3"}},"limit":1}`)
	})
	t.Run("a version without a name is warned about", func(t *testing.T) {
		var log bytes.Buffer
		c, _ := record(t, nil)
		c.log = slog.New(slog.NewTextHandler(&log, nil))
		if _, err := invoke(t, c, "analytics.order", object{"analytic": "a1", "version": "1.x"}); err != nil || !strings.Contains(log.String(), "version is ignored: it applies only with name") {
			t.Errorf("%v, log %q", err, log.String())
		}
	})
}

// listVersions is how all versions of an analytic are asked for.
const listVersions = analyticsPath + `search-analytics {"filter":{"name":{"$eq":"n"}},"limit":50,"page":0,"sort":{"_id":1},"fields":{"include":["_id","name","version"]}}`

// expect compares all requests so far.
func expect(t *testing.T, r *recorded, want ...string) {
	t.Helper()
	got := r.all()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("request %d is missing: %s", i+1, want[i])
		case i >= len(want):
			t.Errorf("request %d is one too many: %s", i+1, got[i])
		case !sameRequest(t, got[i].String(), want[i]):
			t.Errorf("request %d:\n got %s\nwant %s", i+1, got[i], want[i])
		}
	}
}

func TestAnalyticsByName(t *testing.T) {
	const describe = analyticsPath + `describe-analytic `
	exact := func(version string) string {
		return analyticsPath + `search-analytics {"filter":{"name":{"$eq":"n"},"version":{"$eq":"` + version + `"}},"limit":1}`
	}
	versions := `{"results":[{"_id":"a1","version":"1.4.0"},{"_id":"a2","version":"2.0.0-rc.1"},{"_id":"a3"},{"_id":"a4","version":"1.10.0"},{"_id":"a5","version":"0.9.0"},{"_id":"a6","version":"no version"}],"total":6}`
	for _, test := range []struct {
		name, version string // no version when "-"
		results       string
		want          []string
		found         string // "" for nil
	}{
		{"n", "-", versions, []string{listVersions, describe + `{"analytic":"a2"}`}, "a2"}, // prereleases count when no range is given
		{"n", "1.x", versions, []string{listVersions, describe + `{"analytic":"a4"}`}, "a4"},
		{"n", "^1.2 || 0.x", versions, []string{listVersions, describe + `{"analytic":"a4"}`}, "a4"},
		{"n", "", versions, []string{listVersions, describe + `{"analytic":"a4"}`}, "a4"}, // any release
		{"n", ">=2.0.0-alpha", versions, []string{listVersions, describe + `{"analytic":"a2"}`}, "a2"},
		{"n", ">1.10.0", versions, []string{listVersions}, ""},
		{"n", "v1.4.0", versions, []string{listVersions, describe + `{"analytic":"a1"}`}, "a1"}, // a range of one version
		{"n", "2.0.0-rc.1", `{"results":[{"_id":"a2","version":"2.0.0-rc.1"}],"total":1}`, []string{exact("2.0.0-rc.1")}, "a2"},
		{"n", "3.0.0", `{"results":[],"total":0}`, []string{exact("3.0.0")}, ""},
		{"n", "-", `{"results":[],"total":0}`, []string{listVersions}, ""},
		{"n", "not a range", versions, nil, ""},
		{"n", ">=", versions, nil, ""},
		{"n", "1.2.3.4", versions, nil, ""},
		{"", "1.x", versions, nil, ""},
	} {
		t.Run(test.version, func(t *testing.T) {
			c, r := record(t, map[string]string{analyticsPath + "search-analytics": test.results, analyticsPath + "describe-analytic": `{"_id":"` + test.found + `","name":"n"}`})
			args := object{"name": test.name, "version": test.version}
			if test.version == "-" {
				delete(args, "version")
			}
			v, err := invoke(t, c, "analytics.describe_by_name", args)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, r, test.want...)
			if got, _ := v.Go.(Analytic); got.ID != test.found || (v.Shape == declare.ShapeNone) != (test.found == "") {
				t.Errorf("found %q as %s, want %q", got.ID, v.Shape, test.found)
			}
		})
	}
}

// All pages are looked at before a version is chosen.
func TestVersionsOfAllPages(t *testing.T) {
	c, r := record(t, map[string]string{
		analyticsPath + "search-analytics":  `{"results":[{"_id":"a1","version":"1.0.0"}]}` + "\n" + `{"results":[{"_id":"a2","version":"1.1.0"}]}` + "\n" + `{"results":[]}`,
		analyticsPath + "describe-analytic": `{"_id":"a2"}`,
	})
	if a, err := c.Analytics.DescribeByName(t.Context(), AnalyticByName{Name: "n"}); err != nil || a.ID != "a2" {
		t.Error(a, err)
	}
	page := func(n string) string { return strings.Replace(listVersions, `"page":0`, `"page":`+n, 1) }
	expect(t, r, page("0"), page("1"), page("2"), analyticsPath+`describe-analytic {"analytic":"a2"}`)
}
