package journal

import (
	"errors"
	"regexp"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const usualHint = "check the folder's permissions and the free space"

// words say what SQLite says in codes, and what to do about it.
var words = map[int][2]string{
	lib.SQLITE_FULL:     {"the disk is full", "make some free space; until then half-sent files start over"},
	lib.SQLITE_READONLY: {"it may only be read", "check the permissions of the folder and of the journal"},
	lib.SQLITE_PERM:     {"it may not be opened", "check the permissions of the folder and of the journal"},
	lib.SQLITE_CANTOPEN: {"it cannot be opened", usualHint},
	lib.SQLITE_IOERR:    {"the disk failed to read or write it", "look whether the disk is full, still there and sound"},
	lib.SQLITE_BUSY:     {"another process keeps it locked", "look for a run that hangs; else run again"},
	lib.SQLITE_LOCKED:   {"another process keeps it locked", "look for a run that hangs; else run again"},
	lib.SQLITE_NOTADB:   {"it is no database", ""},
	lib.SQLITE_CORRUPT:  {"it is damaged", ""},
	lib.SQLITE_NOMEM:    {"there is too little memory", "end what takes it, and run again"},
}

// bareCode is what SQLite puts behind its words.
var bareCode = regexp.MustCompile(` \(\d+\)( \(SQLITE_\w+\))?$`)

// reason tells an error of the journal in words, and what to do.
func reason(err error) (why, hint string) {
	var e *sqlite.Error
	if !errors.As(err, &e) || errors.Is(err, errForeign) {
		return bareCode.ReplaceAllString(err.Error(), ""), usualHint
	}
	if w, ok := words[codeOf(err)]; ok {
		return w[0], w[1]
	}
	return bareCode.ReplaceAllString(e.Error(), ""), usualHint
}
