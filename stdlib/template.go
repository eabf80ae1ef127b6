package stdlib

import (
	lua "github.com/yuin/gopher-lua"

	"transect/client/fault"
	"transect/runtime/module"
	"transect/runtime/vm"
	"transect/stdlib/internal/mustache"
)

var (
	templateOptions = module.Param{Name: "options", Fields: []module.Param{
		{Name: "escape", Type: "string", Doc: "how values are escaped; {{{name}}} and {{&name}} never are", Default: "none",
			Choices: mustache.Escapes},
		{Name: "missing", Type: "string", Doc: "what a missing value does", Default: "error",
			Choices: []string{"error", "empty"}},
		{Name: "partials", Type: "table", Doc: "templates by name, for {{> name}}", Optional: true},
	}}
	templateValues = module.Param{Name: "values", Type: "any", Doc: "a table or resource with the values"}
)

var templateType = &module.Type{
	Name: "template", Doc: "A parsed template.",
	Methods: []module.Func{{
		Name: "render", Doc: "Renders the template.", Params: []module.Param{templateValues}, Returns: "the text",
		Call: func(c *module.Call) (any, error) { return c.Self.(*textTemplate).render(c) },
	}},
}

var templateModule = &module.Module{
	Name: "template",
	Doc: "Renders Mustache templates: {{name}} or {{a.b}} is a value, {{.}} the current one, {{{name}}} one without " +
		"escaping, {{name|%.2f}} one by a format of string.format; " +
		"{{#list}}…{{/list}} repeats for a list or iterator, goes into a table, or shows for what is true; " +
		"{{^list}}…{{/list}} shows for what is empty, false or missing; " +
		"{{> name}} is another template; {{! a comment }}. Lines that hold only such a tag leave no empty line.",
	Types: []*module.Type{templateType},
	Lazy:  templateFuncs,
}

func templateFuncs() []module.Func {
	return []module.Func{
		{
			Name: "render", Doc: "Renders a template. A missing value is a KeyError with its line.",
			Params: []module.Param{{Name: "text", Type: "string", Doc: "the template"}, templateValues,
				templateOptions}, Returns: "the text",
			Call: func(c *module.Call) (any, error) { return compileTemplate(c, c.String("text")).render(c) },
		},
		{
			Name: "compile", Doc: "Parses a template for repeated use.",
			Params: []module.Param{{Name: "text", Type: "string", Doc: "the template"}, templateOptions}, Returns: "a template",
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, templateType, compileTemplate(c, c.String("text"))), nil
			},
		},
		{
			Name: "load", Doc: "Reads a template from a file.",
			Params: []module.Param{pathParam("the file"), templateOptions}, Returns: "a template",
			Call: func(c *module.Call) (any, error) {
				return module.NewObject(c.L, templateType, compileTemplate(c, string(atPath(c, c.In.ReadFile)))), nil
			},
		},
	}
}

// textTemplate is a parsed template.
type textTemplate struct {
	pieces   []mustache.Piece
	partials map[string][]mustache.Piece
	escape   string
	strict   bool
}

const longestTemplate = 64 << 20

// compileTemplate parses a template and its partials.
func compileTemplate(c *module.Call, text string) *textTemplate {
	vm.Grow(c.L, 16*len(text)) // it may consist of tags only
	pieces, err := mustache.Parse(text)
	t := &textTemplate{pieces: pieces, escape: c.String("escape"), strict: c.String("missing") == "error",
		partials: map[string][]mustache.Piece{}}
	if list := c.Table("partials"); list != nil {
		list.ForEach(func(k, v lua.LValue) {
			if err != nil {
				return
			}
			if v.Type() != lua.LTString {
				err = fault.Of(&fault.ParameterError{}, "the partial %s must be a string, got a %s", k, v.Type())
			} else if t.partials[k.String()], err = mustache.Parse(v.String()); err != nil {
				err = fault.Of(&fault.ValueError{}, "in the partial %s: %w", k, err)
			}
		})
	}
	if err != nil {
		c.Raise(err)
	}
	return t
}
