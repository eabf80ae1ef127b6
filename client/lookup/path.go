package lookup

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"transect/client/fault"
	"transect/client/suggest"
)

// Place is a project, or one of its missions.
type Place struct {
	Project, Mission       *Record
	NewProject, NewMission string // names of records to be created
}

// Target finds PROJECT or PROJECT/MISSION, by the id of either, or by a unique name of a mission.
// If opts allow it, the place has the names of missing records.
func (f Finder) Target(ctx context.Context, text string, opts Options) (place Place, err error) {
	text = strings.TrimRight(text, "/")
	if text == "" {
		return place, fault.Hinted(fault.Of(&fault.UsageError{}, "the name of a project is missing"),
			"such as: North quarry/May survey")
	}
	if IsID(text) {
		found, err := f.byID(ctx, text, "project", "mission")
		if err == nil && found == nil {
			err = fault.Of(&fault.UsageError{}, "no project or mission has the id %s", text)
		}
		if err != nil {
			return place, err
		}
		return f.placeOf(ctx, found)
	}
	project, rest, err := f.within(ctx, text)
	switch {
	case err != nil:
		return place, err
	case project == nil:
		return f.newProject(ctx, text, opts)
	case rest == "":
		return Place{Project: project}, nil
	}
	place.Project = project
	if opts.MissingOK {
		found, err := f.byName(ctx, "mission", rest, equal("project", project.ID()))
		if err != nil || len(found) == 0 && !IsID(rest) {
			place.NewMission = rest
			return place, err
		}
	}
	place.Mission, err = f.Mission(ctx, project, rest, opts.Otherwise)
	return place, err
}

// placeOf returns the place of a project or mission.
func (f Finder) placeOf(ctx context.Context, r *Record) (Place, error) {
	if r.Kind == "project" {
		return Place{Project: r}, nil
	}
	project, err := f.byID(ctx, r.get("project"), "project")
	return Place{Project: project, Mission: r}, err
}

// newProject returns the place for a path whose project does not exist.
func (f Finder) newProject(ctx context.Context, text string, opts Options) (place Place, err error) {
	if err := refuseFilePath(text); err != nil {
		return place, err
	}
	first, rest, _ := strings.Cut(strings.TrimLeft(text, "/"), "/")
	if opts.MissingOK {
		return Place{NewProject: first, NewMission: rest}, nil
	}
	missions, err := f.byName(ctx, "mission", text, nil)
	if err != nil {
		return place, err
	}
	if len(missions) == 0 {
		return place, f.notFound(ctx, missing{kind: "project", name: first, otherwise: opts.Otherwise})
	}
	mission, err := f.single(ctx, missions, missing{kind: "mission", name: text})
	if err != nil {
		return place, err
	}
	return f.placeOf(ctx, mission)
}

