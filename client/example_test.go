package client_test

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"transect/client"
	"transect/platform"
)

// local connects to a new local platform in memory. close ends both.
func local(ctx context.Context) (c *client.Client, company client.ID, close func()) {
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		log.Fatal(err)
	}
	if c, err = p.Connect(ctx); err != nil {
		log.Fatal(err)
	}
	return c, client.ID(p.Credentials().Company), func() { p.Close() }
}

// A client connects to a platform by its address, here that of a local one on the loopback interface.
func ExampleNew() {
	ctx := context.Background()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	server := httptest.NewServer(p.Handler())
	defer server.Close()

	login := p.Credentials()
	c, err := client.New(ctx, client.Settings{URL: server.URL, User: login.User, Password: login.Password,
		ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	project, err := c.Projects.Create(ctx, client.CreateProject{Name: "North quarry", Company: client.ID(login.Company)})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(project.Name)
	// Output: North quarry
}

// All goes through the matches of a search, whatever the number of pages.
func ExampleSearchOp() {
	ctx := context.Background()
	c, company, done := local(ctx)
	defer done()
	for _, name := range []string{"North quarry", "South quarry", "Dam"} {
		if _, err := c.Projects.Create(ctx, client.CreateProject{Name: name, Company: company}); err != nil {
			log.Fatal(err)
		}
	}
	q := client.Query{
		Filter: client.Filter{"name": map[string]any{"$in": []any{"Dam", "North quarry"}}},
		Sort:   client.Sort{{Attribute: "name", Direction: 1}},
	}
	for p, err := range c.Projects.Search.All(ctx, q) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(p.Name)
	}
	// Output:
	// Dam
	// North quarry
}

// A file becomes a component of a dataset. It is sent straight to storage, and its checksum is verified.
func ExampleDatasets() {
	ctx := context.Background()
	c, company, done := local(ctx)
	defer done()
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "notes.txt")
	if err := os.WriteFile(path, []byte("wind from the west\n"), 0o600); err != nil {
		log.Fatal(err)
	}

	dataset, err := c.Datasets.CreateFileDataset(ctx, client.CreateFileDataset{
		DatasetCommon: client.DatasetCommon{Name: "notes", Company: company}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Datasets.UploadFile(ctx, client.UploadFile{Dataset: client.ID(dataset.ID), Component: "file",
		FilePath: client.Path(path)})
	if err != nil {
		log.Fatal(err)
	}
	found, err := c.Datasets.Describe(ctx, client.Refs{IDs: client.IDs{dataset.ID}})
	if err != nil {
		log.Fatal(err)
	}
	component := found.One().Components[0]
	fmt.Printf("%s: %s, %s bytes\n", component.Name, component.Filename, component.Size)
	// Output: file: notes.txt, 19 bytes
}
