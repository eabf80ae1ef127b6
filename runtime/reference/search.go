package reference

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"transect/client/fault"
)

// hit is a name whose documentation contains the words of a search.
type hit struct {
	name, doc string
	score     int
}

// Search lists everything with all the words in its documentation: managers, operations, arguments, modules,
// functions, guides, recipes, records and their fields. Matches in names come first.
func (r *Reference) Search(words []string) (*Document, error) {
	words = strings.Fields(strings.Join(words, " ")) // however they were quoted
	var hits []hit
	look := func(name, doc string, texts ...string) {
		all := strings.ToLower(name + " " + doc + " " + strings.Join(texts, " "))
		score := 0
		for _, word := range words {
			word = strings.ToLower(word)
			switch {
			case strings.Contains(strings.ToLower(name), word):
				score += 4
			case strings.Contains(strings.ToLower(doc), word):
				score += 2
			case strings.Contains(all, word):
				score++
			default:
				return
			}
		}
		hits = append(hits, hit{name, doc, score})
	}
	for _, p := range r.Pages {
		look(p.Name, p.Title, p.Text)
		if p.Record != nil {
			for _, f := range p.Record.Fields {
				look(p.Name+"."+f.Name, fieldMeaning(f), f.Wire)
			}
		}
	}
	for _, g := range r.Groups() {
		look(g.Name, summary(g.Doc), g.Doc, strings.Join(g.Aliases, " "))
		for _, e := range g.Entries() {
			texts := []string{e.Doc, e.Returns, strings.Join(e.Aliases, " "), strings.Join(e.Paths, " ")}
			for _, p := range e.Parameters {
				texts = append(texts, parameterTexts(p)...)
			}
			look(e.FullName(), summary(e.Doc), texts...)
		}
	}
	if len(hits) == 0 {
		return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "nothing in the reference contains %s",
			strings.Join(words, " and ")), "try one word, or another one; transect doc lists all names")
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Compare(b.score, a.score) })
	found := section{title: fmt.Sprintf("%d found", len(hits))}
	for _, h := range hits {
		found.rows = append(found.rows, []string{h.name, h.doc})
	}
	d := &Document{}
	d.add(found)
	d.add(section{title: "Details", text: "transect doc NAME"})
	return d, nil
}

func parameterTexts(p Parameter) []string {
	texts := []string{p.Name, p.Doc, strings.Join(p.Choices, " ")}
	for _, o := range p.Options {
		texts = append(texts, parameterTexts(o)...)
	}
	return texts
}
