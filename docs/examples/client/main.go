// Command missions lists the missions of a project, through the typed client alone:
//
//	missions 'North quarry'
//
// The platform and the login are those of transect: TRANSECT_URL and the other variables, or the configuration file.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"transect/client"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: missions PROJECT")
	}
	ctx := context.Background()
	settings, err := client.Settings{}.Resolve()
	if err != nil {
		log.Fatal(err)
	}
	c, err := client.New(ctx, settings, client.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := list(ctx, os.Stdout, c, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// list prints the missions of the projects of a name.
func list(ctx context.Context, out io.Writer, c *client.Client, name string) error {
	projects := client.Query{Filter: client.Filter{"name": map[string]any{"$eq": name}}}
	for project, err := range c.Projects.Search.All(ctx, projects) {
		if err != nil {
			return err
		}
		missions := client.Query{Filter: client.Filter{"project": map[string]any{"$eq": project.ID}}}
		for mission, err := range c.Missions.Search.All(ctx, missions) {
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%s\t%s\n", mission.ID, mission.Name)
		}
	}
	return nil
}
