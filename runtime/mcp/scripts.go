package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"transect/client/atomicfile"
	"transect/client/fault"
	"transect/client/human"
	"transect/runtime/reference"
	"transect/scripts"
)

// Schemes of the resources.
const (
	ofCookbook = "transect://cookbook/"
	ofFolder   = "transect://scripts/"
	lua        = "text/x-lua"
)

// script returns the argument that names a script on the command line. A source is stored next to the plans
// made from it.
func (s *server) script(in scriptInput) (string, error) {
	switch {
	case (in.Source == "") == (in.Script == ""):
		return "", errors.New("give one of script and source")
	case len(in.Source) > maxSource:
		return "", fmt.Errorf("a script may have %s", human.Size(maxSource))
	case in.Source != "":
		sum := sha256.Sum256([]byte(in.Source))
		file := filepath.Join(s.plans(), "script-"+hex.EncodeToString(sum[:6])+".lua")
		return file, atomicfile.Write(file, []byte(in.Source), 0o600)
	case scripts.IsRef(in.Script):
		if _, ok := scripts.Find(in.Script); !ok {
			return "", fmt.Errorf("there is no command %s", human.Line(in.Script))
		}
		return in.Script, nil
	}
	if _, err := s.read(in.Script); err != nil {
		return "", err
	}
	return filepath.Clean(in.Script), nil
}

// read reads a script in the folder, and no other file.
func (s *server) read(name string) (string, error) {
	if filepath.Ext(name) != ".lua" {
		return "", fmt.Errorf("%s is not a script: its name ends in .lua", human.Line(name))
	}
	folder, err := os.OpenRoot(s.Folder)
	if err != nil {
		return "", err
	}
	defer folder.Close()
	f, err := folder.Open(name)
	if err != nil {
		return "", fmt.Errorf("cannot read %s in the folder of the scripts: %w", human.Line(name), fault.Reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource+1))
	if len(text) > maxSource {
		return "", fmt.Errorf("%s is larger than %s", human.Line(name), human.Size(maxSource))
	}
	return string(text), err
}

// addResources adds the cookbook and the scripts of the folder.
func (s *server) addResources(m *mcp.Server) error {
	for _, recipe := range reference.Recipes() {
		uri := ofCookbook + strings.TrimPrefix(recipe.Name, "cookbook.")
		m.AddResource(&mcp.Resource{URI: uri, Name: recipe.Name, Title: recipe.Title, MIMEType: lua},
			func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return text(uri, recipe.Text), nil
			})
	}
	own := func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		source, err := s.read(strings.TrimPrefix(req.Params.URI, ofFolder))
		if err != nil {
			return nil, err
		}
		return text(req.Params.URI, source), nil
	}
	m.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: ofFolder + "{+path}", Name: "script", MIMEType: lua,
		Description: "a script of the folder"}, own)
	names, err := fs.Glob(os.DirFS(s.Folder), "*.lua")
	for _, name := range names {
		m.AddResource(&mcp.Resource{URI: ofFolder + name, Name: name, MIMEType: lua}, own)
	}
	return errors.Join(err, os.MkdirAll(s.plans(), 0o700))
}

func text(uri, text string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: lua, Text: text}}}
}
