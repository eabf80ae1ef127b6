package client

import (
	"cmp"
	"context"
	"crypto/md5"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/tidwall/gjson"

	"transect/client/checksum"
	"transect/client/declare"
	"transect/client/fault"
	"transect/client/transfer"
)

// Products are ordered analytics: their state, their logs, what they made.
type Products struct {
	Cancel          Op[Ref, Product]                   `set:"cancel-product" unknown:"probe status=cancel*" doc:"Cancel a running product."`
	Describe        Op[Ref, Product]                   `read:"describe-product" doc:"Describe a product."`
	RetrieveLogs    Op[Ref, ProductLogs]               `read:"retrieve-product-logs" returns:"{total, logs}, oldest first, each {timestamp, record}" does:"products.follow_logs" doc:"Return the log lines written so far."`
	FollowLogs      Op[FollowLogs, *Cursor[LogLine]]   `read:"describe-product|retrieve-product-logs" returns:"iterator of {timestamp, record, product, cursor}" doc:"Go through the log lines of a product, or of several in order of time, as they come, until all have ended."`
	Wait            Op[WaitForProducts, Some[Product]] `read:"" composed:"yes" extra:"no" doc:"Wait until a product has ended, or all of a list, and return it or them. One that is not available then raises a RuntimeError."`
	DownloadOutputs Op[DownloadOutputs, []Output]      `read:"" composed:"yes" extra:"no" returns:"list of {path, bytes, dataset, component, skipped}" doc:"Download all files of all datasets a product made, verified by checksum. Files that are there with the right content are skipped."`
	Search          SearchOp[ProductQuery, Product]    `read:"search-products" page:"0" doc:"Find products."`
}

// Inputs of the product operations.
type (
	FollowLogs struct {
		Product IDs `arg:"product,req,pos" doc:"product, or a list of products"`
		After   any `arg:"after" in:"none" doc:"cursor of the last line read, to continue after it; with several products a table, product to cursor"`
		Extra
	}
	OrderAnalytic struct {
		Analytic     ID       `arg:"analytic,pos" doc:"analytic; or give name"`
		Name         string   `arg:"name" in:"none" doc:"name of the analytic, in place of its id"`
		Version      *string  `arg:"version" in:"none" doc:"with name: version or range, such as 1.x; the highest when absent"`
		Inputs       Object   `arg:"inputs" omit:"falsy" doc:"inputs by name"`
		Parameters   Object   `arg:"parameters" omit:"falsy" doc:"parameters by name"`
		Deliverables []string `arg:"deliverables" set:"yes" omit:"falsy" doc:"names of optional deliverables to make; only the required ones when absent"`
		Project      ID       `arg:"project" omit:"falsy" doc:"project the product belongs to"`
		Mission      ID       `arg:"mission" omit:"falsy" doc:"mission the product belongs to"`
		Extra
	}
	ProductQuery struct {
		Query
		Project ID `arg:"project" wire:"filter.project.$eq" only:"search" doc:"project, in place of a filter"`
	}
)

// Validate requires one way of naming the analytic.
func (in OrderAnalytic) Validate() error {
	if in.Analytic == "" && in.Name == "" {
		return fault.Of(&fault.ParameterError{}, "analytic or name is missing: one of them is needed")
	}
	return nil
}

func (c *Client) orderAnalytic(ctx context.Context, in OrderAnalytic) (Product, error) {
	args := declare.Running(ctx)
	if in.Name != "" {
		id, err := declare.Remember(ctx, "version", func() (string, error) {
			a, err := c.findAnalytic(ctx, AnalyticByName{Name: in.Name, Version: in.Version})
			return a.ID, err
		})
		if err != nil {
			return Product{}, err
		}
		if id == "" {
			wanted := in.Name
			if in.Version != nil {
				wanted += " " + *in.Version
			}
			return Product{}, fault.Hinted(fault.Of(&fault.ParameterError{}, "no analytic %s", wanted),
				"analytics.search{name = %q} lists its versions", in.Name)
		}
		args.Values["analytic"] = id
	} else if in.Version != nil {
		c.log.Warn("version is ignored: it applies only with name", "operation", "analytics.order", "version", *in.Version)
	}
	delete(args.Values, "name")
	delete(args.Values, "version")
	return declare.Proceed[Product](ctx, c.operation("analytics", "order"), args)
}

// Shape sends optional deliverables as an object of nulls.
func (in OrderAnalytic) Shape(body map[string]any) error {
	if len(in.Deliverables) > 0 {
		deliverables := map[string]any{}
		for _, name := range in.Deliverables {
			deliverables[name] = nil
		}
		body["deliverables"] = deliverables
	}
	return nil
}

// DownloadOutputs are the arguments of products.download_outputs.
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
	if len(ids) == 0 && !ended[product.Status] {
		return nil, fault.Hinted(fault.Of(&fault.RuntimeError{}, "product %s is %s: it has no outputs yet", in.Product,
			product.Status), "wait for its end: products.wait")
	}
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
	if info, err := c.tree.Stat(out.Path); err == nil {
		out.Bytes = info.Size()
	}
	return nil
}

// hasChecksum reports whether a file exists and has an MD5.
func (c *Client) hasChecksum(path, want string) (bool, error) {
	if _, err := c.tree.Stat(path); want == "" || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	file, err := c.tree.Open(path)
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
