package client

import (
	"path"
	"slices"

	"transect/client/declare"
	"transect/client/schema"
)

// The interface exists in three revisions; 1 is the newest and the default, 3
// the oldest. A connection of an older one takes the arguments and uses the
// defaults that scripts of its time were written for; an argument or an operation
// that the revision lacks is refused. Two things are as in revision 1: the
// routes, because services of today no longer know the old ones, and what answers
// and errors have more than they had, because it does no harm.
//
// Input structs have the arguments of all revisions, so that Go programs can
// use each. What the connection's revision lacks is not sent.
const oldestRevision = 3

// adjustment is how some revisions differ from the declarations. Operations are
// patterns, * standing for any part of a name.
type adjustment struct {
	revisions  []int
	operations []string
	adjust     func(*declare.Spec)
}

var adjustments = []adjustment{
	{in(2, 3), of("analytics.create"), without("container_credentials_name", "credentials")},

	{in(1, 3), of("credentials.create"), without("credentials_type")},
	{in(2), of("credentials.create"), without("company", "labels")},

	{in(3), of("datasets.create_*"), without("company", "parse_metadata")},
	{in(3), of("datasets.create_*_dataset"), needing("project")}, // no company can take its place
	{in(1, 2), of("datasets.share_tiles"), without("company")},
	{in(3), of("datasets.share_tiles"), describing("dataset", "raster, or vector: one")},
	{in(3), of("datasets.download_preview"), without("kind")},

	{in(3), of("annotations.search", "annotations.search_generator"), startingAt(0)},
}

// withdrawals are the operations that older revisions lack.
var withdrawals = []struct {
	revisions  []int
	operations []string
}{
	{in(2, 3), of("analytics.assign_credentials", "analytics.unassign_credentials", "analytics.set_container_credentials",
		"credentials.set_credentials", "credentials.set_labels")},
	{in(2), of("comments.*", "missions.complete_survey_upload")},
	{in(3), of("carriers.*", "carrier_models.*")},
}

// lacking returns an argument of the entry point that was given and the revision lacks, or "".
func (s Settings) lacking() string {
	for argument, revisions := range map[string][]int{"force_prompt": in(3), "service": in(3), "access_token": in(2)} {
		if slices.Contains(revisions, s.Revision) && slices.Contains(s.Given, argument) {
			return argument
		}
	}
	return ""
}

func in(revisions ...int) []int        { return revisions }
func of(operations ...string) []string { return operations }

func without(arguments ...string) func(*declare.Spec) {
	return func(s *declare.Spec) {
		s.Params = slices.DeleteFunc(s.Params, func(p schema.Param) bool { return slices.Contains(arguments, p.Name) })
		s.Absent = append(s.Absent, arguments...)
	}
}

func needing(argument string) func(*declare.Spec) {
	return func(s *declare.Spec) { s.Param(argument).Optional = false }
}

func describing(argument, doc string) func(*declare.Spec) {
	return func(s *declare.Spec) { s.Param(argument).Doc = doc }
}

func startingAt(page int) func(*declare.Spec) {
	return func(s *declare.Spec) { s.FirstPage = page }
}

// revise turns the operations of a manager, as they were declared, into those for the connection's revision.
func (c *Client) revise(m *declare.Manager, ops []*declare.Spec) []*declare.Spec {
	revision := c.Revision()
	for _, w := range withdrawals {
		if !slices.Contains(w.revisions, revision) {
			continue
		}
		for _, pattern := range w.operations {
			ops = slices.DeleteFunc(ops, func(s *declare.Spec) bool {
				lacks, _ := path.Match(pattern, s.FullName()) // the patterns above are well formed
				if lacks {
					m.Absent = append(append(m.Absent, s.Name), s.Aliases...)
				}
				return lacks
			})
		}
	}
	for _, a := range adjustments {
		if !slices.Contains(a.revisions, revision) {
			continue
		}
		for _, pattern := range a.operations {
			for _, s := range ops {
				if ok, _ := path.Match(pattern, s.FullName()); ok {
					a.adjust(s)
				}
			}
		}
	}
	return ops
}
