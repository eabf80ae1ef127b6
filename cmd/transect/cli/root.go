package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"transect/client/fault"
	"transect/runtime"
	"transect/runtime/unattended/history"
)

// exitCodes lists the exit codes in help.
var exitCodes = func() string {
	text := "Exit codes:"
	for _, c := range history.Codes {
		text += fmt.Sprintf("\n  %-4d %s", c.Number, c.Meaning)
	}
	return text
}()

// Root returns the command that a command line begins with, or all of them: declaring all takes as long as
// everything else before a script starts.
func (a *App) Root(words []string) *cobra.Command {
	root := &cobra.Command{
		Use:   "transect",
		Short: "Run Lua workflows against a geospatial platform",
		Long: `Transect runs Lua workflows against a geospatial platform: ingest a drone
flight, order an analytic, follow its logs, fetch its output. It includes a
local platform to try scripts without an account.

` + exitCodes,
		Example: `  transect run --local survey.lua flight/
  transect repl --local
  transect eval --local 'require("projects").search{}'
  transect platform serve`,
		Args:          cobra.ArbitraryArgs, // RunE suggests commands
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0 && a.Process.IsTerminal(a.Process.Stdin) && a.Process.IsTerminal(a.Process.Stdout):
				prompt, _, err := cmd.Find([]string{"repl"})
				if err != nil {
					return err
				}
				prompt.SetContext(cmd.Context())
				return prompt.RunE(prompt, nil)
			case len(args) == 0:
				return cmd.Help()
			}
			return a.unknownCommand(cmd, args)
		},
	}
	flags := root.PersistentFlags()
	flags.BoolVarP(&a.Output.Quiet, "quiet", "q", false, "print only errors")
	flags.BoolVarP(&a.Output.Verbose, "verbose", "v", false, "print debug messages")
	AddOptions(flags, Option{Name: "log-format", Kind: "text|json", Value: "text",
		Doc: "format of messages, progress and errors: text or json", Parse: toLogFormat(&a.Output.JSON)})
	root.SetFlagErrorFunc(a.FlagError)
	root.AddGroup(&cobra.Group{ID: Everyday, Title: "Everyday work:"}, &cobra.Group{ID: Scripting, Title: "Scripts:"})
	for _, c := range a.commands() {
		if len(words) > 0 && words[0] == c.Name {
			root.CompletionOptions.DisableDefaultCmd = true
			c.addTo(root)
			return root
		}
	}
	root.Version = built().String()
	root.SetVersionTemplate("{{.Version}}\n")
	for _, c := range a.commands() {
		c.addTo(root)
	}
	for _, cmd := range a.scriptCommands() {
		root.AddCommand(cmd)
		completeProfiles(cmd)
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd(words...)
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			strictHelp(root, cmd)
		case "completion":
			Group(cmd)
			completeWords(cmd)
		}
	}
	return root
}

// Command is declared when it is needed.
type Command struct {
	Name, Group string
	Declare     func() *cobra.Command
}

// commands declares all commands except those that are scripts.
func (a *App) commands() (list []Command) {
	list = []Command{
		{"run", Scripting, a.run}, {"plan", Scripting, a.plan}, {"apply", Scripting, a.apply},
		{"repl", Scripting, a.repl}, {"eval", Scripting, a.eval}, {"check", Scripting, a.check},
		{"fmt", Scripting, a.fmt}, {"lsp", Scripting, a.lsp}, {"dap", Scripting, a.dap},
		{"mcp", Scripting, a.mcp},
		{"test", Scripting, a.test}, {"api", Scripting, a.api}, {"doc", Scripting, a.doc}, {"scripts", Scripting, a.scripts},
		{"init", Scripting, a.init}, {"runs", Scripting, a.runs}, {"cron", Scripting, a.cron},
		{"login", "", a.login}, {"logout", "", a.logout}, {"config", "", a.config}, {"version", "", a.version},
	}
	for part := range runtime.PartsOf[Commander](a.parts) {
		list = append(list, part.Commands(a)...)
	}
	return list
}

func (c Command) addTo(root *cobra.Command) {
	cmd := c.Declare()
	cmd.GroupID = c.Group
	root.AddCommand(cmd)
	completeProfiles(cmd)
}

// strictHelp makes help for an unknown command an error.
func strictHelp(root, help *cobra.Command) {
	show := help.Run
	help.Run = nil
	help.RunE = func(cmd *cobra.Command, args []string) error {
		if found, rest, err := root.Find(args); err != nil || len(rest) > 0 {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no help for %s", strings.Join(args, " ")),
				"%s", nearestCommand(found, rest[0]))
		}
		show(cmd, args)
		return nil
	}
}

// Group makes a command that only has subcommands print its help and refuse unknown ones.
func Group(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return UnknownSubcommand(cmd, args[0])
	}
}

// UnknownSubcommand returns the error for a name that is not a subcommand, with the nearest one.
func UnknownSubcommand(cmd *cobra.Command, name string) error {
	return fault.Hinted(fault.Of(&fault.UsageError{}, "unknown command %s %s", cmd.Name(), name), "%s",
		nearestCommand(cmd, name))
}

// unknownCommand suggests a command with a similar name, or to run a script.
func (a *App) unknownCommand(cmd *cobra.Command, args []string) error {
	unknown := args[0]
	err := fault.Of(&fault.UsageError{}, "unknown command %s", unknown)
	_, missing := os.Stat(a.Process.Path(unknown))
	if filepath.Ext(unknown) == ".lua" || missing == nil {
		return fault.Hinted(err, "to run a script: transect run %s", strings.Join(args, " "))
	}
	return fault.Hinted(err, "%s", nearestCommand(cmd, unknown))
}

func (a *App) version() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  transect version --json",
		Args:    ExactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			b := built()
			if asJSON {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(b)
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), b)
			return err
		},
	}
	JSONFlag[build](cmd, &asJSON, "print a JSON object")
	return cmd
}

// Version returns the module's version, as the go command recorded it.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// build is what this program was built from, and for which system.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"` // of the commit
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func built() build {
	b := build{Version: Version(), Go: goruntime.Version(), OS: goruntime.GOOS, Arch: goruntime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	text := "transect " + b.Version
	if b.Commit != "" {
		text += " commit " + b.Commit
	}
	if b.Modified {
		text += " (modified)"
	}
	return fmt.Sprintf("%s, %s %s/%s", text, b.Go, b.OS, b.Arch)
}
