package platform

var companies = kind{name: "company", plural: "companies", firstPage: 1, limit: 50}

func companyRoutes() []route {
	return []route{
		read("dxauth/describe-company", companies.describe),
		read("dxauth/describe-companies", companies.describeMany),
		read("dxauth/search-companies", companies.search),
	}
}
