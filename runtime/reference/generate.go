package reference

//go:generate go run transect/cmd/transect doc --markdown ../../docs/reference
