package platform

import (
	"transect/platform/store"
)

// seed puts in what is there from the start: a company, its user, and the
// analytics that the platform runs itself.
func (p *Platform) seed(tx *store.Tx) error {
	now := date(p.options.Now())
	s := p.secrets
	err := tx.Insert(companies.plural, store.Doc{
		"_id": s.Company, "name": "Local company", "creation_date": now, "creation_user": s.UserID,
	})
	if err != nil {
		return err
	}
	err = tx.Insert(users.plural, store.Doc{
		"_id": s.UserID, "company": s.Company, "companies": []any{s.Company},
		"companyRole": roleManager, "profile": profileAdmin,
		"username": s.User, "email": s.User,
		"firstName": "Local", "lastName": "User", "displayName": "Local User",
		"status": "active", "language": "en", "country": "", "dateFormat": "YYYY-MM-DD",
		"units": "metric", "created": now, "creation_date": now,
	})
	if err != nil {
		return err
	}
	return p.seedAnalytics(tx, now)
}
