package bindings_test

import (
	"context"
	"log"
	"os"

	"transect/bindings"
	"transect/client"
	"transect/platform"
	"transect/runtime/luastd"
	"transect/runtime/vm"
)

// Open gives scripts the client. It connects when a script first needs the platform.
func ExampleOpen() {
	ctx := context.Background()
	p, err := platform.Open(ctx, platform.Options{Memory: true})
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	in := luastd.New(ctx, vm.Options{Stdout: os.Stdout})
	defer in.Close()
	bindings.Open(in, func(ctx context.Context, _ *client.Settings) (*client.Client, error) {
		login := p.Credentials()
		return client.New(ctx, client.Settings{URL: platform.Address, User: login.User, Password: login.Password,
			ClientID: login.ClientID, ClientSecret: login.ClientSecret}, client.Options{RoundTripper: p.RoundTripper()})
	})

	_, err = in.RunString("projects", `
		local sdk, query = require("sdk"), require("query")
		sdk.projects.find_or_create("North quarry")
		for p in sdk.projects.search_generator{ filter = query.eq("name", "North quarry") } do
			print(p.name, #p.id)
		end`)
	if err != nil {
		log.Fatal(err)
	}
	// Output: North quarry	24
}
