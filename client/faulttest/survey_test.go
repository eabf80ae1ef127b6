package faulttest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"testing"
	"time"

	"transect/client"
)

// survey is the reference workflow, written as one should: it looks for what
// is there and does the rest, so that it can be run again at any moment. It
// makes a project, a mission and datasets, uploads whole and in parts, goes
// through pages, renames and deletes, orders an analytic, follows its log, and
// downloads what came of it. It returns what it saw.
func survey(ctx context.Context, w *world) (seen []string, err error) {
	s, err := w.connect(ctx)
	if err != nil {
		return nil, err
	}
	from := source
	if w.light {
		from = lightSource
	}
	folder, err := from()
	if err != nil {
		return nil, err
	}
	user, err := s.Users.Describe(ctx, client.UserRef{})
	if err != nil {
		return nil, err
	}
	mission, err := s.site(ctx, user.Company)
	if err != nil {
		return nil, err
	}
	if err := s.tidy(ctx); err != nil {
		return nil, err
	}
	held, err := s.bring(ctx, mission, folder)
	if err != nil {
		return nil, err
	}
	for _, name := range sorted(held) {
		seen = append(seen, "dataset "+name)
	}
	product, lines, err := s.report(ctx, mission)
	if err != nil {
		return nil, err
	}
	files, err := s.fetch(ctx, product, held["cloud.bin"])
	return append(append(seen, lines...), files...), err
}

func sorted(m map[string]client.Dataset) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// site finds or makes the project and the mission.
func (s *session) site(ctx context.Context, company string) (client.Mission, error) {
	var none client.Mission
	projects, err := s.Projects.Search.Page(ctx, client.Query{Filter: client.Filter{"name": is("Quarry")}})
	if err != nil {
		return none, err
	}
	var project string
	if len(projects.Results) > 0 {
		project = projects.Results[0].ID
	} else {
		made, err := s.Projects.Create(ctx, client.CreateProject{Name: "Quarry", Company: client.ID(company)})
		if err != nil {
			return none, err
		}
		project = made.ID
	}
	missions, err := s.Missions.Search.Page(ctx, client.Query{Filter: client.Filter{"project": is(project), "name": is("May")}})
	if err != nil {
		return none, err
	}
	if len(missions.Results) > 0 {
		return missions.Results[0], nil
	}
	at := func(x, y float64) []any { return []any{x, y} }
	made, err := s.Missions.Create(ctx, client.CreateMissionOrSurvey{Project: client.ID(project), Name: "May", SurveyDate: "2026-05-31",
		NumberOfImages: 3, Coordinates: []any{at(4, 50), at(4.1, 50), at(4.1, 50.1), at(4, 50)}})
	return made.Mission, err
}

// tidy changes and removes what an earlier season left.
func (s *session) tidy(ctx context.Context) error {
	old, err := s.Datasets.Search.Page(ctx, client.DatasetQuery{Query: client.Query{Filter: client.Filter{"name": map[string]any{"$in": []any{"draft", "leftover"}}}}})
	if err != nil {
		return err
	}
	for _, d := range old.Results {
		ref := client.Ref{ID: client.ID(d.ID)}
		if d.Name == "leftover" {
			if _, err := s.Datasets.Delete(ctx, client.DatasetList{Dataset: client.IDs{d.ID}}); err != nil {
				return err
			}
			continue
		}
		if _, err := s.Datasets.UpdateProperties(ctx, client.UpdateDatasetProperties{Ref: ref, Properties: client.Object{"season": "2026"}}); err != nil {
			return err
		}
		if _, err := s.Datasets.Rename(ctx, client.Rename{Ref: ref, Name: "final"}); err != nil {
			return err
		}
	}
	projects, err := s.Projects.Search.Page(ctx, client.Query{Filter: client.Filter{"name": is("Closed")}})
	if err != nil {
		return err
	}
	for _, p := range projects.Results {
		if _, err := s.Projects.Delete(ctx, client.ProjectID{Project: client.ID(p.ID)}); err != nil {
			return err
		}
	}
	return nil
}

// bring makes the datasets that are missing and uploads what they lack.
func (s *session) bring(ctx context.Context, mission client.Mission, folder string) (map[string]client.Dataset, error) {
	held, err := s.held(ctx, mission)
	if err != nil {
		return nil, err
	}
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var plain []client.Object
	for _, f := range files {
		if _, there := held[f.Name()]; there {
			continue
		}
		if filepath.Ext(f.Name()) != ".JPG" && filepath.Ext(f.Name()) != ".jpg" {
			plain = append(plain, client.Object{"name": f.Name(), "type": "file", "project": mission.Project, "mission": mission.ID,
				"components": []any{map[string]any{"name": "file"}}})
			continue
		}
		held[f.Name()], err = s.Datasets.CreateImageDataset(ctx, client.CreateImageDataset{DatasetCommon: client.DatasetCommon{
			Name: f.Name(), Project: client.ID(mission.Project), Mission: client.ID(mission.ID)}, Flight: client.ID(mission.Flights[0])})
		if err != nil {
			return nil, err
		}
	}
	if len(plain) > 0 {
		made, err := s.Datasets.CreateDatasets(ctx, client.CreateDatasets{Datasets: plain})
		if err != nil {
			return nil, err
		}
		for _, d := range made {
			held[d.Name] = d
		}
	}
	for _, name := range sorted(held) {
		d := held[name]
		if d.Ingestion.Status != "pending" {
			continue
		}
		component, chunk := d.Components[0].Name, int64(partSize)
		if _, err := s.Datasets.UploadFile(ctx, client.UploadFile{Dataset: client.ID(d.ID), Component: component,
			FilePath: client.Path(filepath.Join(folder, name)), ChunkSize: &chunk}); err != nil {
			return nil, err
		}
	}
	for {
		if held, err = s.held(ctx, mission); err != nil {
			return nil, err
		}
		waiting := 0
		for _, d := range held {
			if d.Ingestion.Status != "completed" {
				waiting++
			}
		}
		if waiting == 0 {
			return held, nil
		}
		if err := s.Pause(ctx, 5*time.Second); err != nil {
			return nil, err
		}
	}
}

