package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"transect/client"
	"transect/client/human"
	"transect/client/lookup"
	"transect/runtime"
	"transect/scripts"
	"transect/stdlib"
	"transect/stdlib/argparse"
)

// completionTimeout is how long the shell waits for names of the platform.
const completionTimeout = 4 * time.Second

// maxCompletions limits how many names are offered at once.
const maxCompletions = 200

// completeDeclared completes what a script declares: values of flags, and
// positional arguments.
func (a *App) completeDeclared(cmd *cobra.Command, spec *argparse.Spec, job *runtime.Job) {
	for name, arg := range spec.Args {
		if slices.Contains(spec.Positional, name) {
			continue
		}
		flag := strings.ReplaceAll(name, "_", "-")
		cobra.CheckErr(cmd.RegisterFlagCompletionFunc(flag,
			func(_ *cobra.Command, _ []string, word string) ([]string, cobra.ShellCompDirective) {
				return a.completeArgument(arg, job, word)
			}))
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		return a.completePositional(spec, job, args, word)
	}
}

// completePositional completes the next positional argument. Behind a list it
// may be one more of the list, or what follows it.
func (a *App) completePositional(spec *argparse.Spec, job *runtime.Job, args []string, word string) ([]string,
	cobra.ShellCompDirective) {
	for i, name := range spec.Positional {
		arg := spec.Args[name]
		list := arg.Type == "[]string"
		if !list && i < len(args) {
			continue
		}
		words, directive := a.completeArgument(arg, job, word)
		if list && len(args) > i && i+1 < len(spec.Positional) {
			more, _ := a.completeArgument(spec.Args[spec.Positional[i+1]], job, word)
			words = append(words, more...)
		}
		return words, directive
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// completeArgument completes the value of one argument.
func (a *App) completeArgument(arg *argparse.Arg, job *runtime.Job, word string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(arg.Choices) > 0:
		return arg.Choices, cobra.ShellCompDirectiveNoFileComp
	case arg.Complete == "files", arg.Complete == "" && arg.Type == "string":
		return nil, cobra.ShellCompDirectiveDefault
	case arg.Complete == "folders":
		return nil, cobra.ShellCompDirectiveFilterDirs
	case arg.Complete == "":
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return a.names(arg.Complete, job, word), cobra.ShellCompDirectiveNoFileComp
}

// names completes names on the platform. Errors are ignored: a shell cannot show them.
func (a *App) names(kind string, job *runtime.Job, word string) (names []string) {
	ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
	defer cancel()
	silent := *a.Process
	silent.Stdout, silent.Stderr, silent.Stdin, silent.Signals = io.Discard, io.Discard, strings.NewReader(""), nil
	silent.IsTerminal = func(any) bool { return false }
	_ = runtime.Connected(ctx, &silent, runtime.Job{Connection: job.Connection, Version: Version()},
		func(ctx context.Context, c *client.Client, _ string) (err error) {
			names, err = lookup.In(c).Complete(ctx, kind, word, maxCompletions)
			return err
		})
	return plain(names)
}

// plain drops names with characters that shells would interpret or hide.
func plain(names []string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return strings.ContainsFunc(name, human.Hidden) })
}

// completeScript completes the script of transect run, and its arguments.
func (a *App) completeScript(job *runtime.Job) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0 && scripts.IsRef(word):
			return scriptNames("@"), cobra.ShellCompDirectiveNoFileComp
		case len(args) == 0:
			return []string{"lua"}, cobra.ShellCompDirectiveFilterFileExt
		}
		spec := a.declared(args[0])
		if spec == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		args = args[1:]
		flag := ""
		if len(args) > 0 && strings.HasPrefix(args[len(args)-1], "--") {
			flag = strings.TrimPrefix(args[len(args)-1], "--")
		}
		if arg := spec.Args[strings.ReplaceAll(flag, "-", "_")]; arg != nil && arg.Type != "boolean" {
			return a.completeArgument(arg, job, word)
		}
		if strings.HasPrefix(word, "-") {
			return declaredFlags(spec), cobra.ShellCompDirectiveNoFileComp
		}
		return a.completePositional(spec, job, positional(spec, args), word)
	}
}

