package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"transect/client/human"
	"transect/client/preflight"
	"transect/client/verdict"
)

// folderRoutes registers the pages of a folder, before and after it is sent.
func (s *Server) folderRoutes() {
	s.folder = &folderCheck{folder: s.Folder, now: s.Now}
	s.folder.start(s.ctx)
	s.get("/folder", s.folderPage)
	s.stream("/api/folder", s.folderData)
	s.stream("/folder/picture/{file}", s.folderPicture)
	s.get("/folder/report", s.folderReport)
	s.post("/folder/check", func(w http.ResponseWriter, r *http.Request) error {
		s.folder.start(s.ctx)
		http.Redirect(w, r, "/folder", http.StatusSeeOther)
		return nil
	})
	s.topic("folder", s.watchFolder)
}

const (
	folderPatience = 1200 * time.Millisecond // how long a page waits for the check
	rowsPerPage    = 200
)

// folderRow is a line of the table.
type folderRow struct {
	folderItem
	Label   string // the verdict, or that it is not sent
	Class   string // of the badge
	Dataset string
	rank    int
}

// manyProblems is the first problem of a kind, and how many others there are.
type manyProblems struct {
	finding
	Others int
}

// folderView is the data of the folder's page.
type folderView struct {
	Folder  string
	Quoted  string // for a shell
	Version string // see folderVersion
	Running bool
	Read    int
	Problem string
	Summary string
	Bytes   int64
	Files   int
	Labels  []*labelCount
	Survey  []preflight.Problem // of the survey as a whole
	Gaps    []finding
	Many    []manyProblems // kinds of which not all are in the table
	Rows    []folderRow
	Page    int
	Pages   int
	Only    string
	Sent    bool
	Canvas  canvas
}

type labelCount struct {
	Label, Class string
	Count        int
}

func (s *Server) folderPage(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), folderPatience)
	s.folder.wait(ctx)
	cancel()
	v := s.folderView(r.Context(), s.folder.state(), r.URL.Query().Get("only"))
	page, _ := strconv.Atoi(r.URL.Query().Get("page"))
	v.Pages = max(1, (len(v.Rows)+rowsPerPage-1)/rowsPerPage)
	v.Page = min(max(page, 1), v.Pages)
	v.Rows = v.Rows[(v.Page-1)*rowsPerPage : min(v.Page*rowsPerPage, len(v.Rows))]
	if v.Running {
		w.Header().Set("Refresh", "2")
	}
	return s.render(w, r, "folder.html", view{Title: "Folder", Section: "/folder", Data: v,
		Scripts: []string{"map/main.js", "map/folder.js"}, Topics: []string{"folder"}})
}

// folderView returns the data of the folder's page, with all rows.
func (s *Server) folderView(ctx context.Context, state folderState, only string) *folderView {
	v := &folderView{Folder: absolutePath(s.Folder), Quoted: "'" +
		strings.ReplaceAll(absolutePath(s.Folder), "'", `'\''`) + "'", Running: state.Running, Read: state.Read,
		Only: only, Version: s.folderVersion(),
		Canvas: canvas{Source: "/api/folder", Thumb: "/folder/picture/{id}?kind={kind}",
			Empty: [2]string{"No file of this folder has a position.", "Photos without a GPS position are listed below."}}}
	if state.Err != nil {
		v.Problem = describe(state.Err).Message
	}
	if state.Result == nil {
		return v
	}
	sent := s.sent(ctx, s.Folder)
	v.Sent = len(sent) > 0
	v.Summary = state.Result.summary(s.Now().Location())
	counts := map[string]*labelCount{}
	for _, item := range state.Items {
		row := rowOf(item, sent)
		if item.Kind != "" {
			v.Files++
			v.Bytes += item.Size
		}
		n := counts[row.Label]
		if n == nil {
			n = &labelCount{Label: row.Label, Class: row.Class}
			counts[row.Label] = n
		}
		n.Count++
		if only == "" || only == row.Label {
			v.Rows = append(v.Rows, row)
		}
	}
	slices.SortStableFunc(v.Rows, func(a, b folderRow) int { return cmp.Compare(b.rank, a.rank) })
	for _, label := range slices.Sorted(maps.Keys(counts)) {
		v.Labels = append(v.Labels, counts[label])
	}
	listed, first := map[string]int{}, map[string]finding{}
	for _, p := range state.Result.Problems {
		if listed[p.Code]++; listed[p.Code] == 1 {
			first[p.Code] = p
		}
		switch {
		case p.Code == "gap":
			v.Gaps = append(v.Gaps, p)
		case p.Name == "":
			v.Survey = append(v.Survey, p.Problem)
		}
	}
	for _, c := range state.Result.counts {
		if p, listed := first[c.Code], listed[c.Code]; p.Name != "" && c.Count > listed {
			v.Many = append(v.Many, manyProblems{p, c.Count - 1})
		}
	}
	return v
}

