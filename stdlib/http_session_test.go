package stdlib_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"transect/runtime/vm"
)

// service is a web service with a login, and what forms bring.
func service(t *testing.T) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /login", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("user") == "ops" && r.FormValue("tag") == "a" && len(r.Form["tag"]) == 2 {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "s1", Path: "/"})
			http.Redirect(w, r, "/who", http.StatusSeeOther)
		}
	})
	mux.HandleFunc("/who", func(w http.ResponseWriter, r *http.Request) {
		c, err := r.Cookie("session")
		fmt.Fprint(w, err == nil && c.Value == "s1", " ", r.Header.Get("Authorization") != "", " ", r.Header.Get("X-Kind"))
	})
	mux.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength <= 0 {
			t.Error("a form was sent without its length")
		}
		form, err := r.MultipartReader()
		if err != nil {
			t.Error(err)
			return
		}
		for {
			part, err := form.NextPart()
			if err != nil {
				return
			}
			text, _ := io.ReadAll(part)
			fmt.Fprintf(w, "%s %q %s %d %.5s\n", part.FormName(), part.FileName(), part.Header.Get("Content-Type"), len(text), text)
		}
	})
	mux.HandleFunc("POST /moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/form", http.StatusTemporaryRedirect)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func TestForms(t *testing.T) {
	s := service(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "photo.jpg"), []byte(strings.Repeat("x", 1<<20)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, err := run(t, vm.Options{Dir: dir, Env: none}, `
		local http, url = require("http"), "`+s.URL+`"
		local form = { note = "dry", n = { 1, 2 }, photo = { file = "photo.jpg", type = "image/jpeg" }, more = { { file = "photo.jpg", name = 'a "b".jpg' } } }
		print(http.post(url .. "/form", { form = form }):text())
		assert(http.post(url .. "/moved", { form = form }):text() == http.post(url .. "/form", { form = form }):text())
		local _, e = try(http.post, url, { form = { a = { file = "none.jpg" } } }); assert(e.name == "FileError" and tostring(e):find("none.jpg"), tostring(e))
		local _, e = try(http.post, url, { form = { a = { file = "photo.jpg", nam = "x" } } }); assert(e.message:find("a has no nam (did you mean name?)", 1, true), tostring(e))
		local _, e = try(http.post, url, { form = { a = { path = "x" } } }); assert(e.message:find("without a file") and e.hint, tostring(e))
		local _, e = try(http.post, url, { form = { a = print } }); assert(e.name == "ParameterError", tostring(e))`)
	if err != nil {
		t.Fatal(err)
	}
	want := `more "a \"b\".jpg" application/octet-stream 1048576 xxxxx
n ""  1 1
n ""  1 2
note ""  3 dry
photo "photo.jpg" image/jpeg 1048576 xxxxx
`
	if strings.TrimSpace(out) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

func TestSessions(t *testing.T) {
	s, other := service(t), service(t)
	_, _, err := run(t, vm.Options{Dir: t.TempDir(), Env: none}, `
		local http = require("http")
		local s = http.session("`+s.URL+`/", { auth = { bearer = "t" }, headers = { ["X-Kind"] = "night" } })
		assert(s:get("who"):text() == "false true night", s:get("who"):text())
		assert(s:post("login", { form = { user = "ops", tag = { "a", "b" } } }):text() == "true true night")
		assert(s:get("/who"):text() == "true true night" and s:cookies().session == "s1")
		assert(s:get("who", { headers = { ["X-Kind"] = "day" } }):text() == "true true day")
		assert(http.get("`+s.URL+`/who"):text() == "false false ")
		-- Neither headers nor credentials go to another service.
		assert(s:get("`+other.URL+`/who"):text():find("false ?$"), s:get("`+other.URL+`/who"):text())
		local _, e = try(http.session, "ftp://x"); assert(e.name == "ParameterError")
		local _, e = try(http.session, "http://x", { auth = { user = "u", bearer = "b" } }); assert(e.name == "ParameterError")
		assert(tostring(s):find("session with 127") and not tostring(s):find("bearer"))`)
	if err != nil {
		t.Error(err)
	}
}
