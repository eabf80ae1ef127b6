package scan

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"transect/client/fault"
	"transect/client/verdict"
)

// Reason is why a file was left out.
type Reason string

// The reasons.
const (
	Filtered   Reason = "filtered"    // excluded by the caller's filter
	OwnReport  Reason = "own report"  // written by the caller
	Hidden     Reason = "hidden"      // its name starts with a dot
	SystemFile Reason = "system file" // written by an operating system, such as Thumbs.db
	Unfinished Reason = "unfinished"  // an unfinished download of Transect
	Empty      Reason = "empty"       // 0 bytes
	EmptyLog   Reason = "empty log"   // of a database, without any unsaved content
	Unreadable Reason = "unreadable"  // the system refuses to read it
	NotRegular Reason = "not a file"  // a pipe, socket or device
	Link       Reason = "link"        // a symbolic link, and links are not followed
	BrokenLink Reason = "broken link" // a symbolic link without target
	Repeated   Reason = "repeated"    // a link to a folder that is already read
	Missing    Reason = "missing"     // a listed file that does not exist
)

// reasons describe what is wrong with a file, and the remedy.
var reasons = map[Reason]struct{ sentence, hint string }{
	Filtered:   {"a filter leaves it out", ""},
	OwnReport:  {"it is the report of the run", ""},
	Hidden:     {"it is hidden", "rename it if it is to be sent"},
	SystemFile: {"it is a file of the operating system", ""},
	Unfinished: {"it is a download that did not finish", "finish the download it belongs to, or remove it"},
	Empty:      {"it is empty", "copy the file again from its source"},
	EmptyLog:   {"it is the log of a database, and empty", ""},
	Unreadable: {"it cannot be read", "check its permissions"},
	NotRegular: {"it is neither a file nor a folder", ""},
	Link:       {"it is a symbolic link", "follow links if what it points at is to be sent"},
	BrokenLink: {"it is a symbolic link to nothing", "remove the link, or restore what it points at"},
	Repeated:   {"it links to a folder that is read already", ""},
	Missing:    {"it does not exist", "check the list; a relative path starts at the current folder"},
}

// Skipped is a file, link or folder that was left out. Items yields it as an error and continues.
type Skipped struct {
	Path, Name string
	Reason     Reason
	Err        error // from the system, or nil
	Folder     bool  // a folder, with all its content
}

// Error returns one line: the name and the reason.
func (s *Skipped) Error() string { return s.Name + ": left out, " + s.Why() }

// Why returns the reason as a sentence about the file.
func (s *Skipped) Why() string {
	what := reasons[s.Reason].sentence
	if s.Folder && s.Reason != Repeated {
		what = strings.Replace(what, "leaves it", "leaves the folder", 1)
		what = strings.Replace(what, "it is a file", "it is a folder", 1)
		what = strings.Replace(what, "it ", "the folder ", 1)
	}
	if s.Err != nil && s.Reason == Unreadable {
		what += ": " + fault.Reason(s.Err).Error()
	}
	return what
}

// Unwrap returns the system's error.
func (s *Skipped) Unwrap() error { return s.Err }

// Hint returns the remedy, "" when none is needed.
func (s *Skipped) Hint() string {
	switch {
	case s.Reason != Unreadable || errors.Is(s.Err, fs.ErrPermission):
		return reasons[s.Reason].hint
	case errors.Is(s.Err, syscall.ENAMETOOLONG):
		return "move it up, or give its folders shorter names"
	}
	return "check its disk or card"
}

// Harmless reports whether the file probably was not meant to be sent.
func (s *Skipped) Harmless() bool {
	return slices.Contains([]Reason{Hidden, SystemFile, Filtered, OwnReport, EmptyLog}, s.Reason)
}

// Verdict returns the verdict on the file.
func (s *Skipped) Verdict() verdict.Verdict {
	switch s.Reason {
	case Empty:
		return verdict.Damaged
	case Unfinished:
		return verdict.Incomplete
	case Unreadable, Missing, BrokenLink:
		return verdict.Failed
	}
	return verdict.LeftOut
}

// systemFiles are names, in lower case, of files that operating systems leave behind.
var systemFiles = map[string]bool{
	"thumbs.db": true, "ehthumbs.db": true, "ehthumbs_vista.db": true, "desktop.ini": true,
	"__macosx": true, "system volume information": true, "$recycle.bin": true, "lost+found": true,
}

// unwanted reports whether a file or folder is never sent, because of its name.
func unwanted(name string) (Reason, bool) {
	switch {
	case strings.HasPrefix(name, ".transect-") && strings.HasSuffix(name, ".part"):
		return Unfinished, true
	case name[0] == '.' && strings.EqualFold(name, ".ds_store"):
		return SystemFile, true
	case name[0] == '.':
		return Hidden, true
	case len(name) <= 25 && systemFiles[strings.ToLower(name)]:
		return SystemFile, true
	}
	return "", false
}
