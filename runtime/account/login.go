// Package account keeps logins and lists the settings in force.
package account

import (
	"context"
	"fmt"
	"strings"

	"transect/client"
	"transect/client/fault"
	"transect/client/human"
	saved "transect/client/login"
	"transect/client/transport"
	"transect/runtime"
)

// longestName limits the parts of a login other than secrets, in bytes.
const longestName = 1000

// Login prompts for what a login lacks, tries it and saves it. kind is what to prompt for: "user", "client" or
// "token"; "" derives it from the given settings.
func Login(ctx context.Context, p *runtime.Process, job runtime.Job, kind string) error {
	if job.Connection.Local {
		return fault.Hinted(fault.Of(&fault.UsageError{}, "the local platform needs no login"),
			"leave out --local, or use it with any command")
	}
	profile, file := job.Connection.Profile, client.LoginFile(p.Path(job.Connection.Config))
	if profile != "" {
		if err := runtime.CheckName(profile, "the name of a profile", 64); err != nil {
			return fault.In("--profile", err)
		}
	}
	job.Connection.Profile, job.Connection.Config = "", ""
	return runtime.Perform(ctx, p, &job, func(x *runtime.Execution, ctx context.Context) error {
		named := x.Named()
		named.Local, named.Config, named.Profile = false, "", ""
		login, err := x.Settings(named)
		if err != nil {
			return err
		}
		if err := ask(ctx, x, &login, kind); err != nil {
			return err
		}
		for what, value := range map[string]string{"address": login.URL, "user": login.User, "client id": login.ClientID} {
			if len(value) > longestName || strings.ContainsFunc(value, human.Hidden) {
				return fault.Hinted(fault.Of(&fault.UsageError{}, "the %s is longer than %d bytes, or has characters that are "+
					"not shown: %q", what, longestName, human.Shorten(value, 60)), "nothing was kept; type it by hand")
			}
		}
		if err := try(ctx, x, login); err != nil {
			return err
		}
		inKeyring, err := saved.Keep(file, profile, login)
		if err != nil {
			return err
		}
		where := "the password is in " + file + ", which only you can read"
		if inKeyring {
			where = "the secret is in the system's keyring, the rest in " + file
		} else if login.User == "" {
			where = strings.Replace(where, "password", "secret", 1)
		}
		fmt.Fprintf(p.Stderr, "logged in to %s as %s; %s\n", login.URL, account(login), where)
		return nil
	})
}

// account names the user or client of a login, without secrets.
func account(s client.Settings) string {
	switch {
	case s.User != "":
		return s.User
	case s.ClientID != "":
		return "client " + s.ClientID
	}
	return "the holder of a token"
}

// ask prompts for missing settings on the terminal.
func ask(ctx context.Context, x *runtime.Execution, s *client.Settings, kind string) error {
	p := x.Process()
	terminal := p.IsTerminal(p.Stdin) && p.IsTerminal(p.Stderr)
	ask := func(text, flag string, to *string, secret bool) error {
		if *to != "" {
			return nil
		}
		if !terminal {
			return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no terminal to ask: %s", text), "give %s", flag)
		}
		var err error
		*to, err = p.Ask(ctx, x.Interp.Options().Stderr, text, "", secret)
		if err == nil && *to == "" {
			err = fault.Of(&fault.UsageError{}, "%s is empty; nothing was kept", strings.ToLower(text))
		}
		return err
	}
	if err := ask("Platform address", "--url", &s.URL, false); err != nil {
		return err
	}
	if !strings.Contains(s.URL, "://") {
		s.URL = "https://" + s.URL
	}
	switch {
	case kind == "token" || kind == "" && s.AccessToken != "":
		s.User, s.ClientID = "", ""
		return ask("Access token", "--access-token-file FILE", &s.AccessToken, true)
	case kind == "client" || kind == "" && s.ClientID != "" && s.User == "":
		s.User, s.AccessToken = "", ""
		if err := ask("Client id", "--client-id ID", &s.ClientID, false); err != nil {
			return err
		}
		return ask("Client secret", "--client-secret-file FILE", &s.ClientSecret, true)
	}
	s.AccessToken = ""
	if err := ask("User", "--user NAME", &s.User, false); err != nil {
		return err
	}
	return ask("Password", "--password-file FILE", &s.Password, true)
}

// try logs in. A login is valid even if the platform does not describe its user, as for a client.
func try(ctx context.Context, x *runtime.Execution, s client.Settings) error {
	cl, err := x.Connect(ctx, s)
	if err != nil {
		return err
	}
	_, err = cl.Users.Describe(ctx, client.UserRef{})
	if response, ok := fault.Find(err).(*fault.ResponseError); ok && (response.Status == 403 || response.Status == 404) {
		return nil
	}
	return err
}

// Logout forgets the login that Login kept.
func Logout(p *runtime.Process, config, profile string) error {
	file := client.LoginFile(p.Path(config))
	gone, err := saved.Forget(file, profile)
	if err != nil {
		return err
	}
	if gone.URL == "" {
		of := file
		if profile != "" {
			of = "the profile " + profile + " of " + file
		}
		return fault.Hinted(fault.Of(&fault.UsageError{}, "there is no login in %s", of),
			"transect config shows what is set where")
	}
	fmt.Fprintf(p.Stderr, "logged out of %s as %s\n", transport.Redact(gone.URL), account(gone))
	return nil
}
