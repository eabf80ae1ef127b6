package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"transect/client/calendar"
	"transect/client/fault"
	"transect/runtime/jobs/setting"
)

// option declares a flag and the environment variable for its value.
type option struct {
	name     string
	short    string // of one letter; optional
	env      string // "" for none
	kind     string // placeholder of the value in help; bool for a switch
	doc      string
	value    string // default, for help
	empty    string // value of the flag without one; "" when it requires one
	list     bool   // the variable is a list of folders
	hidden   bool   // not in help
	resolved bool   // the variable is read by package runtime
	where    where  // of an option of a run
	parse    func(string) error
}

// optionValue is the pflag.Value of an option.
type optionValue struct {
	option
	given []string // all values, in order
}

func (v *optionValue) String() string { return v.value }
func (v *optionValue) Type() string   { return v.kind }

func (v *optionValue) Set(text string) error {
	if err := v.parse(text); err != nil {
		return err
	}
	v.value, v.given = text, append(v.given, text)
	return nil
}

func addOptions(flags *pflag.FlagSet, options ...option) {
	for _, o := range options {
		if o.kind == "bool" && o.empty == "" {
			o.empty = "true"
		}
		doc := o.doc
		if o.env != "" {
			doc += " [$" + o.env + "]"
		}
		f := flags.VarPF(&optionValue{option: o}, o.name, o.short, doc)
		f.NoOptDefVal, f.Hidden = o.empty, o.hidden
	}
}

// applyEnvironment sets the flags that were not given from their variables.
func (a *app) applyEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		v, ok := f.Value.(*optionValue)
		if !ok || v.env == "" || v.resolved || f.Changed || err != nil {
			return
		}
		text := a.process.Getenv(v.env)
		if text == "" {
			return
		}
		values := []string{text}
		if v.list {
			values = filepath.SplitList(text)
		}
		for _, value := range values {
			failed := v.Set(value)
			if f := fault.Find(failed); f != nil {
				err = fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %w", v.env, failed), "%s", f.Facts().Hint)
			} else if failed != nil {
				err = fault.Of(&fault.ConfigError{}, "%s is %q: %w", v.env, text, failed)
			}
		}
	})
	return err
}

// The functions below make the parse function of an option with a given
// destination.

func toString(to *string) func(string) error {
	return func(text string) error { *to = text; return nil }
}

func toBool(to *bool) func(string) error {
	return func(text string) (err error) { *to, err = strconv.ParseBool(text); return err }
}

func toDuration(to *time.Duration) func(string) error {
	return func(text string) error {
		d, err := calendar.Duration(text)
		if err == nil {
			*to = d
		}
		return err
	}
}

func toNumber(to *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("write a number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

func toCount(to *int) func(string) error { return toNumber(to, 0, 1000) }

// toInstructions accepts 1e9 and 1_000_000.
func toInstructions(to *int64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 64)
		if err != nil || n != math.Trunc(n) || n < 1 || n > 1<<53 {
			return errors.New("write a positive whole number, such as 200000 or 1e9")
		}
		*to = int64(n)
		return nil
	}
}

func toSize(to *int64) func(string) error {
	return func(text string) error {
		n, err := humanize.ParseBytes(strings.TrimSpace(text))
		if err != nil || n == 0 || n > math.MaxInt64 {
			return errors.New("write a size with its unit, such as 512MiB or 2GB")
		}
		if n < 1<<20 {
			return errors.New("it must be at least 1MiB")
		}
		*to = int64(n)
		return nil
	}
}

// toLockPolicy accepts skip or wait=DURATION.
func toLockPolicy(wait *time.Duration) func(string) error {
	return func(text string) error {
		if text == "skip" {
			*wait = 0
			return nil
		}
		if length, ok := strings.CutPrefix(text, "wait="); ok {
			if d, err := calendar.Duration(length); err == nil && d > 0 {
				*wait = d
				return nil
			}
		}
		return errors.New("write skip, or wait=DURATION such as wait=10m")
	}
}

// checked returns a parser that accepts what check does.
func checked(to *string, check func(string) error) func(string) error {
	return func(text string) error {
		if err := check(text); err != nil {
			return err
		}
		*to = text
		return nil
	}
}

// toTiles accepts the template of a tile's URL.
func toTiles(to *string) func(string) error {
	return func(text string) error {
		if !setting.IsWebURL(text) || !strings.Contains(text, "{z}") || !strings.Contains(text, "{x}") ||
			!strings.Contains(text, "{y}") {
			return errors.New("write a web URL with {z}, {x} and {y}, such as https://tile.example.com/{z}/{x}/{y}.png")
		}
		*to = text
		return nil
	}
}

// toLogFormat accepts text or json.
func toLogFormat(json *bool) func(string) error {
	return func(text string) error {
		if text != "text" && text != "json" {
			return errors.New("it must be text or json")
		}
		*json = text == "json"
		return nil
	}
}
