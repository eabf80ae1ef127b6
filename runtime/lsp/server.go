// Package lsp is the language server: it gives editors the findings of transect check, the meanings of names,
// and completions, over the Language Server Protocol.
//
// It only adapts other packages: mistakes, variables and types come from package lint, documentation from
// package reference, completion from package complete, formatting from package luafmt. Begin reading with
// Server.handle.
package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sourcegraph/jsonrpc2"

	"transect/client/regular"
	"transect/runtime/lint"
	"transect/runtime/luafmt"
	"transect/runtime/module"
	"transect/runtime/reference"
)

// Server serves one editor.
type Server struct {
	Version string
	Log     io.Writer
	// Module returns the file of a module that a script requires, "" when there is none.
	Module func(script, module string) string

	checker   *lint.Checker
	reference *reference.Reference
	folders   []string
	open      map[string]*document // by URI
	started   bool
	ended     bool // shutdown was requested
}

// New returns a server. The checker resolves modules; see reference.New.
func New(checker *lint.Checker, more ...*module.Module) *Server {
	return &Server{checker: checker, reference: reference.New(more...), open: map[string]*document{}, Log: io.Discard}
}

// Serve serves an editor until it closes the connection. It reports whether the editor requested the
// shutdown.
func (s *Server) Serve(ctx context.Context, stream io.ReadWriteCloser) bool {
	conn := jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(stream, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(s.safely).SuppressErrClosed(), jsonrpc2.SetLogger(log.New(s.Log, "", 0)))
	select {
	case <-conn.DisconnectNotify():
	case <-ctx.Done():
		_ = conn.Close()
	}
	return s.ended
}

// safely answers a message. A bug in the server must not end the editor's session.
func (s *Server) safely(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (result any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &jsonrpc2.Error{Code: jsonrpc2.CodeInternalError, Message: fmt.Sprintf("%s failed: %v", req.Method, p)}
		}
	}()
	return s.handle(ctx, conn, req)
}

// Error codes of the protocol that JSON-RPC lacks.
const (
	codeNotInitialized = -32002
	codeRequestFailed  = -32803
)

func refused(code int64, format string, args ...any) error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

func (s *Server) handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	var p params
	if req.Params != nil {
		if err := json.Unmarshal(*req.Params, &p); err != nil {
			return nil, refused(jsonrpc2.CodeInvalidParams, "%v", err)
		}
	}
	switch {
	case req.Method == "exit":
		return nil, conn.Close()
	case req.Method == "initialize":
		return s.initialize(p), nil
	case !s.started:
		return nil, refused(codeNotInitialized, "the editor has not sent initialize")
	case s.ended:
		return nil, refused(jsonrpc2.CodeInvalidRequest, "the editor has sent shutdown")
	}
	switch req.Method {
	case "shutdown":
		s.ended = true
		return nil, nil
	case "textDocument/didOpen":
		uri := p.TextDocument.URI
		s.open[uri] = newDocument(uri, s.scriptPath(uri), p.TextDocument.Version, []byte(p.TextDocument.Text))
		return nil, s.publish(ctx, conn, s.open[uri])
	case "textDocument/didClose":
		delete(s.open, p.TextDocument.URI)
		return nil, conn.Notify(ctx, "textDocument/publishDiagnostics", published{p.TextDocument.URI, nil, []diagnostic{}})
	case "textDocument/didSave", "workspace/didChangeWatchedFiles": // modules may have been added or removed
		for _, d := range s.open {
			d.script = nil
			if err := s.publish(ctx, conn, d); err != nil {
				return nil, err
			}
		}
		return nil, nil
	case "workspace/didChangeWorkspaceFolders":
		s.folders = slices.DeleteFunc(s.folders, func(path string) bool {
			return slices.Contains(p.Event.Removed, folder{uriOf(path)})
		})
		s.add(p.Event.Added)
		return nil, nil
	}
	answer, ok := map[string]func(*document, params) (any, error){
		"textDocument/didChange": func(d *document, p params) (any, error) {
			for _, c := range p.ContentChanges {
				d.edit(c)
			}
			d.version = p.TextDocument.Version
			return nil, s.publish(ctx, conn, d)
		},
		"textDocument/hover":         s.hover,
		"textDocument/signatureHelp": s.signature,
		"textDocument/completion":    s.complete,
		"textDocument/definition":    s.definition,
		"textDocument/references":    s.references,
		"textDocument/prepareRename": s.prepareRename,
		"textDocument/rename":        s.rename,
		"textDocument/formatting":    s.format,
	}[req.Method]
	d := s.open[p.TextDocument.URI]
	switch {
	case !ok && (req.Notif || strings.HasPrefix(req.Method, "$/")):
		return nil, nil
	case !ok:
		return nil, refused(jsonrpc2.CodeMethodNotFound, "the method %s is not supported", req.Method)
	case d == nil:
		return nil, refused(jsonrpc2.CodeInvalidParams, "the document %s is not open", p.TextDocument.URI)
	}
	return answer(d, p)
}

