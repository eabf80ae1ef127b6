package client

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tidwall/gjson"

	"transect/client/checksum"
	"transect/client/fault"
	"transect/client/transfer"
)

// DownloadOutputs is what products.download_outputs takes.
type DownloadOutputs struct {
	Product    ID   `arg:"product,req,pos" in:"none" doc:"product that has ended"`
	TargetPath Path `arg:"target_path" in:"none" doc:"folder, made when missing; the current one when absent"`
	Overwrite  bool `arg:"overwrite" in:"none" default:"false" doc:"replace files that exist with other content; without it they are an error"`
}

// Output is one file of a product.
type Output struct {
	Path      string `json:"path"`
	Bytes     int64  `json:"bytes"`
	Dataset   string `json:"dataset"`
	Component string `json:"component"`
	Skipped   bool   `json:"skipped"` // it was there with the right checksum
}

// downloadOutputs downloads every component of every dataset a product made.
// Files that are there with the right checksum are skipped.
func (c *Client) downloadOutputs(ctx context.Context, in DownloadOutputs) ([]Output, error) {
	product, err := c.Products.Describe(ctx, Ref{ID: in.Product})
	if err != nil {
		return nil, err
	}
	ids := outputIDs(product)
	if len(ids) == 0 {
		return []Output{}, nil
	}
	datasets, err := c.Datasets.Describe(ctx, Refs{IDs: ids})
	if err != nil {
		return nil, err
	}
	outputs, taken := []Output{}, map[string]bool{}
	for _, d := range datasets {
		for _, component := range gjson.GetBytes(d.JSON(), "components").Array() {
			out := Output{Dataset: d.ID, Component: component.Get("name").String()}
			name := transfer.SafeName(cmp.Or(component.Get("filename").String(), d.Name+"_"+out.Component))
			if taken[name] { // another dataset has a file of that name
				name = d.ID + "_" + name
			}
			taken[name] = true
			if err := c.fetchOutput(ctx, in, &out, name, component.Get("checksum").String()); err != nil {
				return outputs, err
			}
			outputs = append(outputs, out)
		}
	}
	return outputs, nil
}

func (c *Client) fetchOutput(ctx context.Context, in DownloadOutputs, out *Output, name, sum string) error {
	out.Path = filepath.Join(string(in.TargetPath), name)
	right, err := c.hasChecksum(out.Path, sum)
	if err != nil {
		return err
	}
	if out.Skipped = right; !right {
		path, err := c.Datasets.DownloadComponent(ctx, DownloadComponent{Dataset: ID(out.Dataset), Component: out.Component,
			TargetPath: in.TargetPath, TargetName: name, Overwrite: in.Overwrite, MD5: sum})
		if err != nil {
			return err
		}
		out.Path = string(path)
	}
	if info, err := os.Stat(out.Path); err == nil {
		out.Bytes = info.Size()
	}
	return nil
}

// hasChecksum tells whether a file exists and has an MD5.
func (c *Client) hasChecksum(path, want string) (bool, error) {
	if _, err := os.Stat(path); want == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	file, err := c.open.Open(path)
	if err != nil {
		return false, fault.Of(&fault.FileError{}, "cannot read %s: %w", path, err)
	}
	defer file.Close()
	sum := md5.New()
	if _, err := io.Copy(sum, file); err != nil {
		return false, fault.Of(&fault.FileError{}, "cannot read %s: %w", path, err)
	}
	return checksum.Hex(sum) == want, nil
}

// outputIDs lists the datasets a product made.
func outputIDs(p Product) (ids IDs) {
	var product struct {
		Outputs []string `json:"outputs"`
	}
	if json.Unmarshal(p.JSON(), &product) == nil {
		ids = product.Outputs
	}
	return ids
}
