package cli

import (
	"reflect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// JSONFlag declares --json of a command that prints values of T: one, or one per line.
func JSONFlag[T any](cmd *cobra.Command, to *bool, doc string) {
	cmd.Flags().BoolVar(to, "json", false, doc)
	flag := cmd.Flags().Lookup("json")
	flag.Value = printing{flag.Value, reflect.TypeFor[T]()}
}

// printing is a flag that knows what the command prints with it.
type printing struct {
	pflag.Value
	prints reflect.Type
}

// Prints returns the type, of which the schemas of docs/reference/schemas are made.
func (p printing) Prints() reflect.Type { return p.prints }
