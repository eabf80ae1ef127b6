package main

import (
	"github.com/spf13/pflag"

	"transect/runtime"
)

// transferFlags adds the flags that say how bytes travel.
func transferFlags(flags *pflag.FlagSet, t *runtime.Transfers) {
	for _, o := range t.Options() {
		flags.Var(text{o.Text, o.Value}, o.Flag, o.Doc+" [$"+o.Env+"]")
	}
}
