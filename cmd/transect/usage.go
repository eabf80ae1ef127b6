package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/client/suggest"
	"transect/runtime"
	"transect/runtime/vm"
)

// usage makes a usage error of what the command line's parser says; errors of
// what was run stay as they are.
func usage(cmd *cobra.Command, err error) error {
	var exit *vm.Exit
	var interrupted *runtime.Interrupted
	var told *runtime.Told
	if err == nil || errors.As(err, &told) || fault.Find(err) != nil || errors.As(err, &exit) || errors.As(err, &interrupted) {
		return err
	}
	var at *os.PathError
	if errors.As(err, &at) && at.Op == "write" {
		return fault.Hinted(fault.Of(&fault.FileError{}, "cannot print: %w", err),
			"is the disk full that the output goes to, or has the program ended that reads it?")
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%s", err), "%s", helpFor(cmd))
}

func helpFor(cmd *cobra.Command) string { return "see: " + cmd.CommandPath() + " --help" }

// flagError names the flag that was probably meant.
func (a *app) flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var missing *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		return a.unknownFlag(cmd, unknown)
	case errors.As(err, &missing):
		return fault.Hinted(fault.Of(&fault.UsageError{}, "flag --%s wants a value", missing.GetFlag().Name), "%s", helpFor(cmd))
	case errors.As(err, &invalid):
		f := fault.Of(&fault.UsageError{}, "flag --%s: %q is no %s: %v", invalid.GetFlag().Name, invalid.GetValue(),
			invalid.GetFlag().Value.Type(), errors.Unwrap(invalid))
		if invalid.GetFlag().Value.Type() == "duration" {
			return fault.Hinted(f, "write it with its unit, such as 90s, 5m or 1h30m")
		}
		return fault.Hinted(f, "%s", helpFor(cmd))
	}
	return usage(cmd, err)
}

func (a *app) unknownFlag(cmd *cobra.Command, unknown *pflag.NotExistError) error {
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "unknown flag -%s", name), "%s", helpFor(cmd))
	}
	err := fault.Of(&fault.UsageError{}, "unknown flag --%s", name)
	// A flag of a command, written before the command.
	for _, sub := range cmd.Commands() {
		if sub.Flags().Lookup(name) != nil && slices.Contains(a.world.Args, sub.Name()) {
			return fault.Hinted(err, "it belongs behind the command: %s --%s", sub.CommandPath(), name)
		}
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, f.Name)
		}
	})
	if near := suggest.Nearest(name, known); near != "" {
		return fault.Hinted(err, "did you mean --%s?", near)
	}
	return fault.Hinted(err, "%s", helpFor(cmd))
}

// nearestCommand is a hint for a command that does not exist.
func nearestCommand(cmd *cobra.Command, name string) string {
	var known []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() || sub.Name() == "help" {
			known = append(known, sub.Name())
		}
	}
	if near := suggest.Nearest(name, known); near != "" {
		return "did you mean " + cmd.CommandPath() + " " + near + "?"
	}
	return "the commands are " + strings.Join(known, ", ")
}

// wants makes an argument check with a message that says what is missing.
func wants(n int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is missing", what), "%s", helpFor(cmd))
		case len(args) > n:
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is one argument too many: %s", args[n]), "%s", helpFor(cmd))
		}
		return nil
	}
}
