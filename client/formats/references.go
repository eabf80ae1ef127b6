package formats

import "io"

// Reference is a file named by another one, such as the texture of a mesh.
type Reference struct {
	Name      string // a path relative to the file
	Component string // its component, NotSent if no component can hold it
	Format    string // of a file that refers to others itself, or ""
	Note      string // significance of its presence, or ""
	// Several means that Name may be several names, separated by spaces.
	Several bool
	// Otherwise means that it counts only if its component has no other file.
	Otherwise bool
}

// Refers reports whether files with a name's extension may refer to others.
func Refers(name string) bool {
	f := withExtension(extension(name))
	return f.references != nil && f.kind != "file"
}

// References lists the files that a file of a format refers to.
func References(name, format string, r io.Reader) []Reference {
	if f := named(format); f.references != nil {
		return f.references(name, r)
	}
	return nil
}
