package client

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"transect/client/declare"
	"transect/client/fault"
)

// localFile is a file that is to become a dataset.
type localFile struct {
	path  Path
	image bool
}

// localFiles looks at files before anything is sent: an upload must not fail
// for a wrong path when others are done.
func (c *Client) localFiles(paths []Path) ([]localFile, error) {
	var files []localFile
	for _, path := range paths {
		head, err := c.headOf(string(path))
		if err != nil {
			return nil, err
		}
		files = append(files, localFile{path, isImage(head)})
	}
	return files, nil
}

// headOf reads what tells the type of a file.
func (c *Client) headOf(path string) ([]byte, error) {
	info, err := os.Stat(path) // before opening: a pipe would wait for its other end
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fault.Hinted(fault.Of(&fault.UploadError{}, "there is no file %s", path), "check the path")
	case err != nil:
		return nil, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, err)
	case !info.Mode().IsRegular():
		return nil, fault.Of(&fault.UploadError{}, "%s is not a file", path)
	case info.Size() == 0:
		return nil, fault.Of(&fault.UploadError{}, "%s is empty", path)
	}
	file, err := c.open.Open(path)
	if err != nil {
		return nil, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, err)
	}
	defer file.Close()
	head := make([]byte, 512)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fault.Of(&fault.UploadError{}, "cannot read %s: %w", path, err)
	}
	return head[:n], nil
}

// isImage tells by a file's first bytes whether its MIME type is that of an
// image. The standard's rules know all image types of browsers, TIFF is none.
func isImage(head []byte) bool {
	start := string(head[:min(4, len(head))])
	return start == "II*\x00" || start == "MM\x00*" || strings.HasPrefix(http.DetectContentType(head), "image/")
}

// attaching makes datasets of files, and knows those it has made.
type attaching struct {
	client *Client
	made   []string
}

// upload makes a dataset of each file, in order.
func (a *attaching) upload(ctx context.Context, project ID, files []localFile) ([]ID, error) {
	var ids []ID
	for _, file := range files {
		common := DatasetCommon{Name: filepath.Base(string(file.path)), Project: project}
		component, create := "file", func() (Dataset, error) {
			return a.client.Datasets.CreateFileDataset(ctx, CreateFileDataset{DatasetCommon: common})
		}
		if file.image {
			component, create = "image", func() (Dataset, error) {
				return a.client.Datasets.CreateImageDataset(ctx, CreateImageDataset{DatasetCommon: common})
			}
		}
		dataset, err := create()
		if err != nil {
			return nil, err
		}
		a.made = append(a.made, dataset.ID)
		if _, err := a.client.Datasets.UploadFile(ctx, UploadFile{Dataset: ID(dataset.ID), Component: component, FilePath: file.path}); err != nil {
			return nil, err
		}
		ids = append(ids, ID(dataset.ID))
	}
	return ids, nil
}

// left tells of a failure which datasets were made for nothing.
func (a *attaching) left(err error) error {
	f := fault.Find(err)
	if f == nil || len(a.made) == 0 {
		return err
	}
	hint := "datasets " + strings.Join(a.made, ", ") + " were made of files and are attached to nothing; datasets.delete removes them"
	if f.Facts().Hint != "" {
		hint = f.Facts().Hint + "; " + hint
	}
	f.Facts().Hint = hint
	return err
}

func (c *Client) createAnnotation(ctx context.Context, in CreateAnnotation) (Annotation, error) {
	files, err := c.localFiles(in.FilePaths)
	if err != nil {
		return Annotation{}, err
	}
	uploads := attaching{client: c}
	ids, err := uploads.upload(ctx, in.Project, files)
	if err != nil {
		return Annotation{}, uploads.left(err)
	}
	if ids != nil {
		in.Attachments = slices.Concat(in.Attachments, ids)
	}
	made, err := c.Annotations.Draw(ctx, DrawAnnotation{in.AnnotationDetails})
	return made, uploads.left(err)
}

func (c *Client) createAnnotations(ctx context.Context, in CreateAnnotations) ([]Annotation, error) {
	files := make([][]localFile, len(in.Annotations))
	for i, a := range in.Annotations {
		var err error
		if files[i], err = c.localFiles(a.FilePaths); err != nil {
			return nil, err
		}
	}
	uploads := attaching{client: c}
	drawn := make([]DrawAnnotation, len(in.Annotations))
	for i, a := range in.Annotations {
		ids, err := uploads.upload(ctx, a.Project, files[i])
		if err != nil {
			return nil, uploads.left(err)
		}
		if ids != nil {
			a.Attachments = slices.Concat(a.Attachments, ids)
		}
		drawn[i] = DrawAnnotation{a.AnnotationDetails}
	}
	made, err := c.Annotations.DrawMany(ctx, DrawAnnotations{Annotations: drawn, Extra: in.Extra})
	return made, uploads.left(err)
}

func (c *Client) addAttachments(ctx context.Context, in AddAnnotationAttachments) (None, error) {
	files, err := c.localFiles(in.FilePaths)
	if err != nil {
		return None{}, err
	}
	uploads := attaching{client: c}
	if len(files) > 0 {
		project, err := c.projectOf(ctx, in.ID)
		if err != nil {
			return None{}, err
		}
		ids, err := uploads.upload(ctx, project, files)
		if err != nil {
			return None{}, uploads.left(err)
		}
		in.Attachments = slices.Concat(in.Attachments, ids)
	}
	_, err = c.Annotations.Attach(ctx, in.AttachToAnnotation)
	return None{}, uploads.left(err)
}

// projectOf asks for the project of an annotation.
func (c *Client) projectOf(ctx context.Context, annotation ID) (ID, error) {
	v, err := c.operation("annotations", "describe").Invoke(ctx, declare.Args{Values: map[string]any{"annotation": string(annotation)}})
	if err != nil {
		return "", err
	}
	var a Annotation
	if err := declare.DecodeRecord(v.JSON, &a); err != nil {
		return "", err
	}
	if a.Project == "" {
		return "", fault.Of(&fault.QueryError{}, "annotation %s names no project the files could belong to", annotation)
	}
	return ID(a.Project), nil
}
