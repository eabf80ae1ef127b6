package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (a *app) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program",
		Example: "  transect version",
		Args:    exactArgs(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), longVersion())
			return err
		},
	}
}

// version is the module's version, as the go command recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// longVersion adds the commit, the version of Go and the system.
func longVersion() string {
	settings := map[string]string{}
	goVersion := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
	}
	text := "transect " + version()
	if commit := settings["vcs.revision"]; commit != "" {
		text += " commit " + commit
		if settings["vcs.modified"] == "true" {
			text += " (modified)"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, goVersion, settings["GOOS"], settings["GOARCH"])
}
