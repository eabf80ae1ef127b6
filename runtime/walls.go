package runtime

import (
	"context"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"transect/client"
	"transect/client/fault"
	"transect/platform"
	"transect/runtime/sandbox"
)

// Walls say what a script may reach of the world.
type Walls struct {
	Rules      sandbox.Rules // of the command line
	NoManifest bool          // leave the manifest beside the script aside
	Learn      bool          // write it, from what the script reaches
}

// Place turns a path in a rule of the command line into an absolute one.
func (w *World) Place(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && w.lookup("HOME") != "" {
		path = filepath.Join(w.lookup("HOME"), rest)
	}
	path = w.path(path)
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// gate makes the gate of a run; nil when everything may be reached.
func (x Walls) gate(w *World, script string) (*sandbox.Policy, error) {
	rules, manifest := x.Rules, ""
	if file := script != "" && script != "-"; file && !x.NoManifest {
		path := w.Place(sandbox.ManifestOf(script))
		own, found, err := sandbox.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		if found || x.Learn {
			rules, manifest = rules.Over(own), path
		}
	} else if x.Learn {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "--learn needs a script that is a file"), "what it learns goes beside the script")
	}
	if rules.Empty() && !x.Learn {
		return nil, nil
	}
	return sandbox.NewPolicy(rules, manifest, x.Learn), nil
}

// learned writes the manifest of what the run reached.
func (r *run) learned() error {
	if r.job.gate == nil || !r.job.Walls.Learn {
		return nil
	}
	path := r.world.Place(sandbox.ManifestOf(r.job.Script))
	if err := r.job.gate.Learned().Write(path); err != nil {
		return err
	}
	r.in.Options().Logger.Info("wrote what the script may reach, from what it reached", "file", path)
	return nil
}

// permitted asks about the files a script's own connection settings name.
func (c *connector) permitted(own *client.Settings) error {
	if c.gate == nil {
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
		if err := c.in.Permit(sandbox.Read, c.world.path(file)); err != nil {
			return err
		}
	}
	return nil
}

// guard asks whether a connection may be made. The platform that the person
// named is open, with the storage it hands out; one the script names is not.
func (c *connector) guard(ctx context.Context, own *client.Settings, s client.Settings, o *client.Options) error {
	if c.gate == nil || o.RoundTripper != nil {
		return nil
	}
	ask := c.gate.Permit
	if !c.chosen(own, s) {
		if s.ProxyURL != "" && own.ProxyURL != "" {
			if err := ask(sandbox.Net, hostOf(s.ProxyURL)); err != nil {
				return err
			}
		}
	} else {
		ask = c.gate.Denied
	}
	o.Reach = func(hostport string) error { return ask(sandbox.Net, hostport) }
	return o.Reach(hostOf(s.URL))
}

// chosen tells whether a connection is the one the person named: the script
// gave nothing that leads elsewhere.
func (c *connector) chosen(own *client.Settings, s client.Settings) bool {
	if own.ProxyURL != "" || own.ConfigPath != "" || own.Profile != "" {
		return false
	}
	if own.Connection != nil && own.Connection.DisableSSLCertificate || own.CACert != "" {
		return false // somebody else could answer in its place
	}
	if own.URL == "" || own.ForcePrompt {
		return true
	}
	if c.named.URL != "" {
		return hostOf(own.URL) == hostOf(c.named.URL)
	}
	if c.named.Local {
		return own.URL == platform.Address
	}
	theirs := client.Settings{}
	if err := c.fill(&theirs, c.named); err != nil {
		return false
	}
	theirs, err := theirs.Resolve()
	return err == nil && hostOf(theirs.URL) == hostOf(own.URL)
}

// hostOf is host:port of an address.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	p := u.Port()
	if p == "" {
		p = map[string]string{"https": "443", "http": "80", "socks5": "1080"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), p)
}
