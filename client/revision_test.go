package client

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/client/declare"
	"transect/client/fault"
)

// inRevision gives a client of a revision whose requests are recorded.
func inRevision(t *testing.T, revision int, answers map[string]string) (*Client, *recorded) {
	t.Helper()
	_, r := record(t, answers)
	c, err := New(t.Context(), Settings{URL: r.address, User: "ann", Password: "secret", Revision: revision}, Options{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	return c, r
}

func TestRevisionsOnTheWire(t *testing.T) {
	const (
		credential = "POST /credentials-service/create-credentials "
		analytic   = "POST /analytics-service/create-analytic "
		dataset    = "POST /data-manager/create-dataset "
	)
	login := object{"login": "ann", "password": "x"}
	image := object{"name": "n", "version": "1.0.0", "container_image": "registry/i", "company": "c1"}
	complete := `[{"_id":"d1","type":"raster","company":"c1","ingestion":{"status":"completed"}}]`
	for _, test := range []struct {
		revision int
		wireCase
	}{
		{2, wireCase{call: "credentials.create", args: object{"name": "n", "credentials": login, "credentials_type": "docker"},
			want: one(credential + `{"name":"n","type":"docker","credentials":{"login":"ann","password":"x"}}`)}},
		{3, wireCase{call: "credentials.create", args: object{"name": "n", "company": "c1", "credentials": login},
			want: one(credential + `{"name":"n","company":"c1","credentials":{"login":"ann","password":"x"}}`)}},
		{2, wireCase{call: "analytics.create", args: image, want: one(analytic + `{"name":"n","version":"1.0.0","company":"c1","algorithm":{"docker_image":"registry/i"}}`)}},
		{3, wireCase{call: "analytics.create", args: image, want: one(analytic + `{"name":"n","version":"1.0.0","company":"c1","algorithm":{"docker_image":"registry/i"}}`)}},
		{2, wireCase{call: "datasets.create_image_dataset", args: object{"name": "n", "company": "c1", "parse_metadata": true},
			want: one(dataset + `{"name":"n","company":"c1","type":"image","components":[{"name":"image"}],"ingestion":{"parameters":{"parse_metadata":true}}}`)}},
		{3, wireCase{call: "datasets.create_image_dataset", args: object{"name": "n", "project": "p1"},
			want: one(dataset + `{"name":"n","project":"p1","type":"image","components":[{"name":"image"}]}`)}},
		{3, wireCase{call: "datasets.share_tiles", answer: complete, args: object{"dataset": "d1", "company": "c2", "duration": 60},
			want: []string{`POST /data-manager/describe-datasets {"datasets":["d1"]}`,
				`POST /dxauth/create-share-token {"scope":{"datasets":["d1"]},"company":"c2","duration":60}`}}},
		{3, wireCase{call: "datasets.share_tiles", answer: complete, args: object{"dataset": "d1"},
			want: []string{`POST /data-manager/describe-datasets {"datasets":["d1"]}`,
				`POST /dxauth/create-share-token {"scope":{"datasets":["d1"]},"company":"c1"}`}}},
		{3, wireCase{call: "annotations.search", want: one(annotationsPath + `search-annotations {"filter":{}}`)}},
		{1, wireCase{call: "annotations.search_generator", want: one(annotationsPath + `search-annotations {"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`)}},
		{2, wireCase{call: "annotations.search_generator", want: one(annotationsPath + `search-annotations {"filter":{},"limit":50,"page":1,"sort":{"_id":1}}`)}},
		{3, wireCase{call: "annotations.search_generator", want: one(annotationsPath + `search-annotations {"filter":{},"limit":50,"page":0,"sort":{"_id":1}}`)}},
	} {
		answers := map[string]string{"POST /dxauth/create-share-token": `{"_id":"t1","token":"t"}`}
		if test.answer != "" {
			answers[""] = test.answer
		}
		c, r := inRevision(t, test.revision, answers)
		v, err := invoke(t, c, test.call, test.args)
		if err == nil && v.Stream != nil {
			_, _, err = v.Stream.Next(t.Context())
		}
		if err != nil {
			t.Errorf("revision %d: %s: %v", test.revision, test.call, err)
			continue
		}
		got := r.all()
		if !slices.EqualFunc(got, test.want, func(s sent, want string) bool { return sameRequest(t, s.String(), want) }) {
			t.Errorf("revision %d: %s sent %v, want %v", test.revision, test.call, got, test.want)
		}
	}
}

func TestRevisionsRefuse(t *testing.T) {
	create := object{"name": "n", "version": "1.0.0", "container_image": "i", "company": "c1"}
	with := func(more object) object {
		all := object{}
		for _, o := range []object{create, more} {
			for k, v := range o {
				all[k] = v
			}
		}
		return all
	}
	for _, test := range []struct {
		revisions  []int
		call, text string
		args       object
	}{
		{in(1), "analytics.create", "container_credentials_name is missing", create},
		{in(2, 3), "analytics.create", "argument container_credentials_name does not exist in this revision", with(object{"container_credentials_name": "x"})},
		{in(2, 3), "analytics.create", "argument credentials does not exist in this revision", with(object{"credentials": list{}})},
		{in(1, 3), "credentials.create", "argument credentials_type does not exist in this revision", object{"name": "n", "company": "c1", "credentials": object{}, "credentials_type": "docker"}},
		{in(2), "credentials.create", "argument company does not exist in this revision", object{"name": "n", "company": "c1", "credentials": object{}, "credentials_type": "docker"}},
		{in(2), "credentials.create", "credentials_type is missing", object{"name": "n", "credentials": object{}}},
		{in(2), "credentials.create", "must be one of docker, object-storage, stac-catalog", object{"name": "n", "credentials": object{}, "credentials_type": "ftp"}},
		{in(1, 2), "datasets.create_pcl_dataset", "company or project is missing", object{"name": "n"}},
		{in(3), "datasets.create_pcl_dataset", "argument project is missing", object{"name": "n"}},
		{in(3), "datasets.create_file_dataset", "argument company does not exist in this revision", object{"name": "n", "company": "c1", "project": "p1"}},
		{in(3), "datasets.create_image_dataset", "argument parse_metadata does not exist in this revision", object{"name": "n", "project": "p1", "parse_metadata": true}},
		{in(1, 2), "datasets.share_tiles", "argument company does not exist in this revision", object{"dataset": "d1", "company": "c1"}},
		{in(1, 2), "datasets.share_tiles", "takes no extra arguments", object{"dataset": "d1", "extra": object{"company": "c1"}}},
		{in(3), "datasets.share_tiles", "one dataset at a time", object{"dataset": list{"d1", "d2"}}},
		{in(3), "datasets.download_preview", "argument kind does not exist in this revision", object{"dataset": "d1", "kind": "tiny"}},
	} {
		for _, revision := range test.revisions {
			c, r := inRevision(t, revision, nil)
			_, err := invoke(t, c, test.call, test.args)
			if f := fault.Find(err); f == nil || f.Name() != "ParameterError" && f.Name() != "ValueError" || !strings.Contains(err.Error(), test.text) || len(r.all()) > 0 {
				t.Errorf("revision %d: %s: %v, want %q; requests %v", revision, test.call, err, test.text, r.all())
			}
		}
	}
}

// Documentation, and clients that ask for no revision, have the newest one.
func TestNewestRevisionIsTheDefault(t *testing.T) {
	arguments := func(managers []*declare.Manager) (all []string) {
		for _, m := range managers {
			for _, s := range m.Ops() {
				all = append(all, s.Signature())
			}
		}
		return all
	}
	c, _ := inRevision(t, 0, nil)
	newest, _ := inRevision(t, 1, nil)
	if want := arguments(newest.Managers()); !slices.Equal(arguments(c.Managers()), want) || !slices.Equal(arguments(Declarations()), want) {
		t.Error("the default is not revision 1")
	}
	for _, revision := range []int{-1, 4} {
		err := Settings{URL: "http://x", AccessToken: "t", Revision: revision}.complete()
		if f := fault.Find(err); f == nil || f.Name() != "ConfigError" {
			t.Errorf("revision %d: %v", revision, err)
		}
	}
}

// Each adjustment finds what it is about.
func TestAdjustmentsApply(t *testing.T) {
	for _, a := range adjustments {
		for _, pattern := range a.operations {
			found := false
			for _, revision := range a.revisions {
				c, _ := inRevision(t, revision, nil)
				manager, name, _ := strings.Cut(pattern, ".")
				for _, s := range c.Manager(manager).Ops() {
					ok, err := filepath.Match(name, s.Name)
					found = found || ok && err == nil
				}
			}
			if !found {
				t.Errorf("no operation %s", pattern)
			}
		}
	}
}

func TestConfigurationOfOlderRevisions(t *testing.T) {
	for text, want := range map[string]Settings{
		`{"url":"u","client_id":"i","secret":"s","scope":"all","revision":3}`:                                       {ClientSecret: "s", Scope: "all", Revision: 3},
		`{"url":"u","client_id":"i","secret":"s","client_secret":"t"}`:                                              {ClientSecret: "t"},
		`{"url":"u","client_id":"i","revision":2,"profiles":{"old":{"secret":"s","scope":"all","revision":3}}}#old`: {ClientSecret: "s", Scope: "all", Revision: 3},
	} {
		text, profile, _ := strings.Cut(text, "#")
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := Settings{ConfigPath: path, Profile: profile}.Resolve()
		if err != nil || got.ClientSecret != want.ClientSecret || got.Scope != want.Scope || got.Revision != want.Revision || got.URL != "u" {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
		if got, err := (Settings{ConfigPath: path, Profile: profile, Revision: 1}).Resolve(); err != nil || got.Revision != 1 {
			t.Errorf("%s: the revision given is not used: %+v, %v", text, got, err)
		}
	}
}
