package client

// OAuthClients are pairs of id and secret that programs sign in with.
type OAuthClients struct {
	Create Op[CreateOAuthClient, OAuthClient] `create:"create-client" doc:"Create a client. The answer holds its secret, which is not shown again."`
	Delete Op[Ref, OAuthClient]               `delete:"delete-client" doc:"Delete a client."`
	Search SearchOp[Query, OAuthClient]       `read:"search-clients" page:"1" doc:"Find clients."`
}

// Inputs of the OAuth client operations.
type (
	CreateOAuthClient struct {
		Name           string `arg:"name,req,pos" doc:"name of the client"`
		ClientType     string `arg:"client_type" default:"sdk" choices:"sdk" doc:"kind of client"`
		ExpirationDate Date   `arg:"expiration_date" doc:"when it ends to be valid; never when absent"`
		Extra
	}
)

// OAuthClient is a pair of id and secret that a program signs in with.
type OAuthClient struct {
	Record
	Name           string `json:"name"`
	ClientType     string `json:"client_type"`
	ExpirationDate string `json:"expiration_date"` // empty when it never expires
	Company        string `json:"company"`
	History
}
