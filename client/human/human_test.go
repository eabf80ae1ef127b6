package human_test

import (
	"testing"
	"time"

	"transect/client/human"
	"transect/client/human/tabular"
)

func TestQuantities(t *testing.T) {
	for got, want := range map[string]string{
		human.Size(0):                                "0 B",
		human.Size(1536):                             "1.5 kB",
		human.Size(82e6):                             "82 MB",
		human.Size(-1):                               "0 B",
		human.Limit(16 << 20):                        "16 MiB",
		human.Limit(3 << 19):                         "1.5 MiB",
		human.Number(1048576):                        "1,048,576",
		human.Count(1, "dataset"):                    "1 dataset",
		human.Count(1200, "dataset"):                 "1,200 datasets",
		human.Count(int64(2), "retry"):               "2 retries",
		human.Count(0, "file"):                       "0 files",
		human.Count(2, "photo"):                      "2 photos",
		human.Duration(0):                            "0s",
		human.Duration(time.Microsecond):             "1ms",
		human.Duration(250 * time.Millisecond):       "250ms",
		human.Duration(999_700 * time.Microsecond):   "1s",
		human.Duration(1500 * time.Millisecond):      "1.5s",
		human.Duration(9990 * time.Millisecond):      "10s",
		human.Duration(59_700 * time.Millisecond):    "1m",
		human.Duration(75 * time.Second):             "1m15s",
		human.Duration(time.Hour - time.Millisecond): "1h",
		human.Duration(90 * time.Minute):             "1h30m",
		human.Duration(24 * time.Hour):               "24h",
		human.Duration(48*time.Hour - time.Second):   "2d",
		human.Duration(75 * time.Hour):               "3d3h",
		human.Duration(-90 * time.Second):            "-1m30s",
		human.Ago(0):                                 "just now",
		human.Ago(42*time.Second + time.Millisecond): "42s ago",
		human.Ago(90 * time.Minute):                  "1h ago",
		human.Ago(47 * time.Hour):                    "47h ago",
		human.Ago(13*24*time.Hour + 23*time.Hour):    "13d ago",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestTable(t *testing.T) {
	got := tabular.Table(tabular.Row{"name", "files", "state"}, []tabular.Row{{"Zürich", 7, "done"}, {"北", 1200, ""}, {"two\nlines", nil, "x"}})
	want := "name       files  state\nZürich         7  done\n北          1200\ntwo lines         x"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := tabular.Table(nil, []tabular.Row{{"a", "b"}, {"ccc", "d"}}); got != "a    b\nccc  d" {
		t.Errorf("got\n%s", got)
	}
	if got := tabular.Align([][]string{{"longer", "gone", "b"}}, []int{4, 0, 1}, nil); got[0] != "lon…  b" {
		t.Errorf("got %q", got[0])
	}
}