func (s *Server) initialize(p params) any {
	s.started = true
	if len(p.WorkspaceFolders) == 0 && p.RootURI != "" {
		p.WorkspaceFolders = []folder{{p.RootURI}}
	}
	s.add(p.WorkspaceFolders)
	return object{"capabilities": capabilities, "serverInfo": object{"name": "transect", "version": s.Version}}
}

func (s *Server) add(folders []folder) {
	for _, f := range folders {
		if path := pathOf(f.URI); path != "" {
			s.folders = append(s.folders, path)
		}
	}
}

// scriptPath returns the path of a document; a new one is assumed to be in the first folder.
func (s *Server) scriptPath(uri string) string {
	if path := pathOf(uri); path != "" || len(s.folders) == 0 {
		return path
	}
	return filepath.Join(s.folders[0], "untitled.lua")
}

// analysed returns a document after checking it.
func (s *Server) analysed(d *document) *document {
	if d.script == nil {
		d.script = s.checker.Analyse(d.path, d.text)
	}
	return d
}

// document returns the document with a path, open or not, or nil.
func (s *Server) document(path string) *document {
	for _, d := range s.open {
		if d.path == path {
			return s.analysed(d)
		}
	}
	text, err := regular.Read(path, maxFile)
	if err != nil {
		fmt.Fprintln(s.Log, "cannot read a script:", err)
		return nil
	}
	return s.analysed(newDocument(uriOf(path), path, 0, text))
}

// Limits of the scripts searched for references.
const (
	maxFiles = 2000
	maxFile  = 1 << 20  // bytes per file
	maxTexts = 16 << 20 // total bytes; their analysis takes many times as much
)

// documents returns the scripts of the workspace, and the open ones.
func (s *Server) documents() (list []*document) {
	paths, texts := map[string]bool{}, 0
	for _, d := range s.open {
		paths[d.path] = true
		list = append(list, s.analysed(d))
	}
	for _, root := range s.folders {
		root += string(filepath.Separator) // follows a link
		_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil: // others can be read
				fmt.Fprintln(s.Log, "cannot read a folder:", err)
			case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			case len(paths) == maxFiles || texts > maxTexts:
				return fs.SkipAll
			case !entry.IsDir() && filepath.Ext(path) == ".lua" && !strings.HasPrefix(entry.Name(), ".") && !paths[path]:
				paths[path] = true
				if d := s.document(path); d != nil {
					list, texts = append(list, d), texts+len(d.text)
				}
			}
			return nil
		})
	}
	slices.SortFunc(list, func(a, b *document) int { return strings.Compare(a.path, b.path) })
	return list
}

// warnings lists rules whose violations may be intended.
var warnings = []string{lint.UnusedVariable, lint.UnusedValue, lint.AssignedGlobal, lint.Unreachable, lint.SameAlways,
	lint.Hidden, lint.DuplicateKey}

// publish sends the problems of a document.
func (s *Server) publish(ctx context.Context, conn *jsonrpc2.Conn, d *document) error {
	list := []diagnostic{}
	for _, p := range s.analysed(d).script.Problems {
		text := p.Message
		if p.Hint != "" {
			text += " (" + p.Hint + ")"
		}
		found := diagnostic{Range: d.token(p.Line, p.Column), Severity: severityError, Code: p.Rule, Source: "transect",
			Message: text}
		if slices.Contains(warnings, p.Rule) {
			found.Severity = severityWarning
		}
		if p.Rule == lint.UnusedVariable || p.Rule == lint.Unreachable {
			found.Tags = []int{tagUnnecessary}
		}
		list = append(list, found)
	}
	return conn.Notify(ctx, "textDocument/publishDiagnostics", published{d.uri, &d.version, list})
}

func (s *Server) format(d *document, _ params) (any, error) {
	text, err := luafmt.Source(d.path, d.text)
	if err != nil {
		return nil, refused(codeRequestFailed, "not formatted: %v", err)
	}
	if string(text) == string(d.text) {
		return []textEdit{}, nil
	}
	end := d.position(len(d.lines), len(d.line(len(d.lines)-1))+1)
	return []textEdit{{span{End: end}, string(text)}}, nil
}
