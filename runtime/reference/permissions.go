package reference

import (
	"slices"
	"strings"

	"transect/client/declare"
)

// Permission lists the operations that a rule of permissions covers.
type Permission struct {
	Records string   `json:"records"` // the manager's name
	Verb    string   `json:"verb"`
	Allows  []string `json:"allows"`           // operations that --allow ops=RECORDS.VERB allows, --deny denies
	Denies  []string `json:"denies,omitempty"` // further ones that --deny ops=RECORDS.VERB denies
}

// permissionsPage is the name of the page about rules of operations.
const permissionsPage = "permissions"

func newPermissionsPage() *Page {
	return &Page{Name: permissionsPage, Title: "permissions: what the rules of operations cover", Text: `
A rule of --allow ops=RULE and --deny ops=RULE is RECORDS.VERB, what is done to which records, or the name of an
operation. An asterisk matches any characters:

    transect run --deny ops=*.delete survey.lua
    transect run --sandbox --allow read=flight,ops=*.read survey.lua

- read: changes nothing on the platform; includes search, which lists records, and describe, which returns them by id
- create: makes records
- change: sets or adds something in records
- delete: removes records, or something from them: properties, categories, attachments, assignments, tokens

The tables list the operations that each rule covers. Denying it also refuses those after "denied too", because they
do the same or more: a search returns what describe returns, as does a change that answers with the record; deleting
a project deletes its datasets.

Denying one operation refuses all that do the same: projects.search and projects.search_generator, for example.
Allowing one operation allows only that operation, or a search with its generator. The steps of an allowed operation
are allowed, unless a rule denies them. To submit jobs, a script needs jobs.submit.`[1:]}
}

// permissions lists, for each kind of record, the operations that its rules cover.
func (r *Reference) permissions() (all []Permission) {
	allows, denies := map[string][]string{}, map[string][]string{}
	for _, g := range r.Managers {
		for _, e := range g.Operations {
			allowed := e.Spec.AllowedBy()
			for _, name := range e.Spec.DeniedBy() {
				if slices.Contains(allowed, name) {
					allows[name] = append(allows[name], e.FullName())
				} else {
					denies[name] = append(denies[name], e.FullName())
				}
			}
		}
	}
	for _, g := range r.Managers {
		for _, verb := range declare.Verbs {
			if name := g.Name + "." + string(verb); allows[name] != nil || denies[name] != nil {
				all = append(all, Permission{g.Name, string(verb), allows[name], denies[name]})
			}
		}
	}
	return all
}

// permissionSections returns tables of rules, one per kind of record.
func permissionSections(permissions []Permission) (sections []section) {
	for _, p := range permissions {
		if len(sections) == 0 || sections[len(sections)-1].title != p.Records {
			sections = append(sections, section{title: p.Records})
		}
		short := func(operations []string) string {
			return strings.ReplaceAll(" "+strings.Join(operations, ", "), " "+p.Records+".", " ")[1:]
		}
		last := &sections[len(sections)-1]
		row := []string{p.Verb, short(p.Allows)}
		if len(p.Denies) > 0 {
			row[1] = strings.TrimPrefix(row[1]+"; denied too: "+short(p.Denies), "; ")
		}
		last.rows = append(last.rows, row)
	}
	return sections
}
