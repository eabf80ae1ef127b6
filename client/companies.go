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
