package platform

import "transect/platform/store"

var users = kind{name: "user", plural: "users", firstPage: 1, limit: 50}

// What makes a user allowed to do what others may not.
const (
	profileAdmin = "admin"
	roleManager  = "manager"
)

func userRoutes() []route {
	return []route{
		read("dxauth/describe-user", describeUser),
		read("dxauth/search-users", users.search),
	}
}

// describeUser answers with a user; with the caller when none is named.
func describeUser(r *Request) (any, error) {
	if r.args().has("user") {
		return users.describe(r)
	}
	a := r.args()
	fields := a.fields()
	if a.err != nil {
		return nil, a.err
	}
	doc, err := r.get(users, r.caller.user)
	return fields.Apply(doc), err
}

// needManager refuses callers who are neither administrators nor managers of
// their company.
func (r *Request) needManager(company string) error {
	user, err := r.get(users, r.caller.user)
	if err != nil {
		return err
	}
	if store.Text(user, "profile") == profileAdmin ||
		store.Text(user, "companyRole") == roleManager && store.Text(user, "company") == company {
		return nil
	}
	return forbidden("an administrator's profile, or the role of a manager of company %s, is required", company)
}
