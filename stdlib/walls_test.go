package stdlib_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"transect/client/fault"
	"transect/runtime/examples"
	"transect/runtime/luastd"
	"transect/runtime/module"
	"transect/runtime/sandbox"
	"transect/runtime/vm"
	"transect/stdlib"
)

// TestNoExampleReachesTheWorldWithoutAsking runs every documented example with
// everything refused: nothing may have happened then.
func TestNoExampleReachesTheWorldWithoutAsking(t *testing.T) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	go func() {
		for {
			c, err := proxy.Accept()
			if err != nil {
				return
			}
			t.Error("a connection was made")
			_ = c.Close()
		}
	}()
	own := []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "no_proxy", "SSL_CERT_FILE", "TRANSECT_STATE_DIR"}
	each := func(name, code string) {
		t.Run(name, func(t *testing.T) {
			state, dir := t.TempDir(), t.TempDir()
			env := func(name string) (string, bool) {
				if !slices.Contains(own, name) {
					t.Errorf("the variable %s was read", name)
				}
				switch name {
				case "HTTPS_PROXY", "HTTP_PROXY":
					return "http://" + proxy.Addr().String(), true
				case "TRANSECT_STATE_DIR":
					return state, true
				}
				return "", false
			}
			in := luastd.New(context.Background(), vm.Options{Dir: dir, Env: env, Permit: func(a sandbox.Access, what string) error {
				return fault.Of(&fault.PermissionError{}, "%s %s", a, what)
			}})
			module.Preload(in, stdlib.Modules()...)
			_, _ = in.RunString("example", code) // what it says is not the point
			in.Close()
			if made, _ := os.ReadDir(dir); len(made) > 0 {
				t.Errorf("it made %v", made)
			}
		})
	}
	for name, example := range examples.Of(stdlib.Examples) {
		each(name, example.Text())
	}
}

// outsideCalls are calls that bypass the sandbox. What is listed here is permitted
// by other means, or not for a script to choose.
var outsideCalls = []string{
	"fs.go os.Lstat",                                                                         // after Permit
	"internal/filetree/copy.go os.Stat",                                                      // after Permit
	"internal/keyvalue/keyvalue.go os.MkdirAll", "internal/keyvalue/keyvalue.go os.OpenFile", // after Permit
	"lock/lock.go os.MkdirAll", "lock/lock.go os.ReadFile", "lock/lock.go os.WriteFile", "lock/lock.go os.Remove", // below the state folder
	"web/web.go os.ReadFile",                     // after Permit, or the person's own SSL_CERT_FILE
	"web/web.go os.LookupEnv",                    // the default of Go callers
	"web/web.go net.Dialer",                      // each hop asks before
	"notify/mail.go net.Dialer",                  // asks before
	"notify/mail.go os.Hostname",                 // of the greeting
	"run.go os.MkdirTemp", "run.go os.RemoveAll", // run.dir without a run: a new folder, which scripts reach as any other
}

// TestModulesReachTheWorldThroughTheInterpreter finds new code that opens files,
// reads the environment, runs programs or connects by itself.
func TestModulesReachTheWorldThroughTheInterpreter(t *testing.T) {
	harmless := []string{"os.O_", "os.File", "os.DirEntry", "os.Root", "os.Err", "os.PathError", "os.LinkError", "syscall.Errno", "syscall.EXDEV", "syscall.ENOTDIR", "os.Signal", "os.SameFile", "os.DevNull", "os.IsNotExist", "os.PathSeparator", "os.Interrupt", "os.Getpid",
		"net.JoinHostPort", "net.SplitHostPort", "net.ParseIP", "net.Error", "net.IP", "net.OpError", "net.DNSError", "net.Conn", "net.ErrClosed"}
	var dirs []string
	for _, root := range []string{".", "../bindings"} {
		err := filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() || d.Name() == "internal" {
				return err
			}
			if d.Name() == "testdata" || d.Name() == "examples" {
				return filepath.SkipDir
			}
			dirs = append(dirs, dir)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range dirs {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(tree, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := s.X.(*ast.Ident)
				call := ""
				if ok {
					call = pkg.Name + "." + s.Sel.Name
				}
				outside := slices.Contains([]string{"os", "exec", "net", "syscall", "unix", "ioutil"}, pkgName(pkg)) ||
					slices.Contains([]string{"http.Get", "http.Post", "http.PostForm", "http.Head", "http.DefaultClient", "http.Client", "filepath.WalkDir", "filepath.Walk", "filepath.Glob", "doublestar.FilepathGlob", "smtp.Dial", "smtp.SendMail"}, call)
				if !outside || slices.ContainsFunc(harmless, func(h string) bool { return strings.HasPrefix(call, h) }) ||
					slices.Contains(outsideCalls, filepath.ToSlash(file)+" "+call) {
					return true
				}
				t.Errorf("%s uses %s: go through the interpreter (Interp.Open, ReadFile, Stat, Folder, MakeFolder, Remove, Env), or ask Permit and add it to outsideCalls with the reason", file, call)
				return true
			})
		}
	}
}

func pkgName(ident *ast.Ident) string {
	if ident == nil {
		return ""
	}
	return ident.Name
}
