package lsp

// The messages of the Language Server Protocol 3.17, as far as the server uses them: the Go package of the
// protocol, go.lsp.dev/protocol, has not been released since 2022.
// https://microsoft.github.io/language-server-protocol

type position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in units of UTF-16
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
	Tags     []int  `json:"tags,omitempty"`
}

// The severities and the tag of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
	tagUnnecessary  = 1
)

type published struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type folder struct {
	URI string `json:"uri"`
}

// params holds the parameters of all methods; each has some of them.
type params struct {
	RootURI          string   `json:"rootUri"`
	WorkspaceFolders []folder `json:"workspaceFolders"`
	TextDocument     struct {
		URI     string `json:"uri"`
		Version int    `json:"version"`
		Text    string `json:"text"`
	} `json:"textDocument"`
	ContentChanges []change `json:"contentChanges"`
	Position       position `json:"position"`
	NewName        string   `json:"newName"`
	Context        struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
	Event struct {
		Added   []folder `json:"added"`
		Removed []folder `json:"removed"`
	} `json:"event"`
}

type change struct {
	Range *span  `json:"range"` // nil replaces the whole text
	Text  string `json:"text"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

func markdown(text string) *markup { return &markup{"markdown", text} }

type hover struct {
	Contents *markup `json:"contents"`
	Range    span    `json:"range"`
}

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	TextEdit      *textEdit `json:"textEdit"`
}

// The kinds of completions.
const (
	kindFunction = 3
	kindField    = 5
	kindVariable = 6
	kindModule   = 9
	kindProperty = 10
	kindValue    = 12
	kindKeyword  = 14
	kindFile     = 17
)

type signatureHelp struct {
	Signatures      []signature `json:"signatures"`
	ActiveParameter int         `json:"activeParameter"`
}

type signature struct {
	Label         string          `json:"label"`
	Documentation *markup         `json:"documentation,omitempty"`
	Parameters    []parameterInfo `json:"parameters"`
}

type parameterInfo struct {
	Label         string  `json:"label"`
	Documentation *markup `json:"documentation,omitempty"`
}

type workspaceEdit struct {
	Changes map[string][]textEdit `json:"changes"`
}

type object = map[string]any

// capabilities lists the features of the server.
var capabilities = object{
	"textDocumentSync":           object{"openClose": true, "change": 2, "save": true}, // 2: incremental changes
	"hoverProvider":              true,
	"definitionProvider":         true,
	"referencesProvider":         true,
	"documentFormattingProvider": true,
	"renameProvider":             object{"prepareProvider": true},
	"completionProvider":         object{"triggerCharacters": []string{".", ":", "{", ",", "\"", "'", "/"}},
	"signatureHelpProvider":      object{"triggerCharacters": []string{"(", "{", ","}},
	"workspace":                  object{"workspaceFolders": object{"supported": true, "changeNotifications": true}},
}
