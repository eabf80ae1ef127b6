package repl

import "testing"

func TestSecret(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`sdk.connect{ url = "u", user = "me", password = "hunter2" }`,
		`sdk.connect{ ["client_secret"] = 'hunter2' }`,
		`access_token = "hunter2"`,
		`local pw = "hunter2"`,
		`pass = [[hunter2]]`,
		`x = { aws_secret_access_key = "hunter2" }`,
		"headers = {\n  Authorization =\n  'Bearer hunter2' }",
		`url = "https://me:hunter2@example.com/"`,
		`fetch("https://e.example/x?sig=hunter2&y=1")`,
		`credentials.create{ name = "n", credentials = { type = "docker", value = "hunter2" } }`,
		`credentials.set_credentials("n", { "hunter2" })`,
		`os.setenv("TRANSECT_PASSWORD", "hunter2")`,
		`private_key = "-----BEGIN"`,
		`api_key='k'`,
	} {
		if !secret(text) {
			t.Errorf("would be remembered: %s", text)
		}
	}
	for _, text := range []string{
		`projects.search{ name = "North" }`,
		`share_tokens.search{ filter = { name = { ["$eq"] = "x" } } }`,
		`credentials.search{ name = "x" }`,
		`analytics.create{ name = "a", container_credentials_name = "registry" }`,
		`local passed = "x"`,
		`password = io.read()`,
		`print(token)`,
		`1 + 1`,
		`datasets.upload_file(d, { file_path = "a.tif" })`,
	} {
		if secret(text) {
			t.Errorf("would be forgotten: %s", text)
		}
	}
}
