package reference

import (
	"maps"
	"slices"
)

// Own lists the operations whose own errors are written down.
func Own() []string { return slices.Sorted(maps.Keys(own)) }