// rowOf returns the row of a file, with the result of the check or of sending it.
func rowOf(item folderItem, sent map[string]sentFile) folderRow {
	row := folderRow{folderItem: item, Label: "ready to send"}
	file, ok := sent[item.Path]
	switch {
	case ok:
		row.Dataset = file.Dataset
		row.Verdict = file.Verdict
		row.Cause, row.Hint = cmp.Or(file.Cause, item.Cause), cmp.Or(file.Hint, item.Hint)
		row.Label = file.Verdict.Text()
		if file.Pending && !file.Verdict.Bad() {
			row.Cause = joined("the platform has not read it yet", row.Cause)
		}
	case item.Verdict != "":
		row.Label = item.Verdict.Text()
	}
	switch {
	case row.Verdict.Bad():
		row.Class, row.rank = "bad", 4
	case row.Verdict == verdict.Duplicate:
		row.Class, row.rank = "warn", 2
	case item.Warning:
		row.Class, row.rank = "warn", 3
	case row.Verdict == verdict.Uploaded, row.Verdict == verdict.AlreadyThere:
		row.Class = "good"
	case row.Verdict == verdict.LeftOut:
		row.rank = -1
	}
	return row
}

// folderData streams the folder for the map. While the check runs, it sends the progress.
func (s *Server) folderData(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	out := newLineStream(w)
	state := s.folder.state()
	for state.Running {
		if err := out.send(map[string]any{"kind": "progress", "text": human.Count(state.Read, "file") +
			" checked so far"}); err != nil {
			return err
		}
		pause, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		s.folder.wait(pause)
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		state = s.folder.state()
	}
	if state.Err != nil {
		p := describe(state.Err)
		return out.send(map[string]any{"kind": "problem", "message": p.Message, "hint": p.Hint})
	}
	if err := s.sendExtents(ctx, state, out.send); err != nil {
		return err
	}
	sent := s.sent(ctx, s.Folder)
	if err := s.sendPhotos(state, sent, out.send); err != nil {
		return err
	}
	result := *state.Result
	result.Text = result.summary(s.Now().Location())
	return out.send(result)
}

// sendPhotos sends the photos of the folder, with the outcome of those already sent.
func (s *Server) sendPhotos(state folderState, sent map[string]sentFile, send func(any) error) error {
	page := newSurvey(s.Now(), send)
	part := &surveyPart{ids: map[string]string{}}
	for _, item := range state.Items {
		if item.photo == nil {
			continue
		}
		p := *item.photo
		if rowOf(item, sent).Class == "bad" {
			p.state = photoBad
		}
		if err := page.add(part, p); err != nil {
			return err
		}
	}
	return page.flush()
}

// folderVersion returns a version that changes with the check and with the outcomes of runs.
func (s *Server) folderVersion() string {
	return strconv.Itoa(s.folder.state().version) + " " + s.sentVersion()
}

// watchFolder emits the version whenever it changes.
func (s *Server) watchFolder(ctx context.Context, _, last string, emit emitter) error {
	return follow(ctx, last, time.Second, emit, func() (version string, news any, ended bool, err error) {
		version = s.folderVersion()
		return version, map[string]any{"version": version}, false, nil
	})
}
