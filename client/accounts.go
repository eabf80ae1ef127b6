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
	Describe Op[UserRef, User]     `read:"describe-user" doc:"Describe a user, by default the current one."`
	Search   SearchOp[Query, User] `read:"search-users" page:"1" doc:"Find users."`
}

// UserRef names a user.
type UserRef struct {
	User ID `arg:"user,pos" omit:"falsy" doc:"user; the current one when absent"`
	Extra
}

// OAuthClients are pairs of id and secret that programs sign in with.
type OAuthClients struct {
	Create Op[CreateOAuthClient, OAuthClient] `create:"create-client" unknown:"ask name" doc:"Create a client. The answer holds its secret, which is not shown again."`
	Delete Op[Ref, OAuthClient]               `delete:"delete-client" doc:"Delete a client."`
	Search SearchOp[Query, OAuthClient]       `read:"search-clients" page:"1" doc:"Find clients."`
}

// Inputs of the OAuth client operations.
type (
	CreateOAuthClient struct {
		Name           string `arg:"name,req,pos" doc:"name of the client"`
		ClientType     string `arg:"client_type" default:"sdk" choices:"sdk" doc:"kind of client"`
		ExpirationDate Date   `arg:"expiration_date" doc:"when it expires; never when absent"`
		Extra
	}
)

// OAuthClient is a pair of id and secret that a program signs in with.
type OAuthClient struct {
	Record         `doc:"Id and secret with which a program logs in."`
	Name           string `json:"name" doc:"name of the client"`
	ClientType     string `json:"client_type" doc:"kind of client"`
	ExpirationDate string `json:"expiration_date" type:"date" doc:"when it expires; absent when it never does"`
	Company        string `json:"company" type:"id" doc:"company it belongs to"`
	History
}

// Teams are the groups of pilots of a company.
type Teams struct {
	Create    Op[CreateTeam, Team]    `create:"create-team" unknown:"key name,company" doc:"Create a team."`
	Delete    Op[Ref, None]           `delete:"delete-team" doc:"Delete a team."`
	Describe  Op[Refs, Some[Team]]    `read:"describe-team|describe-teams" chunk:"1000" doc:"Describe one team or a list of teams."`
	Rename    Op[RenameTeam, Team]    `set:"set-team-name" doc:"Rename a team."`
	Search    SearchOp[Query, Team]   `read:"search-teams" page:"0" doc:"Find teams."`
	SetLeader Op[SetTeamLeader, Team] `set:"set-team-leader" doc:"Set the pilot who leads a team."`
}

// Inputs of the team operations.
type (
	CreateTeam struct {
		Company ID     `arg:"company,req" doc:"company it belongs to"`
		Name    string `arg:"name,req" doc:"name of the team"`
		Leader  ID     `arg:"leader" doc:"pilot who leads it"`
		Extra
	}
	RenameTeam struct {
		Ref
		Name string `arg:"name,req,pos" doc:"new name"`
	}
	SetTeamLeader struct {
		Ref
		Leader ID `arg:"leader,req" doc:"new leader, a pilot"`
	}
)

// Team is a group of pilots.
type Team struct {
	Record  `doc:"Group of pilots."`
	Name    string `json:"name" doc:"name of the team"`
	Company string `json:"company" type:"id" doc:"company it belongs to"`
	Leader  string `json:"leader" type:"id" doc:"pilot who leads it"`
	History
}

// Pilots are the users who fly, with what they can fly.
type Pilots struct {
	Create   Op[CreatePilot, Pilot] `create:"create-pilot" unknown:"key user" doc:"Make a user a pilot."`
	Delete   Op[Ref, None]          `delete:"delete-pilot" doc:"Delete a pilot; the user stays."`
	Describe Op[Refs, Some[Pilot]]  `read:"describe-pilot|describe-pilots" chunk:"1000" doc:"Describe one pilot or a list of pilots."`
	Search   SearchOp[Query, Pilot] `read:"search-pilots" page:"0" doc:"Find pilots."`
	Update   Op[UpdatePilot, Pilot] `set:"update-pilot" doc:"Set the teams of a pilot and what the pilot can fly."`
}

// Inputs of the pilot operations.
type (
	CreatePilot struct {
		User  ID   `arg:"user,req" doc:"user who flies"`
		Teams []ID `arg:"teams,req" set:"yes" doc:"teams the pilot belongs to"`
		PilotSkills
		Extra
	}
	PilotSkills struct {
		CarrierModels []ID `arg:"carrier_models" set:"yes" doc:"carrier models the pilot can fly"`
		SensorModels  []ID `arg:"sensor_models" set:"yes" doc:"sensor models the pilot can handle"`
	}
	UpdatePilot struct {
		Pilot ID   `arg:"pilot,req" doc:"pilot"`
		Teams []ID `arg:"teams" set:"yes" doc:"teams the pilot belongs to"`
		PilotSkills
		Extra
	}
)

// Pilot is a user who flies.
type Pilot struct {
	Record        `doc:"User who flies."`
	User          string   `json:"user" type:"id" doc:"user who flies"`
	Teams         []string `json:"teams" type:"[]id" doc:"teams the pilot belongs to"`
	CarrierModels []string `json:"carrier_models" type:"[]id" doc:"carrier models the pilot can fly"`
	SensorModels  []string `json:"sensor_models" type:"[]id" doc:"sensor models the pilot can handle"`
	Companies     []string `json:"companies" type:"[]id" doc:"companies of the pilot's teams"`
	History
}
