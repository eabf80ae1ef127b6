package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
)

// annotationFiles are local files to be attached to an annotation.
type annotationFiles struct {
	values     map[string]any // arguments of the annotation
	files      []Path
	project    ID // of the annotation; looked up when empty
	annotation ID
}

func (c *Client) createAnnotation(ctx context.Context, in CreateAnnotation) (Annotation, error) {
	args := declare.Running(ctx)
	return attachAndProceed[Annotation](ctx, c, "create", args,
		annotationFiles{values: args.Values, files: in.FilePaths, project: in.Project})
}

func (c *Client) createAnnotations(ctx context.Context, in CreateAnnotations) ([]Annotation, error) {
	args := declare.Running(ctx)
	tables := make([]any, len(in.Annotations))
	all := make([]annotationFiles, len(in.Annotations))
	for i, table := range args.Values["annotations"].([]any) {
		values := maps.Clone(table.(map[string]any))
		tables[i], all[i] = values, annotationFiles{values: values, files: in.Annotations[i].FilePaths,
			project: in.Annotations[i].Project}
	}
	args.Values["annotations"] = tables
	return attachAndProceed[[]Annotation](ctx, c, "create_annotations", args, all...)
}

func (c *Client) addAttachments(ctx context.Context, in AddAnnotationAttachments) (None, error) {
	args := declare.Running(ctx)
	return attachAndProceed[None](ctx, c, "add_attachments", args,
		annotationFiles{values: args.Values, files: in.FilePaths, annotation: in.ID})
}

// attachAndProceed makes a dataset of each file, adds the datasets to the
// attachments of their annotations, and sends the operation's request.
func attachAndProceed[Out any](ctx context.Context, c *Client, operation string, args declare.Args,
	annotations ...annotationFiles) (out Out, err error) {
	images := map[Path]bool{}
	for _, a := range annotations { // before anything is sent: a wrong path must not leave datasets behind
		for _, path := range a.files {
			name := fmt.Sprintf("image %d %s", len(images), filepath.Base(string(path)))
			kind, err := declare.Remember(ctx, name, func() (string, error) {
				image, err := c.isImage(string(path))
				return strconv.FormatBool(image), err
			})
			if err != nil {
				return out, err
			}
			images[path] = kind == "true"
		}
	}
	var uploaded []string
	defer func() { nameUnattached(err, uploaded) }()
	for _, a := range annotations {
		delete(a.values, "file_paths")
		if a.project == "" && len(a.files) > 0 {
			if a.project, err = c.projectOf(ctx, a.annotation); err != nil {
				return out, err
			}
		}
		for _, path := range a.files {
			id, err := c.uploadAsDataset(ctx, a.project, path, images[path])
			if id != "" {
				uploaded = append(uploaded, id)
			}
			if err != nil {
				return out, err
			}
			attached, _ := a.values["attachments"].([]string)
			a.values["attachments"] = append(slices.Clip(attached), id)
		}
	}
	return declare.Proceed[Out](ctx, c.operation("annotations", operation), args)
}

// uploadAsDataset makes a dataset named after a file. It returns the id even
// when the upload fails.
func (c *Client) uploadAsDataset(ctx context.Context, project ID, path Path, image bool) (string, error) {
	common := DatasetCommon{Name: filepath.Base(string(path)), Project: project}
	var dataset Dataset
	var err error
	component := "file"
	if image {
		component = "image"
		dataset, err = c.Datasets.CreateImageDataset(ctx, CreateImageDataset{DatasetCommon: common})
	} else {
		dataset, err = c.Datasets.CreateFileDataset(ctx, CreateFileDataset{DatasetCommon: common})
	}
	if err == nil {
		_, err = c.Datasets.UploadFile(ctx, UploadFile{Dataset: ID(dataset.ID), Component: component, FilePath: path})
	}
	return dataset.ID, err
}

// isImage reports whether a file starts like an image: of a type that browsers
// show, or TIFF.
func (c *Client) isImage(path string) (bool, error) {
	file, err := c.transfers.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if errors.Is(err, io.EOF) {
		return false, fault.Of(&fault.UploadError{}, "%s is empty", path)
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, err)
	}
	start := string(head[:min(4, n)])
	return start == "II*\x00" || start == "MM\x00*" || strings.HasPrefix(http.DetectContentType(head[:n]), "image/"), nil
}

// nameUnattached adds the datasets made before a failure to its hint.
func nameUnattached(err error, uploaded []string) {
	f := fault.Find(err)
	if f == nil || len(uploaded) == 0 {
		return
	}
	hint := "datasets " + strings.Join(uploaded, ", ") +
		" were created from files and not attached; datasets.delete removes them"
	if f.Facts().Hint != "" {
		hint = f.Facts().Hint + "; " + hint
	}
	f.Facts().Hint = hint
}

// projectOf requests an annotation and returns its project.
func (c *Client) projectOf(ctx context.Context, annotation ID) (ID, error) {
	v, err := c.operation("annotations", "describe").Invoke(ctx,
		declare.Args{Values: map[string]any{"annotation": string(annotation)}})
	if err != nil {
		return "", err
	}
	var a Annotation
	if err := declare.DecodeRecord(v.JSON, &a); err != nil {
		return "", err
	}
	if a.Project == "" {
		return "", fault.Of(&fault.QueryError{}, "annotation %s has no project for the files to belong to", annotation)
	}
	return ID(a.Project), nil
}
