package web

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/wait"
)

// livePage is a page whose parts are replaced in the browser when they change. Its name is also its
// template's; the part NAME fills the element with the id PAGE-NAME.
type livePage struct {
	section string
	parts   []string
	// read returns the data for an argument: the {id} of its path, or else the query of its address. values
	// are the parameters of the address, nil when only the parts are needed.
	read    func(ctx context.Context, arg string, values url.Values) (liveView, error)
	log     topic    // emits logLines; nil for a page without a log
	scripts []string // additional modules of the page, below /static/
}

// liveView is the data of a live page.
type liveView struct {
	title  string
	data   any
	ended  bool   // nothing changes any more
	cursor string // of the log
}

// livePage registers a live page. Browsers follow its topics, parts:PAGE:ARG and
// lines:PAGE:ARG.
func (s *Server) livePage(path, name string, page livePage) {
	s.live[name] = page
	s.get(path, func(w http.ResponseWriter, r *http.Request) error {
		values := r.URL.Query()
		arg := r.PathValue("id")
		if arg == "" {
			arg = values.Encode()
		}
		shown, err := page.read(r.Context(), arg, values)
		if err != nil {
			return err
		}
		v := view{Title: shown.title, Section: page.section, Data: shown.data, Scripts: append(page.scripts, "runs.js")}
		if !shown.ended {
			p, err := s.parts(name, shown.data)
			if err != nil {
				return err
			}
			after := url.Values{"parts:" + name + ":" + arg: {p.version()}}
			if page.log != nil {
				after.Set("lines:"+name+":"+arg, shown.cursor)
			}
			v.Topics, v.After = slices.Sorted(maps.Keys(after)), after.Encode()
		}
		return s.render(w, r, name+".html", v)
	})
}

// partsInterval is how often the parts of a live page are rendered.
const partsInterval = time.Second

// followParts emits the parts of a live page that have changed.
func (s *Server) followParts(ctx context.Context, arg, after string, emit emitter) error {
	name, arg, _ := strings.Cut(arg, ":")
	page, ok := s.live[name]
	if !ok {
		return notFound("there is no page %q to follow", name)
	}
	var last parts
	return follow(ctx, after, partsInterval, emit, func() (version string, changed any, ended bool, err error) {
		v, err := page.read(ctx, arg, nil)
		if err != nil {
			return "", nil, false, err
		}
		shown, err := s.parts(name, v.data)
		before := last
		last = shown
		news := maps.Clone(shown)
		maps.DeleteFunc(news, func(id string, html template.HTML) bool { return before[id] == html })
		return shown.version(), news, v.ended, err
	})
}

// followLog emits the lines of the log of a live page.
func (s *Server) followLog(ctx context.Context, arg, after string, emit emitter) error {
	name, arg, _ := strings.Cut(arg, ":")
	page := s.live[name]
	if page.log == nil {
		return notFound("there is no log of a page %q", name)
	}
	return page.log(ctx, arg, after, emit)
}

// follow emits news whenever their version differs from the browser's, until nothing changes any more.
func follow(ctx context.Context, after string, every time.Duration, emit emitter,
	poll func() (version string, news any, ended bool, err error)) error {
	for {
		version, news, ended, err := poll()
		if err != nil {
			return err
		}
		if version != after {
			if err := emit(version, news); err != nil {
				return err
			}
			after = version
		}
		if ended || wait.Sleep(ctx, every) != nil {
			return nil
		}
	}
}

// logLines are new lines of a log.
type logLines struct {
	Lines string `json:"lines"`
	Fresh bool   `json:"fresh,omitempty"` // they replace what is shown
}

// parts maps the ids of elements to their content.
type parts map[string]template.HTML

// parts renders the parts of a live page.
func (s *Server) parts(name string, data any) (parts, error) {
	shown := parts{}
	for _, part := range s.live[name].parts {
		var out bytes.Buffer
		if err := s.templates[name+".html"].ExecuteTemplate(&out, part, data); err != nil {
			return nil, err
		}
		shown[name+"-"+part] = template.HTML(out.String())
	}
	return shown, nil
}

// version returns a hash of the parts.
func (p parts) version() string {
	sum := fnv.New64a()
	for _, id := range slices.Sorted(maps.Keys(p)) {
		fmt.Fprintf(sum, "%s %s\n", id, p[id])
	}
	return strconv.FormatUint(sum.Sum64(), 36)
}
