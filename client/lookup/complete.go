package lookup

import (
	"context"
	"fmt"
	"strings"
)

// Complete lists up to most names that begin with a word: of projects, missions, analytics,
// products (their ids), or paths PROJECT and PROJECT/MISSION.
func (f Finder) Complete(ctx context.Context, what, word string, most int) (names []string, err error) {
	switch what {
	case "projects", "analytics":
		return f.beginning(ctx, strings.TrimSuffix(what, "s"), word, nil, most)
	case "missions":
		if names, err = f.beginning(ctx, "mission", word, nil, most); err != nil {
			return names, err
		}
	case "products":
		found, err := f.search(ctx, "product", map[string]any{"sort": map[string]any{"creation_date": -1}, "limit": most})
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if strings.HasPrefix(p.ID(), word) {
				names = append(names, fmt.Sprintf("%s\t%s %s", p.ID(), p.get("status"), p.get("creation_date")))
			}
		}
	}
	paths, err := f.paths(ctx, word, most)
	return append(names, paths...), err
}

// paths lists projects that begin with a word, or, after a slash, missions of a project.
func (f Finder) paths(ctx context.Context, word string, most int) ([]string, error) {
	names, err := f.beginning(ctx, "project", word, nil, most)
	head, tail, ok := strings.Cut(word, "/")
	if err != nil || len(names) > 0 || !ok {
		return names, err
	}
	found, err := f.byName(ctx, "project", head, nil)
	if err != nil || len(found) != 1 {
		return nil, err
	}
	names, err = f.beginning(ctx, "mission", tail, equal("project", found[0].ID()), most)
	for i := range names {
		names[i] = head + "/" + names[i]
	}
	return names, err
}

// beginning lists names of a kind that begin with a word.
func (f Finder) beginning(ctx context.Context, kind, word string, within map[string]any, most int) (names []string,
	err error) {
	filter := within
	if word != "" {
		filter = both(within, map[string]any{"name": map[string]any{"$match": word}})
	}
	query := map[string]any{"sort": map[string]any{"name": 1}, "limit": most}
	if filter != nil {
		query["filter"] = filter
	}
	found, err := f.search(ctx, kind, query)
	seen := map[string]bool{}
	for _, r := range found {
		if name := r.Name(); strings.HasPrefix(name, word) && !seen[name] {
			names, seen[name] = append(names, name), true
		}
	}
	return names, err
}
