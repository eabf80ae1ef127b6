package runtime

import (
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"transect/client"
	"transect/client/fault"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
)

// Sandbox is a script's permissions.
type Sandbox struct {
	Rules      sandbox.Rules  // of the command line
	NoManifest bool           // ignore the manifest next to the script
	Learn      bool           // write the manifest from what the script accesses
	Beside     []string       // folders treated like the manifest's own
	Within     *sandbox.Rules // of the worker that runs the job; nil without one
}

// AbsPath makes the path of a rule absolute; ~/ is the home folder.
func (p *Process) AbsPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && p.Getenv("HOME") != "" {
		path = filepath.Join(p.Getenv("HOME"), rest)
	}
	path = p.Path(path)
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// operationNames lists what rules can name of operations.
func operationNames() []string {
	names := []string{"jobs.submit"} // of the runtime itself
	for _, m := range client.Declarations() {
		for _, op := range m.Ops() {
			names = append(names, op.DeniedBy()...)
		}
	}
	return names
}

// policy merges the rules with the script's manifest. It is nil when nothing is
// restricted.
func (s Sandbox) policy(p *Process, script string) (*sandbox.Policy, error) {
	rules, manifest := s.Rules, ""
	records := sandbox.Records(filepath.Join(vm.StateDir(p.Env), "manifests"))
	path := p.AbsPath(sandbox.ManifestOf(script))
	switch file := script != "" && script != "-" && !isReady(script); {
	case file && !s.NoManifest:
		own, found, err := sandbox.ReadManifest(path, s.Beside...)
		if err != nil {
			return nil, err
		}
		if found {
			records.Keep(path)
		} else if err := records.Check(path); err != nil && !s.Learn {
			return nil, err
		}
		if found || s.Learn {
			rules, manifest = rules.Over(own), path
		}
	case s.Learn:
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "--learn needs a script that is a file"),
			"the manifest is written next to the script")
	case file:
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			records.Forget(path)
		}
	}
	if rules.Empty() && !s.Learn && s.Within == nil {
		return nil, nil
	}
	if err := rules.Known(operationNames); err != nil {
		return nil, err
	}
	policy := sandbox.NewPolicy(rules, manifest, s.Learn)
	if s.Within != nil {
		policy.Within(*s.Within)
	}
	policy.Protect(string(records))
	return policy, nil
}

// writeManifest writes what the run accessed, for --learn.
func (x *Execution) writeManifest() error {
	if x.job.policy == nil || !x.job.Sandbox.Learn {
		return nil
	}
	path := x.process.AbsPath(sandbox.ManifestOf(x.job.Script))
	if err := x.job.policy.Learned().Write(path); err != nil {
		return err
	}
	x.Interp.Options().Logger.Info("wrote the manifest of what the script accessed", "file", path)
	return nil
}

// checkFiles checks files named by a script's settings against the policy.
func (c *connector) checkFiles(own *client.Settings) error {
	if c.policy == nil {
		return nil
	}
	files := []string{own.ConfigPath, own.CACert}
	if own.Profile != "" && own.ConfigPath == "" {
		files = append(files, c.named.Config)
	}
	for _, file := range files {
		if file == "" {
			continue
		}
		if err := c.in.Permit(sandbox.Read, c.process.Path(file)); err != nil {
			return err
		}
	}
	return nil
}

// restrict checks the connection against the policy. The platform named by the user and its storage are
// allowed unless denied; one named by the script must be allowed.
func (c *connector) restrict(own *client.Settings, s client.Settings, o *client.Options) error {
	if c.policy == nil || o.RoundTripper != nil {
		return nil
	}
	ask := c.policy.Permit
	if c.isUsers(own, s) {
		ask = c.policy.Denied
	} else if s.ProxyURL != "" && own.ProxyURL != "" {
		if err := ask(sandbox.Net, hostPort(s.ProxyURL)); err != nil {
			return err
		}
	}
	o.Reach = func(hostport string) error { return ask(sandbox.Net, hostport) }
	return o.Reach(hostPort(s.URL))
}

// isUsers reports whether a connection is the one the user named: none of the
// script's settings redirects it.
func (c *connector) isUsers(own *client.Settings, s client.Settings) bool {
	if own.ProxyURL != "" || own.ConfigPath != "" || own.Profile != "" {
		return false
	}
	if own.Connection != nil && own.Connection.DisableSSLCertificate || own.CACert != "" {
		return false // another server could impersonate it
	}
	if own.URL == "" || own.ForcePrompt {
		return true
	}
	if c.named.URL != "" {
		return hostPort(own.URL) == hostPort(c.named.URL)
	}
	if c.named.Local {
		return c.isLocal(own.URL)
	}
	var users client.Settings
	if err := c.fill(&users, c.named); err != nil {
		return false
	}
	users, err := users.Resolve()
	return err == nil && hostPort(users.URL) == hostPort(own.URL)
}

// hostPort returns the host:port of a URL.
func hostPort(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80", "socks5": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}