// declared returns what a script declares, nil when that cannot be read.
func (a *App) declared(script string) *argparse.Spec {
	code := []byte(nil)
	if s, ok := scripts.Find(script); ok && scripts.IsRef(script) {
		code = s.Code
	} else if text, err := os.ReadFile(a.Process.Path(script)); err == nil {
		code = text
	}
	spec, err := stdlib.DeclaredArgs(script, code)
	if err != nil {
		return nil
	}
	return spec
}

func declaredFlags(spec *argparse.Spec) (flags []string) {
	for name, arg := range spec.Args {
		flags = append(flags, cobra.CompletionWithDesc("--"+strings.ReplaceAll(name, "_", "-"), arg.Doc))
	}
	slices.Sort(flags)
	return append(flags, cobra.CompletionWithDesc("--help", "show the arguments"))
}

// positional leaves out flags and their values.
func positional(spec *argparse.Spec, args []string) (words []string) {
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "--")
		if !isFlag {
			words = append(words, args[i])
		} else if arg := spec.Args[strings.ReplaceAll(name, "-", "_")]; arg != nil && arg.Type != "boolean" {
			i++
		}
	}
	return words
}

// completeProfiles completes the profiles of the configuration file.
func completeProfiles(cmd *cobra.Command) {
	if cmd.Flags().Lookup("profile") == nil {
		return
	}
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("profile",
		func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return plain(client.Profiles(cmd.Flags().Lookup("config").Value.String())), cobra.ShellCompDirectiveNoFileComp
		}))
}

// completeRuns completes run ids, newest first.
func (a *App) completeRuns(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	store, err := a.History()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ids := []string{cobra.CompletionWithDesc("last", "the newest run")}
	runs, _ := store.List(20, nil) // without a history there is only last
	for _, run := range runs {
		what := run.State
		if run.End != nil {
			what = run.End.Outcome
		}
		ids = append(ids, cobra.CompletionWithDesc(run.ID, filepath.Base(run.Script)+" "+what))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// bashWords defines the one function of bash-completion that the bash script calls, for machines without that
// package.
const bashWords = `if ! declare -F _get_comp_words_by_ref >/dev/null; then
    _get_comp_words_by_ref() {
        cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cword=$COMP_CWORD
        words=("${COMP_WORDS[@]}")
    }
fi

`

// bashQuotes completes words with an open quote, which the bash script would have the shell evaluate
// unterminated. Bash closes the quote.
const bashQuotes = `
eval "__transect_unquoted() $(declare -f __start_transect | tail -n +2)"
__start_transect() {
    local cur=${COMP_WORDS[COMP_CWORD]} quote word name earlier
    quote=${cur:0:1} word=${cur:1}
    if [[ $quote != [\'\"] || $word == *"$quote"* ]]; then
        __transect_unquoted "$@"
        return
    fi
    COMPREPLY=()
    eval "earlier=(${COMP_WORDS[*]:1:COMP_CWORD-1})"
    while IFS= read -r name; do
        name=${name%%$'\t'*}
        if [[ $name == "$word"* && $name != :[0-9]* && $name != *"$quote"* ]]; then
            COMPREPLY+=("$name")
        fi
    done < <("${COMP_WORDS[0]}" __complete "${earlier[@]}" "$word" 2>/dev/null)
}
`

// completeWords makes completion bash work without the package bash-completion, and
// behind an open quote.
func completeWords(completion *cobra.Command) {
	for _, shell := range completion.Commands() {
		if generate := shell.RunE; shell.Name() == "bash" && generate != nil {
			shell.RunE = func(cmd *cobra.Command, args []string) error {
				fmt.Fprint(cmd.Root().OutOrStdout(), bashWords)
				err := generate(cmd, args)
				fmt.Fprint(cmd.Root().OutOrStdout(), bashQuotes)
				return err
			}
		}
	}
}
