package luaoracle

import (
	"regexp"
	"strings"
)

// Same makes equal what the processor decides: the sign of what is not a number.
func Same(output string) string { return strings.ReplaceAll(output, "-nan", "nan") }

var digits = regexp.MustCompile(`:\d+:`)

// end is how a program ended, without lines.
func end(output string) string {
	lines := strings.Split(strings.TrimSuffix(output, "\n"), "\n")
	return digits.ReplaceAllString(lines[len(lines)-1], ":0:")
}

// ShrinkDifference gives the shortest program that it finds to differ as the one of a
// seed and a number does: which ends the same by lua5.1.
func ShrinkDifference(dir string, seed, n uint64) string {
	program := Generate(seed, n)
	original, err := referenceBatch(dir, Program, []string{program.String()})
	if err != nil || len(original) != 1 {
		return program.String()
	}
	return Shrink(program, func(code string) bool {
		want, err := referenceBatch(dir, Program, []string{code})
		return err == nil && len(want) == 1 && end(want[0]) == end(original[0]) && Same(want[0]) != Same(Ours(dir, Program, code))
	})
}
