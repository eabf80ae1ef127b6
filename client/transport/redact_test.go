package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"transect/client/fault"
)

// secretText is long and odd enough not to stand in a text by chance.
var secretText = rapid.StringMatching(`[Qq][!-~äß ]{7,20}[Zz]`)

func TestRedactByName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		secret := secretText.Draw(t, "secret")
		name := rapid.SampledFrom([]string{"password", "client_secret", "access_token", "refresh_token", "token",
			"aws_secret_access_key", "azure_client_secret", "Authorization", "clientSecret"}).Draw(t, "name")
		quoted, _ := json.Marshal(map[string]any{name: secret, "name": "kept"})
		twice, _ := json.Marshal(map[string]string{"text": string(quoted)})
		escaped := url.QueryEscape(secret)
		for _, text := range []string{
			string(quoted),
			string(quoted[:len(quoted)/2]) + secretTail(quoted),
			"GET https://h/p?x=1&" + name + "=" + escaped + "&y=2",
			"https://h/p?X-Amz-Signature=" + escaped,
			"https://ann:" + escaped + "@h/p",
			"Authorization: Bearer " + escaped,
		} {
			if out := Redact(text); strings.Contains(out, secret) || strings.Contains(out, escaped) {
				t.Fatalf("%q still shows in %q", secret, out)
			}
		}
		if plainEnough(secret) {
			if out := Redact(string(twice)); strings.Contains(out, secret) {
				t.Fatalf("%q still shows in %q", secret, out)
			}
		}
		if out := Redact(string(quoted)); !strings.Contains(out, `"kept"`) || !json.Valid([]byte(out)) {
			t.Fatalf("too much is gone: %s", out)
		}
	})
}

func secretTail(quoted []byte) string { return string(quoted[len(quoted)/2:]) }

func plainEnough(s string) bool { return !strings.ContainsAny(s, `"\<>&`) }

// A pattern that is passed over, for none of its characters is there, would have
// found nothing.
func TestNoPatternIsMissed(t *testing.T) {
	pieces := []string{`"`, `\`, "'", "=", ":", "//", "@", "<", ">", "?", "&", ";", ",", "[", "{", "}", " ", "\t", "\n", "\u00a0", "\u2003", "\u017f", "\u212a",
		"password", "Token", "access_key", "signature", "SIG", "put_url", "downloadUrl", "authorization", "Bearer", "basic", "StringToSign",
		`\u003c`, `\u003e`, `\u0026`, "https", "-", "_", "7", "secret", "x"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		for _, p := range patterns {
			if !strings.ContainsAny(text, p.with) && p.find().MatchString(text) {
				t.Fatalf("%v finds a secret in %q, which has none of %q", p.find(), text, p.with)
			}
		}
	})
}

// Whatever the platform says back, no secret of the connection is ever shown.
func TestNoSecretEverShows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		password, secret, token := secretText.Draw(t, "password"), secretText.Draw(t, "client secret"), "tok-"+rapid.StringMatching(`[A-Za-z0-9_.-]{12,40}`).Draw(t, "token")
		echo := rapid.SampledFrom([]string{
			`{"message":"wrong: %s"}`, `{"details":{"given":"%s"}}`, "text %s text", `{"message":{"deep":["%s"]}}`, "%s",
		}).Draw(t, "echo")
		status := rapid.SampledFrom([]int{200, 400, 401, 403, 404, 500}).Draw(t, "status")
		var shown bytes.Buffer
		var mu sync.Mutex
		log := slog.New(slog.NewTextHandler(&shown, &slog.HandlerOptions{Level: slog.LevelDebug}))
		tr, err := New(Options{BaseURL: "http://localhost", MaxRetries: 1, Logger: log, Sleep: (&waits{}).sleep,
			Credentials: Credentials{User: "ann", Password: password, ClientID: "id", ClientSecret: secret},
			Trace: func(r TraceRecord) {
				mu.Lock()
				defer mu.Unlock()
				TraceWriter(&shown)(r)
			},
			RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
				if r.URL.Path == tokenRoute && status != 401 {
					return plain(r, 200, fmt.Sprintf(`{"access_token":%q,"refresh_token":"r-%s"}`, token, token)), nil
				}
				said := ""
				for _, s := range []string{password, secret, token} {
					b, _ := json.Marshal(s)
					said += strings.Trim(string(b), `"`) + " "
				}
				return plain(r, status, fmt.Sprintf(echo, said)), nil
			})})
		if err != nil {
			t.Fatal(err)
		}
		r := get("/s/r")
		r.Query = url.Values{"access_token": {token}}
		_, err = tr.Do(t.Context(), r)
		fmt.Fprintln(&shown, err)
		for f := fault.Find(err); f != nil; f = fault.Find(f.Facts().Cause) {
			fmt.Fprintln(&shown, f, f.Facts().Hint)
			if r, ok := f.(*fault.ResponseError); ok {
				fmt.Fprintln(&shown, r.Data, r.Details, r.Message)
			}
		}
		secrets := []string{password, secret}
		if status != 401 { // it was issued
			secrets = append(secrets, token)
		}
		for _, s := range secrets {
			if strings.Contains(shown.String(), s) {
				t.Fatalf("%q shows in\n%s", s, shown.String())
			}
		}
	})
}
