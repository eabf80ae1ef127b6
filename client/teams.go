package client

// Teams are the groups of pilots of a company.
type Teams struct {
	Create    Op[CreateTeam, Team]    `create:"create-team" doc:"Create a team."`
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
		Leader ID `arg:"leader,req" doc:"pilot who leads it from now on"`
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
	Create   Op[CreatePilot, Pilot] `create:"create-pilot" doc:"Make a user a pilot."`
	Delete   Op[Ref, None]          `delete:"delete-pilot" doc:"Delete a pilot; the user stays."`
	Describe Op[Refs, Some[Pilot]]  `read:"describe-pilot|describe-pilots" chunk:"1000" doc:"Describe one pilot or a list of pilots."`
	Search   SearchOp[Query, Pilot] `read:"search-pilots" page:"0" doc:"Find pilots."`
	Update   Op[UpdatePilot, Pilot] `set:"update-pilot" doc:"Set the teams of a pilot and what the pilot can fly."`
}

// Inputs of the pilot operations.
type (
	CreatePilot struct {
		User  ID   `arg:"user,req" doc:"user who flies"`
		Teams []ID `arg:"teams,req" doc:"teams the pilot belongs to"`
		PilotSkills
		Extra
	}
	PilotSkills struct {
		CarrierModels []ID `arg:"carrier_models" doc:"carrier models the pilot can fly"`
		SensorModels  []ID `arg:"sensor_models" doc:"sensor models the pilot can handle"`
	}
	UpdatePilot struct {
		Pilot ID   `arg:"pilot,req" doc:"pilot"`
		Teams []ID `arg:"teams" doc:"teams the pilot belongs to"`
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
