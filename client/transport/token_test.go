package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"transect/client/fault"
)

func TestOneRenewalForAll(t *testing.T) {
	const callers = 64
	var meet sync.WaitGroup
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) })
	tr, _ := open(t, Options{BaseURL: p.URL})
	if err := tr.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		p.expire()
		before := p.tokens.Load()
		for range callers {
			meet.Go(func() {
				if _, err := tr.Do(t.Context(), create("/s/r")); err != nil {
					t.Error(err)
				}
			})
		}
		meet.Wait()
		if n := p.tokens.Load() - before; n != 1 {
			t.Errorf("round %d: %d token requests, want 1", round, n)
		}
	}
}

func TestTokenIsRenewedBeforeItExpires(t *testing.T) {
	refused := 0
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) })
	p.lifetime.Store(1)
	tr, _ := open(t, Options{BaseURL: p.URL, Trace: func(r TraceRecord) {
		if r.Status == http.StatusUnauthorized {
			refused++
		}
	}})
	if err := tr.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	tr.tokens.mu.Lock()
	if margin := time.Until(tr.tokens.renewAt); margin > time.Second || margin < 500*time.Millisecond {
		t.Errorf("renewal in %s", margin)
	}
	tr.tokens.renewAt = time.Now().Add(-time.Millisecond)
	tr.tokens.mu.Unlock()
	if _, err := tr.Do(t.Context(), get("/s/r")); err != nil {
		t.Fatal(err)
	}
	if p.tokens.Load() != 2 || refused != 0 {
		t.Errorf("%d token requests, %d refusals", p.tokens.Load(), refused)
	}
}

func TestSecondRefusalIsTheError(t *testing.T) {
	p := newPlatform(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"code":"Nope","message":"still not"}`)
	})
	tr, _ := open(t, Options{BaseURL: p.URL})
	_, err := tr.Do(t.Context(), get("/s/r"))
	if f := isFault[*fault.ResponseError](t, err); f.Status != 401 || f.Message != "still not" || f.Operation != "things.search" {
		t.Errorf("%+v", f)
	}
	if n := p.tokens.Load(); n != 2 {
		t.Errorf("%d token requests", n)
	}
}

func TestRefusedCredentials(t *testing.T) {
	p := newPlatform(t, nil)
	c := goodUser
	c.Password = "wrong-password"
	tr, w := open(t, Options{BaseURL: p.URL, Credentials: c})
	err := tr.Login(t.Context())
	f := isFault[*fault.TokenRenewalError](t, err)
	for _, want := range []string{"ann", strings.TrimPrefix(p.URL, "http://"), "--password-file"} {
		if !strings.Contains(f.Error()+f.Hint, want) {
			t.Errorf("%q and hint %q do not name %s", f.Error(), f.Hint, want)
		}
	}
	if text := fmt.Sprint(err, f.Hint, fault.Find(f.Cause).(*fault.ResponseError).Data); strings.Contains(text, "wrong-password") {
		t.Errorf("the password shows: %s", text)
	}
	if len(w.all) != 0 {
		t.Error("refused credentials were tried again")
	}
}

func TestGivenTokenExpires(t *testing.T) {
	p := newPlatform(t, nil)
	tr, _ := open(t, Options{BaseURL: p.URL, Credentials: Credentials{AccessToken: "an-old-token"}})
	if err := tr.Login(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err := tr.Do(t.Context(), get("/s/r"))
	if f := isFault[*fault.TokenRenewalError](t, err); !strings.Contains(f.Hint, "expired") {
		t.Error(f.Hint)
	}
}

func TestTokenAnswers(t *testing.T) {
	for body, good := range map[string]bool{
		`{"access_token":"abcdef"}`:                                         true,
		`{"access_token":"abcdef","expires_in":"60","token_type":"Bearer"}`: true,
		`{"access_token":"abcdef","expires_in":null}`:                       true,
		`{"token_type":"Bearer"}`:                                           false,
		`{}`:                                                                false,
		`[]`:                                                                false,
		``:                                                                  false,
		`{"access_token":17}`:                                               false,
		`{"access_token":"","expires_in":3,"token_type":"x","refresh_token":""}`: false,
	} {
		tr, _ := open(t, Options{BaseURL: "http://local", RoundTripper: answering(200, body)})
		err := tr.Login(t.Context())
		if good && err != nil {
			t.Errorf("%s: %v", body, err)
		} else if !good {
			isFault[*fault.TokenRenewalError](t, err)
		}
	}
}

func TestWaiterMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		tr, _ := open(t, Options{BaseURL: "http://local", RoundTripper: roundTripper(func(r *http.Request) (*http.Response, error) {
			select {
			case <-hold:
				return plain(r, 200, `{"access_token":"abcdef"}`), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		})})
		ctx, cancel := context.WithCancelCause(t.Context())
		first, second := make(chan error), make(chan error)
		go func() { first <- tr.Login(ctx) }()
		synctest.Wait()
		go func() { second <- tr.Login(t.Context()) }()
		synctest.Wait()
		why := fault.Of(&fault.LimitError{}, "enough")
		cancel(why)
		if err := <-first; !errors.Is(err, why) {
			t.Errorf("the one who left got %v", err)
		}
		close(hold)
		if err := <-second; err != nil {
			t.Errorf("the one who stayed got %v", err)
		}
	})
}

func TestErrorsAreNotShared(t *testing.T) {
	tr, _ := open(t, Options{BaseURL: "http://local", RoundTripper: answering(401, `{"message":"no"}`)})
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			r := get("/s/r")
			r.Operation = fmt.Sprint("operation", i)
			_, err := tr.Do(t.Context(), r)
			if f := isFault[*fault.TokenRenewalError](t, err); f.Operation != r.Operation {
				t.Errorf("%s got the error of %s", r.Operation, f.Operation)
			}
		})
	}
	all.Wait()
}

func TestCredentialsThatCannotWork(t *testing.T) {
	for _, c := range []Credentials{{}, {User: "ann"}, {ClientID: "x"}, {Password: "only"}} {
		_, err := New(Options{BaseURL: "http://local", Credentials: c})
		isFault[*fault.MissingCredentialsError](t, err)
	}
}
