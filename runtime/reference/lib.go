package reference

import (
	"regexp"
	"strings"

	"transect/scripts"
)

// lib is the page that lists the modules written in Lua, and the prefix of their names.
const lib = "lib"

// LuaFunction is a function of a module written in Lua, with the comment above it.
type LuaFunction struct {
	Signature string `json:"signature"`
	Doc       string `json:"doc"`
}

// libPages returns the page of built-in modules written in Lua, and a page for each, read from their
// comments.
func libPages() []*Page {
	// Compiled here: every start of the program would pay for it.
	commentLines := regexp.MustCompile(`^(?:--.*\n)+`)
	luaFunction := regexp.MustCompile(`(?m)^((?:-- .*\n)+)(?:function )?(\w+)\.(\w+)(\([^)]*\)| = )`)
	list := &Page{Name: lib, Title: "Modules written in Lua",
		Text: "Modules that the everyday commands are made of. Any script can require them: require(\"lib.find\")."}
	pages := []*Page{list}
	for _, name := range scripts.Modules() {
		_, code := scripts.Module(name)
		page := &Page{Name: name, Title: "module " + name, Text: plainComment(commentLines.FindString(string(code)))}
		list.Functions = append(list.Functions, LuaFunction{name, page.Text})
		pages = append(pages, page)
		for _, m := range luaFunction.FindAllStringSubmatch(string(code), -1) {
			f := LuaFunction{name + "." + m[3] + strings.TrimSuffix(m[4], " = "), aboutFunction(m[3], m[1])}
			page.Functions = append(page.Functions, f)
			pages = append(pages, &Page{Name: name + "." + m[3], Title: f.Signature, Text: f.Doc})
		}
	}
	return pages
}

// plainComment returns the text of comment lines as one paragraph.
func plainComment(lines string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll("\n"+lines, "\n--", " ")), " ")
}

// aboutFunction returns a comment without the leading name.
func aboutFunction(name, lines string) string {
	text := strings.TrimPrefix(plainComment(lines), name+" ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// libMarkdown returns the page lib.md: the modules with their functions.
func (r *Reference) libMarkdown() string {
	page := r.page(lib).Document().markdown(1)
	for _, name := range scripts.Modules() {
		page += "\n" + r.page(name).Document().markdown(2)
	}
	return page
}

// functionsSection returns a table of functions, each with the first sentence of its comment.
func functionsSection(functions []LuaFunction) section {
	s := section{title: "Functions"}
	for _, f := range functions {
		s.rows = append(s.rows, []string{f.Signature, summary(f.Doc)})
	}
	return s
}
