package cli

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

	"transect/client/duration"
	"transect/client/fault"
)

// Option declares a flag and the environment variable for its value.
type Option struct {
	Name     string
	Short    string // of one letter; optional
	Env      string // "" for none
	Kind     string // placeholder of the value in help; bool for a switch
	Doc      string
	Value    string // default, for help
	Empty    string // Value of the flag without one; "" when it requires one
	List     bool   // the variable is a list of folders
	Hidden   bool   // not in help
	Resolved bool   // the variable is read by package runtime
	Where    Where  // of an option of a run
	Parse    func(string) error
}

// OptionValue is the pflag.Value of an option.
type OptionValue struct {
	Option
	given []string // all values, in order
}

// String returns the value, as written.
func (v *OptionValue) String() string { return v.Value }

// Type returns the placeholder of the value in help.
func (v *OptionValue) Type() string { return v.Kind }

// Set parses a value.
func (v *OptionValue) Set(text string) error {
	if err := v.Parse(text); err != nil {
		return err
	}
	v.Value, v.given = text, append(v.given, text)
	return nil
}

// AddOptions adds options to the flags of a command.
func AddOptions(flags *pflag.FlagSet, options ...Option) {
	for _, o := range options {
		if o.Kind == "bool" && o.Empty == "" {
			o.Empty = "true"
		}
		doc := o.Doc
		if o.Env != "" {
			doc += " [$" + o.Env + "]"
		}
		f := flags.VarPF(&OptionValue{Option: o}, o.Name, o.Short, doc)
		f.NoOptDefVal, f.Hidden = o.Empty, o.Hidden
	}
}

// ApplyEnvironment sets the flags that were not given from their variables.
func (a *App) ApplyEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		v, ok := f.Value.(*OptionValue)
		if !ok || v.Env == "" || v.Resolved || f.Changed || err != nil {
			return
		}
		text := a.Process.Getenv(v.Env)
		if text == "" {
			return
		}
		values := []string{text}
		if v.List {
			values = filepath.SplitList(text)
		}
		for _, value := range values {
			failed := v.Set(value)
			if f := fault.Find(failed); f != nil {
				err = fault.Hinted(fault.Of(&fault.ConfigError{}, "%s: %w", v.Env, failed), "%s", f.Facts().Hint)
			} else if failed != nil {
				err = fault.Of(&fault.ConfigError{}, "%s is %q: %w", v.Env, text, failed)
			}
		}
	})
	return err
}

// The functions below make the parse function of an option with a given destination.

// ToString accepts any text.
func ToString(to *string) func(string) error {
	return func(text string) error { *to = text; return nil }
}

func toBool(to *bool) func(string) error {
	return func(text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("write true or false%.0w", err)
		}
		*to = on
		return nil
	}
}

// ToDuration accepts a length of time, such as 90s or 2h.
func ToDuration(to *time.Duration) func(string) error {
	return func(text string) error {
		d, err := duration.Parse(text)
		if err == nil {
			*to = d
		}
		return err
	}
}

// ToNumber accepts a whole number from least to most.
func ToNumber(to *int, least, most int) func(string) error {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < least || n > most {
			return fmt.Errorf("write a number from %d to %d", least, most)
		}
		*to = n
		return nil
	}
}

// ToCount accepts a number from 0 to 1000.
func ToCount(to *int) func(string) error { return ToNumber(to, 0, 1000) }

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
			if d, err := duration.Parse(length); err == nil && d > 0 {
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
