package bindings_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"transect/bindings"
	"transect/client"
	"transect/client/declare"
	"transect/client/ledger"
	"transect/client/recovery"
	"transect/runtime/examples"
)

// plant makes the secrets of the examples recognisable.
var plant = strings.NewReplacer(`"rosebud"`, `"planted-password"`, `"new rosebud"`, `"planted-new-password"`,
	`"key"`, `"planted-access-key"`, `"secret"`, `"planted-cloud-secret"`)

// moreSecrets are writes with secrets that no example has.
var moreSecrets = map[string]string{
	"credentials of each type": `
		for name, c in pairs({
			azure = { type = "azure-blob", blob_client_id = "c", blob_tenant_id = "t", blob_client_secret = "planted-azure-secret" },
			aws = { type = "aws", cloud_access_key_id = "planted-aws-key", cloud_secret_access_key = "planted-aws-secret", cloud_region = "r" },
			oauth = { type = "oauth", client_id = "c", client_secret = "planted-oauth-secret", token_url = "https://x.example/token" },
		}) do
			sdk.credentials.create{ name = name, company = company, credentials = c }
		end`,
	"a signed address in a record": `
		local p = sdk.projects.create{ name = "p", company = company }
		sdk.datasets.create_file_dataset{ name = "d", project = p, properties = { from = "https://b.s3.example/k?X-Amz-Signature=plantedamzsignature&x=1" } }
		sdk.comments.create{ text = "see https://b.example/k?se=1&sig=plantedsas%3D", type = "project", target = p, project = p }`,
	"a signed address in a list": `
		local p = sdk.projects.create{ name = "p", company = company }
		sdk.datasets.create_datasets{ datasets = { { name = "a", type = "file", components = { { name = "c" } }, project = p.id, properties = { from = "https://b.s3.example/k?a=1&X-Amz-Signature=plantedamzsignature" } } } }`,
	"a token revoked": `
		local d = sdk.datasets.create_raster_dataset{ name = "d", project = sdk.projects.create{ name = "p", company = company } }
		local t = sdk.share_tokens.create(d)
		sdk.share_tokens.revoke(t.token)`,
}

// No secret that a write is given, or that the platform answers, stands in a
// ledger; further starts of the run send nothing for want of it, nor for want of
// the answers that are dropped after a day.
func TestLedgersHoldNoSecrets(t *testing.T) {
	files := argumentFiles(t)
	codes := map[string]string{}
	for name, code := range moreSecrets {
		codes[name] = `local sdk = require("sdk") local company = sdk.users.describe().company ` + code
	}
	for _, m := range client.Declarations() {
		for i, s := range m.Ops() {
			if s.Effect != declare.Read && (!testing.Short() || i%7 == 0 || s.Secret()) {
				codes[s.FullName()] = plant.Replace(examples.Of(bindings.Examples)[s.FullName()].Text())
			}
		}
	}
	var kinds sync.Map
	t.Cleanup(func() {
		for _, kind := range []string{"password", "aws_secret_access_key", "token", "access_token", "client_secret", "signature", "X-Amz-Signature", "sig"} {
			if _, seen := kinds.Load(kind); !seen && !t.Failed() && !testing.Short() {
				t.Errorf("no write had a %s: the scan sees less than it should", kind)
			}
		}
	})
	for name, code := range codes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newLostRun(t, "", inFolder(code, t.TempDir()), files)
			defer r.close()
			heard := &secretsOnWire{next: r.transparency, seen: map[string]string{}}
			r.transparency = heard
			if err := r.start(never, 0); err != nil {
				t.Fatal(err)
			}
			c := r.platform.Credentials()
			heard.seen[c.Password], heard.seen[c.ClientSecret] = "password", "client_secret"
			heard.in([]byte(code), "")
			heard.scan(t, r.ledgers)
			for _, kind := range heard.seen {
				kinds.Store(kind, true)
			}
			want := r.state()
			for _, start := range []string{"second start", "start without the answers that can be read again"} {
				if err := r.start(never, 0); err != nil {
					t.Fatalf("the %s: %v", start, err)
				}
				if sent := r.tally.Counts().Sent; sent > 0 {
					t.Errorf("the %s sent %d writes", start, sent)
				}
				if got := r.state(); got != want {
					t.Errorf("the %s: %s", start, difference(want, got))
				}
				heard.scan(t, r.ledgers)
				if err := ledger.Shorten(r.ledgers, "r", recovery.Readable(client.Declarations)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// secretsOnWire collects the secrets of all requests and answers.
type secretsOnWire struct {
	next http.RoundTripper
	mu   sync.Mutex
	seen map[string]string // to what they are
}

func (s *secretsOnWire) RoundTrip(q *http.Request) (*http.Response, error) {
	s.in([]byte(q.URL.String()), "")
	if _, token, bearer := strings.Cut(q.Header.Get("Authorization"), " "); bearer {
		s.add("access_token", token)
	}
	if q.Body != nil {
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return nil, err
		}
		q.Body = io.NopCloser(bytes.NewReader(body))
		s.in(body, q.Header.Get("Content-Type"))
	}
	response, err := s.next.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	s.in(body, response.Header.Get("Content-Type"))
	return response, err
}

var (
	secretKey     = regexp.MustCompile(`(?i)^(password|.*token|.*secret.*|.*access_key.*)$`)
	secretInURL   = regexp.MustCompile(`(?i)[?&](signature|X-Amz-Signature|sig|access_token|token)=([^&"\s\\]+)`)
	plantedSecret = regexp.MustCompile(`planted-[\w-]+`)
)

func (s *secretsOnWire) in(text []byte, kind string) {
	for _, m := range secretInURL.FindAllSubmatch(text, -1) {
		s.add(string(m[1]), string(m[2]))
	}
	var v any
	if json.Unmarshal(text, &v) == nil {
		s.walk("", v)
	} else if form, err := url.ParseQuery(string(text)); err == nil && strings.Contains(kind, "form-urlencoded") {
		for key := range form {
			s.walk(key, form.Get(key))
		}
	}
	for _, m := range plantedSecret.FindAll(text, -1) {
		s.add("planted", string(m))
	}
}

func (s *secretsOnWire) walk(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			s.walk(key, inner)
		}
	case []any:
		for _, inner := range v {
			s.walk(key, inner)
		}
	case string:
		if secretKey.MatchString(key) {
			s.add(key, v)
		}
	}
}

func (s *secretsOnWire) add(kind, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen[secret] == "" && len(secret) >= 8 {
		s.seen[secret] = kind
	}
}

// scan looks for the secrets in all files of a folder.
func (s *secretsOnWire) scan(t *testing.T, folder string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for secret, kind := range s.seen {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s holds the %s %q", filepath.Base(path), kind, secret)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files: %v", files, err)
	}
}
