package client

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
