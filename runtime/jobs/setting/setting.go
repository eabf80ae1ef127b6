// Package setting declares the settings of a job, each once. The flags of transect submit and transect
// schedule with their variables and help, the settings that transect schedule edit changes and show prints,
// and the parameters of the Lua module jobs follow from the declaration. A job stores its settings in its
// JSON.
package setting

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/duration"
)

// Settings are the settings of a job, one per field, see Of.
type Settings struct {
	Queue     string        `json:"queue" flag:"queue" kind:"Q" start:"default" lua:"yes" doc:"the queue of the job; workers serve the queues that they name"`
	Key       string        `json:"key,omitempty" flag:"key" kind:"KEY" lua:"yes" doc:"of all jobs with the same KEY run one at a time; the others wait"`
	Priority  int           `json:"priority" flag:"priority" kind:"1-4" start:"2" range:"1 4" lua:"yes" doc:"1 is first, 4 last"`
	Retries   int           `json:"retries" flag:"retries" kind:"N" start:"5" range:"0 1000" lua:"yes" doc:"after a temporary failure (exit code 5) try again up to N times"`
	Timeout   time.Duration `json:"timeout,omitempty" flag:"timeout" env:"TRANSECT_TIMEOUT" kind:"duration" lua:"yes" doc:"limit 'DURATION' of each attempt, such as 90s or 2h; none when left out"`
	OnFailure string        `json:"on_failure,omitempty" flag:"on-failure" env:"TRANSECT_ON_FAILURE" kind:"CMD|URL" check:"action" doc:"when the job fails: run the command CMD on a worker with the last lines as input, or send them to the URL, https: or mailto:; env:NAME is the worker's variable NAME"`
	Late      time.Duration `json:"late,omitempty" flag:"late" kind:"duration" doc:"take the steps of --on-failure also when the job has not started this long after its time"`
	Ping      string        `json:"ping,omitempty" flag:"ping" env:"TRANSECT_PING" kind:"URL" check:"monitor" doc:"notify the monitor at URL of start and end; env:NAME is the worker's variable NAME"`
}

// Defaults returns the settings of a job with none given.
func Defaults() (s Settings) {
	Complete(&s)
	return s
}

// Complete sets the defaults of settings.
func Complete(settings any) {
	for _, d := range Of(settings) {
		if d.Default != "" {
			if err := d.Set(d.Default); err != nil {
				panic(err) // a test parses each
			}
		}
	}
}

// Setting is one setting, with its value in a job.
type Setting struct {
	Name, Env, Kind, Default, Doc string

	Lua         bool
	Least, Most int // limits of numbers
	To          any // pointer to the value
	check       string
}

// List binds the declarations to s.
func (s *Settings) List() []*Setting { return Of(s) }

// Of lists the settings that the fields of a struct declare, and binds them to it:
//
//	flag   name of the flag; the Lua parameter is called the same, with _ for -
//	env    variable of the environment
//	kind   placeholder of the value in help
//	start  default
//	range  least and greatest number
//	check  "choice": one of the kind; "action" or "monitor": a target of notices
//	lua    a job that a script submits can have it
func Of(settings any) []*Setting {
	value := reflect.ValueOf(settings).Elem()
	list := make([]*Setting, value.NumField())
	for i := range list {
		tag := value.Type().Field(i).Tag
		list[i] = &Setting{Name: tag.Get("flag"), Env: tag.Get("env"), Kind: tag.Get("kind"), Default: tag.Get("start"),
			Doc: strings.ReplaceAll(tag.Get("doc"), "'", "`"), Lua: tag.Get("lua") != "", check: tag.Get("check"),
			To: value.Field(i).Addr().Interface()}
		_, _ = fmt.Sscan(tag.Get("range"), &list[i].Least, &list[i].Most) // texts have none
	}
	return list
}

// Secret reports whether values may be secrets, such as targets of notices.
func (d *Setting) Secret() bool { return d.check == "action" || d.check == "monitor" }

// Set parses a value. The target of a notice can be empty, or env:NAME, a variable of the worker that holds
// it, which keeps it out of the database.
func (d *Setting) Set(text string) error {
	switch to := d.To.(type) {
	case *time.Duration:
		if text == "" {
			*to = 0
			return nil
		}
		length, err := duration.Parse(text)
		if err == nil {
			*to = length
		}
		return err
	case *int:
		n, err := strconv.Atoi(text)
		if err != nil || n < d.Least || n > d.Most {
			return fmt.Errorf("write a number from %d to %d", d.Least, d.Most)
		}
		*to = n
	case *string:
		if err := d.checkText(text); err != nil {
			return err
		}
		*to = text
	}
	return nil
}

func (d *Setting) checkText(text string) error {
	name, variable := strings.CutPrefix(text, "env:")
	switch {
	case d.check == "choice":
		if choices := strings.Split(d.Kind, "|"); !slices.Contains(choices, text) {
			last := len(choices) - 1
			return errors.New("it must be " + strings.Join(choices[:last], ", ") + " or " + choices[last])
		}
		return nil
	case d.check == "" || text == "":
		return nil
	case variable && (name == "" || strings.ContainsAny(name, " =/")):
		return errors.New("write env: and the name of a variable, such as env:OPS_HOOK")
	case variable:
		return nil
	case d.check == "monitor":
		return CheckMonitor(text)
	}
	return CheckAction(text)
}

// String returns the value as users write it; "" for none.
func (d *Setting) String() string {
	switch value := d.To.(type) {
	case *time.Duration:
		if *value == 0 {
			return ""
		}
		return duration.Format(value.Seconds())
	case *int:
		return strconv.Itoa(*value)
	case *string:
		return *value
	}
	panic("a setting is a text, a whole number or a duration")
}

// CheckMonitor accepts a URL. Errors do not repeat it: it is a secret.
func CheckMonitor(text string) error {
	if !IsWebURL(text) {
		return errors.New("write the URL of the check, such as https://hc-ping.com/…")
	}
	return nil
}

// CheckAction accepts a command or a URL.
func CheckAction(text string) error {
	if strings.TrimSpace(text) == "" {
		return errors.New("write a command, or an https or mailto URL")
	}
	if scheme, _, _ := strings.Cut(text, "://"); (scheme == "http" || scheme == "https") && !IsWebURL(text) {
		return errors.New("it is not a web URL")
	}
	return nil
}

// IsWebURL reports whether a text is an http or https URL with a host.
func IsWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
