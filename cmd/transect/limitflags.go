package main

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/vm"
)

// limitFlags adds the flags that bound what a script uses.
func limitFlags(cmd *cobra.Command, job *runtime.Job) {
	flags := cmd.Flags()
	flags.Var((*byteSize)(&job.Limits.Memory), "max-memory", "end the script when it uses more memory than `SIZE`, such as 512MiB [$TRANSECT_MAX_MEMORY]")
	flags.Var((*instructions)(&job.Limits.Instructions), "max-instructions", "end the script after `N` instructions, such as 1e9 [$TRANSECT_MAX_INSTRUCTIONS]")
}

// completeLimits gives a job the limits the environment says and its flags do not.
func (a *app) completeLimits(flags *pflag.FlagSet, job *runtime.Job) error {
	for name, variable := range map[string]string{"max-memory": "TRANSECT_MAX_MEMORY", "max-instructions": "TRANSECT_MAX_INSTRUCTIONS"} {
		flag := flags.Lookup(name)
		value, _ := a.world.Env(variable)
		if flag == nil || flag.Changed || value == "" {
			continue
		}
		if err := flag.Value.Set(value); err != nil {
			return fault.Of(&fault.ConfigError{}, "%s is %q: %w", variable, value, err)
		}
	}
	if job.Limits.Memory > 0 {
		vm.BoundArrays(job.Limits.Memory)
	}
	return nil
}

// byteSize is a number of bytes, written with or without a unit.
type byteSize int64

func (b *byteSize) Set(text string) error {
	n, err := humanize.ParseBytes(strings.TrimSpace(text))
	if err != nil || n == 0 || n > math.MaxInt64 {
		return errors.New("write a size with its unit, such as 512MiB or 2GB")
	}
	if n < 1<<20 {
		return errors.New("it must be at least 1MiB")
	}
	*b = byteSize(n)
	return nil
}

func (b *byteSize) String() string {
	if *b == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*b))
}

func (b *byteSize) Type() string { return "SIZE" }

// instructions is a count, for which people like to write 1e9.
type instructions int64

func (n *instructions) Set(text string) error {
	count, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), "_", ""), 64)
	if err != nil || count != math.Trunc(count) || count < 1 || count > 1<<53 {
		return errors.New("write a whole number from 1 on, such as 200000 or 1e9")
	}
	*n = instructions(count)
	return nil
}

func (n *instructions) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*n), 10)
}

func (n *instructions) Type() string { return "N" }
