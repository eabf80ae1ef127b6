package web

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"transect/client/formats"
	"transect/client/geojson"
)

// folderPicture sends a picture of a file of the folder.
func (s *Server) folderPicture(w http.ResponseWriter, r *http.Request) error {
	state, kind := s.folder.state(), r.URL.Query().Get("kind")
	i, ok := state.byID[r.PathValue("file")]
	if !ok || formats.PreviewSides[kind] == 0 {
		return notFound("there is no such picture")
	}
	item := state.Items[i]
	info, err := os.Stat(item.Path)
	if err == nil {
		var content []byte
		name := fmt.Sprintf("%s\n%d\n%d\n%s", item.Path, info.Size(), info.ModTime().UnixNano(), kind)
		content, err = s.pictures.cached(r.Context(), name, func(ctx context.Context) (content []byte, err error) {
			err = withFiles(item, func(main formats.File, sidecars []formats.File) error {
				content, err = drawPicture(ctx, main, sidecars, kind)
				return err
			})
			return content, err
		})
		if err == nil {
			sendPicture(w, r, content)
			return nil
		}
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	_, err = io.WriteString(w, textPicture("no preview"))
	return err
}

// withFiles opens the files of an item.
func withFiles(item folderItem, use func(main formats.File, sidecars []formats.File) error) error {
	var files []formats.File
	for _, path := range slices.Concat([]string{item.Path}, item.sidecars) {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			return err
		}
		files = append(files, formats.File{Name: filepath.Base(path), Data: f, Size: info.Size()})
	}
	return use(files[0], files[1:])
}

// sendExtents sends the outlines of rasters, vectors, point clouds and meshes.
func (s *Server) sendExtents(ctx context.Context, state folderState, send func(any) error) error {
	n, limits := 0, newVectorLimits()
	for _, item := range state.Items {
		if item.Kind == "" || item.Kind == "image" || item.Kind == "file" || item.Verdict.Bad() {
			continue
		}
		if n++; n > maxMapDatasets || ctx.Err() != nil {
			return ctx.Err()
		}
		var info formats.Info
		err := withFiles(item, func(main formats.File, sidecars []formats.File) (err error) {
			info, err = formats.Describe(ctx, main, sidecars...)
			return err
		})
		if err != nil || info.Outline == nil {
			continue
		}
		one := shape{Kind: "shape", Of: item.Kind, ID: item.ID, Name: item.Name, Geometry: geojson.Text(info.Outline),
			Facts: rowsOf("Size", size(item.Size), "Format", info.Format), Preview: "/folder/picture/" + item.ID + "?kind=small"}
		if item.Kind == "vector" {
			err := withFiles(item, func(main formats.File, sidecars []formats.File) (err error) {
				one.Quiet, err = limits.features(ctx, one, main, sidecars, send)
				return err
			})
			if err != nil {
				return err
			}
		}
		if err := send(one); err != nil {
			return err
		}
	}
	return nil
}
