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
	Record
	Name    string `json:"name"`
	Company string `json:"company"`
	Leader  string `json:"leader"`
	History
}
