package setting_test

import (
	"encoding/json"
	"testing"
	"time"

	"transect/runtime/jobs/setting"
)

func TestDefaults(t *testing.T) {
	want := setting.Settings{Queue: "default", Priority: 2, Retries: 5}
	if got := setting.Defaults(); got != want {
		t.Errorf("%+v", got)
	}
}

// What a user writes is read, printed and carried in the JSON of a job alike.
func TestEachSettingIsReadAndCarried(t *testing.T) {
	values := map[string]string{"queue": "gpu", "key": "k", "priority": "1", "retries": "0", "timeout": "1h30m", "on-failure": "env:OPS", "late": "2m", "ping": "https://hc.example.com/x"}
	var s, carried setting.Settings
	for _, d := range s.List() {
		value := values[d.Name]
		if err := d.Set(value); err != nil || d.String() != value || d.Doc == "" || d.Kind == "" {
			t.Errorf("%s: %q became %q, %v", d.Name, value, d.String(), err)
		}
	}
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &carried)
	}
	if err != nil || carried != s || len(s.List()) != len(values) {
		t.Errorf("%s: %v", text, err)
	}
}

// A setting is its field alone.
func TestOneFieldDeclaresASetting(t *testing.T) {
	var added struct {
		Patience time.Duration `flag:"patience" env:"TRANSECT_PATIENCE" kind:"duration" start:"5m" doc:"wait for 'DURATION'"`
		Mode     string        `flag:"mode" kind:"a|b|c" check:"choice" doc:"one of them"`
	}
	setting.Complete(&added)
	list := setting.Of(&added)
	if added.Patience != 5*time.Minute || list[0].String() != "5m" || list[0].Doc != "wait for `DURATION`" || list[0].Env != "TRANSECT_PATIENCE" {
		t.Errorf("%+v, %+v", added, list[0])
	}
	if err := list[1].Set("d"); err == nil || err.Error() != "it must be a, b or c" {
		t.Error(err)
	}
}

func TestWrongValues(t *testing.T) {
	var s setting.Settings
	wrong := map[string]string{"priority": "5", "retries": "-1", "timeout": "soon", "on-failure": "env:", "ping": "mailto:x"}
	for _, d := range s.List() {
		if value, ok := wrong[d.Name]; ok && d.Set(value) == nil {
			t.Errorf("%s accepts %q", d.Name, value)
		}
	}
	if s != (setting.Settings{}) {
		t.Errorf("%+v", s)
	}
}