var filePath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\.\.?(/|$)|[/~]|[A-Za-z]:[/\\]|\\\\)`)
})

// refuseFilePath returns an error for a file path in place of a project, which is a slip.
func refuseFilePath(text string) error {
	if !filePath().MatchString(text) {
		return nil
	}
	return fault.Hinted(fault.Of(&fault.UsageError{}, "%s is a path of files, not PROJECT[/MISSION]", text),
		"name the project that the files belong to, such as 'North quarry' or 'North quarry/May survey'")
}

// splits splits a path at each slash, the longest head first, because names may contain slashes.
func splits(text string, yield func(head, tail string) bool) {
	for i := len(text) - 2; i > 0; i-- {
		if text[i] == '/' && !yield(text[:i], text[i+1:]) {
			return
		}
	}
}

// within finds the project at the start of a path, and the rest of the path. The project is nil if
// there is none.
func (f Finder) within(ctx context.Context, text string) (project *Record, rest string, err error) {
	try := func(head, tail string) bool {
		if project, err = f.byID(ctx, head, "project"); project != nil || err != nil {
			rest = tail
			return false
		}
		var found []*Record
		if found, err = f.byName(ctx, "project", head, nil); err == nil && len(found) > 0 {
			rest = tail
			project, err = f.single(ctx, found, missing{kind: "project", name: head})
		}
		return project == nil && err == nil
	}
	if try(text, "") {
		splits(text, try)
	}
	return project, rest, err
}

// AnyMission finds a mission by its path, its id, or a unique name.
func (f Finder) AnyMission(ctx context.Context, text string) (*Record, error) {
	if !IsID(text) {
		found, err := f.byName(ctx, "mission", text, nil)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 || !strings.Contains(text, "/") {
			return f.single(ctx, found, missing{kind: "mission", name: text})
		}
	}
	place, err := f.Target(ctx, text, Options{})
	if err == nil && place.Mission == nil {
		err = fault.Hinted(fault.Of(&fault.UsageError{}, "%s is a project, not a mission", place.Project.Name()),
			"give PROJECT/MISSION")
	}
	return place.Mission, err
}

// Any finds a record of any kind, for an analytic its highest version.
func (f Finder) Any(ctx context.Context, text string) (*Record, error) {
	if IsID(text) {
		found, err := f.byID(ctx, text, "project", "mission", "dataset", "product", "analytic")
		if err == nil && found == nil {
			err = fault.Hinted(fault.Of(&fault.UsageError{}, "there is nothing with the id %s", text),
				"check that it belongs to this platform; transect ls lists its content")
		}
		return found, err
	}
	project, rest, err := f.within(ctx, text)
	if err != nil || project != nil && rest == "" {
		return project, err
	}
	if project != nil {
		return f.inside(ctx, project, rest)
	}
	var found []*Record
	for _, kind := range []string{"mission", "dataset", "analytic"} {
		some, err := f.byName(ctx, kind, text, nil)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	switch len(found) {
	case 0:
		return f.belowMission(ctx, text)
	case 1:
		return found[0], nil
	}
	if !slices.ContainsFunc(found, func(r *Record) bool { return r.Kind != "analytic" }) { // versions of one analytic
		value, err := f.call(ctx, "analytic", "describe_by_name", map[string]any{"name": text})
		return &Record{"analytic", value.JSON}, err
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "several things are named %s:\n%s", text,
		f.candidates(ctx, found, true)),
		"give the id, or a path such as PROJECT/MISSION")
}

// belowMission finds the record for a path that begins with a mission, or returns an error.
func (f Finder) belowMission(ctx context.Context, text string) (*Record, error) {
	if found, err := f.under(ctx, text, nil); found != nil || err != nil {
		return found, err
	}
	var names []string
	for _, kind := range []string{"project", "mission"} {
		some, err := f.names(ctx, kind, nil)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	hint := suggest.Hint(text, names)
	if hint == "" {
		hint = "transect find TEXT finds by a part of the name, transect ls lists the projects"
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "nothing is named %s", text), "%s", hint)
}

// inside finds the record for a path within a project: a mission, a dataset of a mission or of the
// project, or the newest product of an analytic.
func (f Finder) inside(ctx context.Context, project *Record, rest string) (*Record, error) {
	within := equal("project", project.ID())
	missions, err := f.byName(ctx, "mission", rest, within)
	if err != nil || len(missions) > 0 {
		return f.onlyOf(ctx, missions, "mission", rest, err)
	}
	if found, err := f.under(ctx, rest, within); found != nil || err != nil {
		return found, err
	}
	datasets, err := f.byName(ctx, "dataset", rest, within)
	if err != nil || len(datasets) > 0 {
		return f.onlyOf(ctx, datasets, "dataset", rest, err)
	}
	if product, err := f.newest(ctx, project, rest); product != nil || err != nil {
		return product, err
	}
	first, _, _ := strings.Cut(rest, "/")
	return nil, f.notFound(ctx, missing{kind: "mission", name: first, where: " in the project " + project.Name(),
		within: within})
}

func (f Finder) onlyOf(ctx context.Context, found []*Record, kind, name string, err error) (*Record, error) {
	if err != nil {
		return nil, err
	}
	return f.single(ctx, found, missing{kind: kind, name: name})
}

// under finds the record for a path below a mission: a dataset, or the newest product of an
// analytic. It returns nil when no mission begins the path.
func (f Finder) under(ctx context.Context, text string, within map[string]any) (found *Record, err error) {
	splits(text, func(head, tail string) bool {
		var missions []*Record
		if missions, err = f.byName(ctx, "mission", head, within); err != nil || len(missions) == 0 {
			return err == nil
		}
		var mission *Record
		if mission, err = f.single(ctx, missions, missing{kind: "mission", name: head}); err == nil {
			found, err = f.ofMission(ctx, mission, tail)
		}
		return false
	})
	return found, err
}

// ofMission finds a dataset of a mission, or the newest product of an analytic.
func (f Finder) ofMission(ctx context.Context, mission *Record, name string) (*Record, error) {
	within := equal("mission", mission.ID())
	datasets, err := f.byName(ctx, "dataset", name, within)
	if err != nil {
		return nil, err
	}
	if len(datasets) == 0 {
		if product, err := f.newest(ctx, mission, name); product != nil || err != nil {
			return product, err
		}
	}
	return f.single(ctx, datasets, missing{kind: "dataset", name: name, where: " in the mission " + mission.Name(),
		within: within})
}

// newest returns the latest product ordered for a project or a mission, of an analytic if one is
// given; nil if there is none.
func (f Finder) newest(ctx context.Context, of *Record, analytic string) (*Record, error) {
	query := map[string]any{"filter": equal(of.Kind, of.ID()), "sort": map[string]any{"creation_date": -1}}
	value, err := f.call(ctx, "product", "search_generator", query)
	if err != nil {
		return nil, err
	}
	for {
		product, ok, err := value.Stream.Next(ctx)
		if err != nil || !ok {
			return nil, err
		}
		if analytic == "" {
			return &Record{"product", product}, nil
		}
		from, err := f.byID(ctx, gjson.GetBytes(product, "analytic").String(), "analytic")
		if err != nil {
			return nil, err
		}
		if from != nil && from.Name() == analytic {
			return &Record{"product", product}, nil
		}
	}
}

// Product finds a product by its id, or the newest one of a project or mission, as in
// PROJECT/MISSION/ANALYTIC.
func (f Finder) Product(ctx context.Context, text string) (*Record, error) {
	found, err := f.productOrPlace(ctx, text)
	if err != nil {
		return nil, err
	}
	switch found.Kind {
	case "product":
		return found, nil
	case "project", "mission":
		product, err := f.newest(ctx, found, "")
		if err == nil && product == nil {
			err = fault.Hinted(fault.Of(&fault.UsageError{}, "nothing was ordered for the %s %s", found.Kind, found.Name()),
				"transect order ANALYTIC --on MISSION orders an analytic")
		}
		return product, err
	}
	article := "a "
	if found.Kind == "analytic" {
		article = "an "
	}
	return nil, fault.Hinted(fault.Of(&fault.UsageError{}, "%s is %s, not a product", text, article+found.Kind),
		"name its mission, as in PROJECT/MISSION/ANALYTIC, or give an id that transect ls products lists")
}

// productOrPlace finds the record for a text, preferring a mission to other kinds, and an analytic to a project.
func (f Finder) productOrPlace(ctx context.Context, text string) (*Record, error) {
	if IsID(text) {
		return f.Any(ctx, text)
	}
	project, _, err := f.within(ctx, text)
	if err != nil {
		return nil, err
	}
	if project == nil {
		missions, err := f.byName(ctx, "mission", text, nil)
		if err != nil || len(missions) > 0 {
			return f.onlyOf(ctx, missions, "mission", text, err)
		}
	}
	analytics, err := f.byName(ctx, "analytic", text, nil)
	if err != nil {
		return nil, err
	}
	if len(analytics) > 0 {
		return analytics[0], nil
	}
	return f.Any(ctx, text)
}
