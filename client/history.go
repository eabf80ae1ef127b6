package client

// History is when and by whom a record was made, changed and deleted. Dates
// are texts, users are ids; what has not happened is empty.
type History struct {
	CreationDate     string `json:"creation_date"`
	CreationUser     string `json:"creation_user"`
	ModificationDate string `json:"modification_date"`
	ModificationUser string `json:"modification_user"`
	DeletionDate     string `json:"deletion_date"`
	DeletionUser     string `json:"deletion_user"`
}
