package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"transect/client/fault"
	"transect/client/ledger"
	"transect/runtime"
	"transect/runtime/call"
	"transect/runtime/mcp"
	"transect/runtime/reference"
	"transect/runtime/runledger"
	"transect/runtime/sandbox"
	"transect/runtime/unattended"
)

func (a *App) api() *cobra.Command {
	var job runtime.Job
	cmd := &cobra.Command{
		Use:   "api [flags] MANAGER.OPERATION [JSON|-]",
		Short: "Call one operation and print its result as JSON",
		Long: `Call one operation and print its result as JSON. The arguments are a JSON object
by name; - reads them from standard input. Iterators such as search_generator
print one JSON value per line as they arrive; an operation that returns nothing
prints nothing. Arguments are checked as in a script: transect doc
MANAGER.OPERATION shows them. Keys under "extra" are sent unchanged.

` + exitCodes,
		Example: `  transect api --local users.describe
  transect api --local projects.search '{"filter": {"name": {"$eq": "North"}}, "limit": 1}'
  transect api --local missions.search_generator | jq -r .name
  echo '{"project": "5f3c…", "name": "South"}' | transect api projects.update_name -`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "MANAGER.OPERATION is missing"),
					"transect doc lists the managers")
			case len(args) > 2:
				return fault.Hinted(fault.Of(&fault.UsageError{}, "unexpected argument %s", args[2]),
					"quote the JSON, so that the shell takes it as one argument")
			}
			return nil
		},
		ValidArgsFunction: a.completeNames((*reference.Reference).Operations),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), &job); err != nil {
				return err
			}
			entry, err := reference.New().FindOperation(args[0])
			if err != nil {
				return err
			}
			req := call.Request{Manager: entry.Manager, Operation: entry.Operation}
			if len(args) == 2 {
				req.Arguments = []byte(args[1])
			}
			if string(req.Arguments) == "-" {
				if req.Arguments, err = io.ReadAll(a.Process.Stdin); err != nil {
					return fault.Of(&fault.UsageError{}, "cannot read the arguments from standard input: %w", err)
				}
			}
			return call.Call(cmd.Context(), a.Process, job, req)
		},
	}
	a.CallFlags(cmd.Flags(), &job)
	return cmd
}

func (a *App) mcp() *cobra.Command {
	job := &runtime.Job{}
	var options unattended.Options
	var apply bool
	cmd := &cobra.Command{
		Use:   "mcp [flags] [FOLDER]",
		Short: "Let an assistant or a program read, plan and, where allowed, apply",
		Long: `Serve the Model Context Protocol on standard input and output, for assistants
and other programs. They search and read the reference, call operations that read,
check and plan scripts from FOLDER or their own, and follow running ones. Scripts run
in the sandbox: besides the platform they can read FOLDER, and access what --allow
names. With --allow apply a plan can be applied once the person at the client has
agreed to it. docs/assistants.md shows how to set up clients.`,
		Example: `  transect mcp --local
  transect mcp --profile survey --allow apply --budget deletes=0 ~/workflows
  transect mcp --allow apply --allow read=/media/card,write=~/results`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.Complete(cmd.Flags(), job); err != nil {
				return err
			}
			return a.serveProgram(cmd, args, job, apply)
		},
	}
	a.AddRunOptions(cmd.Flags(), job, &options, OnCall|OnLua)
	if allow, ok := cmd.Flags().Lookup("allow").Value.(*OptionValue); ok {
		allow.Parse = either("apply", &apply, allow.Parse)
	}
	return cmd
}

// either accepts a literal word, or what parse accepts.
func either(word string, given *bool, parse func(string) error) func(string) error {
	return func(text string) error {
		if text == word {
			*given = true
			return nil
		}
		return parse(text)
	}
}

func (a *App) serveProgram(cmd *cobra.Command, args []string, job *runtime.Job, apply bool) error {
	folder, err := filepath.Abs(a.Process.Path(strings.Join(args, "")))
	if info, failed := os.Stat(folder); err != nil || failed != nil || !info.IsDir() {
		return fault.Of(&fault.UsageError{}, "%s is not a folder", folder)
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	if a.Process.IsTerminal(a.Process.Stdin) {
		fmt.Fprintln(a.Process.Stderr, "transect: waits for the messages of a client, which starts it by itself; Ctrl-D ends")
	}
	ctx, release := a.Process.CancelOnSignal(cmd.Context())
	defer release()
	rules := sandbox.NewPolicy(job.Sandbox.Rules, "", false)
	record, end := unattended.Serving(a.Process, "mcp", Version())
	err = mcp.Serve(ctx, mcp.Options{Program: []string{program}, Folder: folder, State: a.Process.StateDir(),
		Key:     func() ([]byte, error) { return ledger.FindKey(runledger.Folder(a.Process)) },
		Connect: given(cmd.Flags(), OnCall), Run: sandboxFlags(cmd.Flags(), job, folder), Apply: apply,
		Version: Version(), Permit: rules.PermitOperation,
		Record: record}, io.NopCloser(a.Process.Stdin), keepOpen{a.Process.Stdout})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	} else if err != nil {
		err = fault.Hinted(fault.Of(&fault.ValueError{}, "the session of the client was broken off: %w", err),
			"a client starts transect mcp by itself and speaks the Model Context Protocol")
	}
	end(runtime.ExitCode(err))
	return err
}

// sandboxFlags returns the sandbox flags for scripts of an MCP client: what the command allows, by default
// reading the folder and all platform operations.
func sandboxFlags(flags *pflag.FlagSet, job *runtime.Job, folder string) []string {
	words := slices.DeleteFunc(given(flags, OnCall|OnLua), func(word string) bool { return word == "--allow=apply" })
	words = append(words, "--sandbox", "--no-manifest")
	allow := job.Sandbox.Rules.Allow
	if allow[sandbox.Read] == nil {
		words = append(words, "--allow=read="+folder)
	}
	if allow[sandbox.Op] == nil {
		words = append(words, "--allow=ops")
	}
	if job.Limits.Memory == 0 {
		words = append(words, "--max-memory=1GiB")
	}
	if job.Timeout == 0 {
		words = append(words, "--timeout=12h")
	}
	return words
}

// keepOpen is an output that is not closed.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
