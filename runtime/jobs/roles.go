package jobs

import _ "embed"

// Roles is a file of SQL: roles with the least rights for PostgreSQL.
//
//go:embed roles.sql
var Roles string
