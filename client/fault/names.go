package fault

import "sort"

// The error names of the platform's client interface.
type (
	// BoundingBoxError: a bounding box is malformed.
	BoundingBoxError struct{ Info }
	// ConfigError: the connection settings or the configuration file are wrong.
	ConfigError struct{ Info }
	// DownloadError: a downloaded file is not what it should be.
	DownloadError struct{ Info }
	// FileError: a local file cannot be read, or holds what it should not.
	FileError struct{ Info }
	// ImmutableAttribute: a script assigned to a field of a resource.
	ImmutableAttribute struct{ Info }
	// MissingCredentialsError: no credentials were given where some are needed.
	MissingCredentialsError struct{ Info }
	// ParameterError: an argument is missing, unknown, of the wrong type, or at
	// odds with another one. Nothing was sent.
	ParameterError struct{ Info }
	// QueryError: a query is malformed, or an answer does not hold what it must.
	QueryError struct{ Info }
	// SearchError: a search failed.
	SearchError struct{ Info }
	// TokenRenewalError: the platform refused the credentials.
	TokenRenewalError struct{ Info }
	// UnsupportedOperationError: the operation does not exist for this resource.
	UnsupportedOperationError struct{ Info }
	// UnsupportedResourceError: the resource is not of a kind the operation takes.
	UnsupportedResourceError struct{ Info }
	// UploadError: a file could not be uploaded.
	UploadError struct{ Info }

	// ResponseError: the platform answered with a status outside 200-299.
	ResponseError struct {
		Info
		Status  int    // HTTP status
		Service string // service that answered, when the body says so
		Code    string // error name given by the service, not the HTTP status
		Details any    // as the service sent it
		Data    any    // the whole body: decoded JSON, else text
	}
)

// Names of the interface's host language, kept because scripts test them.
type (
	// KeyError: a key is not supported.
	KeyError struct{ Info }
	// RuntimeError: a value is not allowed, or anything without a better name.
	RuntimeError struct{ Info }
	// ValueError: a value is out of range.
	ValueError struct{ Info }
	// TypeError: a value is of the wrong type.
	TypeError struct{ Info }
	// FileExistsError: the target file exists and overwrite is not set.
	FileExistsError struct{ Info }
)

// Names of Transect's own.
type (
	// ConnectionError: the platform could not be reached, or the connection
	// broke and repeating did not help. Running again may.
	ConnectionError struct{ Info }
	// TimeoutError: a time limit passed.
	TimeoutError struct{ Info }
	// CancelledError: the run or the task was stopped.
	CancelledError struct{ Info }
	// SyntaxError: a script does not parse.
	SyntaxError struct{ Info }
	// UsageError: the command line is wrong.
	UsageError struct{ Info }
	// LockedError: another run holds the lock.
	LockedError struct{ Info }
	// LimitError: a script went past a limit set for it.
	LimitError struct{ Info }
	// PermissionError: the script may not reach that.
	PermissionError struct{ Info }
	// AssertionError: a test found something else than it expects.
	AssertionError struct{ Info }
	// PlatformError: the local platform's folder cannot be used.
	PlatformError struct{ Info }
)

func (*BoundingBoxError) Name() string          { return "BoundingBoxError" }
func (*ConfigError) Name() string               { return "ConfigError" }
func (*DownloadError) Name() string             { return "DownloadError" }
func (*FileError) Name() string                 { return "FileError" }
func (*ImmutableAttribute) Name() string        { return "ImmutableAttribute" }
func (*MissingCredentialsError) Name() string   { return "MissingCredentialsError" }
func (*ParameterError) Name() string            { return "ParameterError" }
func (*QueryError) Name() string                { return "QueryError" }
func (*SearchError) Name() string               { return "SearchError" }
func (*TokenRenewalError) Name() string         { return "TokenRenewalError" }
func (*UnsupportedOperationError) Name() string { return "UnsupportedOperationError" }
func (*UnsupportedResourceError) Name() string  { return "UnsupportedResourceError" }
func (*UploadError) Name() string               { return "UploadError" }
func (*ResponseError) Name() string             { return "ResponseError" }
func (*KeyError) Name() string                  { return "KeyError" }
func (*RuntimeError) Name() string              { return "RuntimeError" }
func (*ValueError) Name() string                { return "ValueError" }
func (*TypeError) Name() string                 { return "TypeError" }
func (*FileExistsError) Name() string           { return "FileExistsError" }
func (*ConnectionError) Name() string           { return "ConnectionError" }
func (*TimeoutError) Name() string              { return "TimeoutError" }
func (*CancelledError) Name() string            { return "CancelledError" }
func (*SyntaxError) Name() string               { return "SyntaxError" }
func (*UsageError) Name() string                { return "UsageError" }
func (*LockedError) Name() string               { return "LockedError" }
func (*LimitError) Name() string                { return "LimitError" }
func (*PermissionError) Name() string           { return "PermissionError" }
func (*AssertionError) Name() string            { return "AssertionError" }
func (*PlatformError) Name() string             { return "PlatformError" }

var makers = map[string]func() Fault{}

func init() {
	for _, f := range []func() Fault{
		func() Fault { return &BoundingBoxError{} }, func() Fault { return &ConfigError{} },
		func() Fault { return &DownloadError{} }, func() Fault { return &FileError{} },
		func() Fault { return &ImmutableAttribute{} }, func() Fault { return &MissingCredentialsError{} },
		func() Fault { return &ParameterError{} }, func() Fault { return &QueryError{} },
		func() Fault { return &SearchError{} }, func() Fault { return &TokenRenewalError{} },
		func() Fault { return &UnsupportedOperationError{} }, func() Fault { return &UnsupportedResourceError{} },
		func() Fault { return &UploadError{} }, func() Fault { return &ResponseError{} },
		func() Fault { return &KeyError{} }, func() Fault { return &RuntimeError{} },
		func() Fault { return &ValueError{} }, func() Fault { return &TypeError{} },
		func() Fault { return &FileExistsError{} }, func() Fault { return &ConnectionError{} },
		func() Fault { return &TimeoutError{} }, func() Fault { return &CancelledError{} },
		func() Fault { return &SyntaxError{} }, func() Fault { return &UsageError{} },
		func() Fault { return &LockedError{} }, func() Fault { return &LimitError{} }, func() Fault { return &PermissionError{} },
		func() Fault { return &AssertionError{} },
		func() Fault { return &PlatformError{} },
	} {
		makers[f().Name()] = f
	}
}

// Named returns a new, empty fault of that name; ParameterError for a name
// that does not exist.
func Named(name string) Fault {
	if make, ok := makers[name]; ok {
		return make()
	}
	return &ParameterError{}
}

// Names lists every error name, sorted.
func Names() []string {
	names := make([]string, 0, len(makers))
	for name := range makers {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