// held goes through the datasets of the mission, two a page, page after page
// and then along their identifiers.
func (s *session) held(ctx context.Context, mission client.Mission) (map[string]client.Dataset, error) {
	var lists [2][]string
	held := map[string]client.Dataset{}
	for i := range lists {
		query := client.DatasetQuery{Query: client.Query{Limit: number(2), Filter: client.Filter{"mission": is(mission.ID),
			"source.name": is("data-manager")}}}
		for d, err := range s.Datasets.Search.All(ctx, query) {
			if err != nil {
				return nil, err
			}
			held[d.Name] = d
			lists[i] = append(lists[i], d.ID)
		}
	}
	if !slices.Equal(lists[0], lists[1]) || len(held) != len(lists[0]) {
		return nil, fmt.Errorf("two looks at the same datasets differ: %v %v", lists[0], lists[1])
	}
	return held, nil
}

// report orders the analytic unless that was done, and follows its log.
func (s *session) report(ctx context.Context, mission client.Mission) (product client.Product, lines []string, err error) {
	ordered, err := s.Products.Search.Page(ctx, client.ProductQuery{Query: client.Query{Filter: client.Filter{"mission": is(mission.ID)}}})
	if err != nil {
		return product, nil, err
	}
	if len(ordered.Results) > 0 {
		product = ordered.Results[0]
	} else {
		version := "1.x"
		product, err = s.Analytics.Order(ctx, client.OrderAnalytic{Name: "flight_report", Version: &version,
			Project: client.ID(mission.Project), Mission: client.ID(mission.ID), Inputs: client.Object{"mission": mission.ID}})
		if err != nil {
			return product, nil, err
		}
	}
	log, err := s.Products.FollowLogs(ctx, client.FollowLogs{Product: client.IDs{product.ID}})
	if err != nil {
		return product, nil, err
	}
	defer log.Close()
	for {
		line, ok, err := log.Next(ctx)
		if err != nil {
			return product, nil, err
		}
		if !ok {
			break
		}
		lines = append(lines, fmt.Sprint("log ", line.Record["level"], " ", line.Record["message"]))
	}
	product, err = s.Products.Describe(ctx, client.Ref{ID: client.ID(product.ID)})
	return product, append(lines, "product "+product.Status), err
}

// fetch downloads what the analytic made, and one long file.
func (s *session) fetch(ctx context.Context, product client.Product, long client.Dataset) (files []string, err error) {
	var outputs struct{ Outputs client.IDs }
	if err := decode(product.JSON(), &outputs); err != nil {
		return nil, err
	}
	made, err := s.Datasets.Describe(ctx, client.Refs{IDs: outputs.Outputs})
	if err != nil {
		return nil, err
	}
	for _, d := range append(made, long) {
		var detail struct {
			Components []struct{ Name, Checksum string }
		}
		if err := decode(d.JSON(), &detail); err != nil {
			return nil, err
		}
		for _, c := range detail.Components {
			path, err := s.Datasets.DownloadComponent(ctx, client.DownloadComponent{Dataset: client.ID(d.ID), Component: c.Name,
				TargetPath: client.Path(filepath.Join(s.disk, "out")), Overwrite: true, MD5: c.Checksum})
			if err != nil {
				return nil, err
			}
			content, err := os.ReadFile(string(path))
			if err != nil {
				return nil, err
			}
			what := fmt.Sprint("file ", filepath.Base(string(path)), " ", len(content))
			if d.ID == long.ID {
				what += fmt.Sprintf(" %x", checksum(content))
			}
			files = append(files, what)
		}
	}
	return files, nil
}

// seed is what is on the platform before the survey begins.
func seedSurvey(ctx context.Context, w *world) error {
	c, err := w.direct(ctx)
	if err != nil {
		return err
	}
	company := client.ID(w.platform.Credentials().Company)
	for _, name := range []string{"draft", "leftover"} {
		if _, err := c.Datasets.CreateFileDataset(ctx, client.CreateFileDataset{DatasetCommon: client.DatasetCommon{Name: name, Company: company}}); err != nil {
			return err
		}
	}
	_, err = c.Projects.Create(ctx, client.CreateProject{Name: "Closed", Company: company})
	return err
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	matrix(t, 50, seedSurvey, survey)
}
