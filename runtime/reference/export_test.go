package reference

import (
	"maps"
	"slices"
)

// Own lists the operations in ownErrors.
func Own() []string { return slices.Sorted(maps.Keys(ownErrors)) }
