package client

// Companies own projects, datasets and analytics.
type Companies struct {
	Describe Op[CompanyIDs, Some[Company]] `read:"describe-company|describe-companies" chunk:"1000" doc:"Describe one company or a list of companies."`
	Search   SearchOp[Query, Company]      `read:"search-companies" page:"1" doc:"Find companies."`
}

// CompanyIDs names companies.
type CompanyIDs struct {
	Company IDs `arg:"company,req,pos" many:"companies" doc:"company, or a list of companies"`
	Extra
}

// Users are the people and programs that use the platform.
type Users struct {
	Describe Op[UserRef, User]     `read:"describe-user" doc:"Describe a user; without one, the user who asks."`
	Search   SearchOp[Query, User] `read:"search-users" page:"1" doc:"Find users."`
}

// UserRef names a user.
type UserRef struct {
	User ID `arg:"user,pos" omit:"falsy" doc:"user; the one who asks when absent"`
	Extra
}

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
	Record         `doc:"Pair of id and secret that a program signs in with."`
	Name           string `json:"name" doc:"name of the client"`
	ClientType     string `json:"client_type" doc:"kind of client"`
	ExpirationDate string `json:"expiration_date" type:"date" doc:"when it expires; absent when it never does"`
	Company        string `json:"company" type:"id" doc:"company it belongs to"`
	History
}
