package fault

import (
	"errors"
	"maps"
	"reflect"
	"slices"
)

// ErrAnswerTooLarge is the cause of the error for an answer not read to its end.
var ErrAnswerTooLarge = errors.New("the answer is too large")

// The error names of the platform's client interface.
type (
	// BoundingBoxError: a bounding box is malformed.
	BoundingBoxError struct{ Info }
	// ConfigError: the connection settings or the configuration file are wrong.
	ConfigError struct{ Info }
	// DownloadError: a downloaded file is not the expected one.
	DownloadError struct{ Info }
	// FileError: a local file cannot be read or written, or has the wrong content.
	FileError struct{ Info }
	// ImmutableAttribute: a script assigned to a field of a resource.
	ImmutableAttribute struct{ Info }
	// MissingCredentialsError: credentials are required and none were given.
	MissingCredentialsError struct{ Info }
	// ParameterError: an argument is missing, unknown, of the wrong type, or
	// contradicts another one. Nothing was sent.
	ParameterError struct{ Info }
	// QueryError: a query is malformed, or an answer lacks a required value.
	QueryError struct{ Info }
	// SearchError: a search failed.
	SearchError struct{ Info }
	// TokenRenewalError: the platform refused the credentials.
	TokenRenewalError struct{ Info }
	// UnsupportedOperationError: the operation does not exist for this resource.
	UnsupportedOperationError struct{ Info }
	// UnsupportedResourceError: the operation does not accept this kind of resource.
	UnsupportedResourceError struct{ Info }
	// UploadError: a file could not be uploaded.
	UploadError struct{ Info }

	// ResponseError: the platform answered with a status outside 200-299.
	ResponseError struct {
		Info
		Status      int    // HTTP status
		Service     string // name of the answering service, if the body has it
		Code        string // error name of the service, not the HTTP status
		Details     any    // as sent by the service
		Data        any    // the whole body: decoded JSON, else text
		Unprocessed bool   // certainly not carried out, because the platform requested a retry later
	}
)

// Names from the host language of the interface, kept because scripts test them.
type (
	// KeyError: a key is not supported.
	KeyError struct{ Info }
	// RuntimeError: any error without a better name.
	RuntimeError struct{ Info }
	// ValueError: a value is out of range.
	ValueError struct{ Info }
	// TypeError: a value is of the wrong type.
	TypeError struct{ Info }
	// FileExistsError: the target file exists and overwrite is not set.
	FileExistsError struct{ Info }
)

// Names specific to Transect.
type (
	// ConnectionError: the platform could not be reached, or the connection broke,
	// also after retries. Running again may help.
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
	// UnknownOutcomeError: a write was sent, its answer was lost, and nothing shows whether it was
	// done. The user must decide.
	UnknownOutcomeError struct {
		Info
		Row        int      // number of the write in its run
		Candidates []string // ids of the records it may have created
	}
	// LimitError: a script exceeded one of its limits.
	LimitError struct{ Info }
	// PermissionError: the sandbox does not allow it.
	PermissionError struct{ Info }
	// AssertionError: an assertion of a test failed.
	AssertionError struct{ Info }
	// PlanError: a plan does not allow a write, or no longer holds.
	PlanError struct{ Info }
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
func (*UnknownOutcomeError) Name() string       { return "UnknownOutcomeError" }
func (*LimitError) Name() string                { return "LimitError" }
func (*PermissionError) Name() string           { return "PermissionError" }
func (*AssertionError) Name() string            { return "AssertionError" }
func (*PlanError) Name() string                 { return "PlanError" }
func (*PlatformError) Name() string             { return "PlatformError" }

var types = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, f := range []Fault{
		(*BoundingBoxError)(nil), (*ConfigError)(nil), (*DownloadError)(nil), (*FileError)(nil),
		(*ImmutableAttribute)(nil), (*MissingCredentialsError)(nil), (*ParameterError)(nil),
		(*QueryError)(nil), (*SearchError)(nil), (*TokenRenewalError)(nil), (*UnsupportedOperationError)(nil),
		(*UnsupportedResourceError)(nil), (*UploadError)(nil), (*ResponseError)(nil), (*KeyError)(nil),
		(*RuntimeError)(nil), (*ValueError)(nil), (*TypeError)(nil), (*FileExistsError)(nil),
		(*ConnectionError)(nil), (*TimeoutError)(nil), (*CancelledError)(nil), (*SyntaxError)(nil),
		(*UsageError)(nil), (*LockedError)(nil), (*LimitError)(nil), (*PermissionError)(nil),
		(*AssertionError)(nil), (*PlanError)(nil), (*PlatformError)(nil),
	} {
		types[f.Name()] = reflect.TypeOf(f).Elem()
	}
	return types
}()

// Named returns a new, empty fault of a name; a ParameterError for an unknown name.
func Named(name string) Fault {
	if t, ok := types[name]; ok {
		return reflect.New(t).Interface().(Fault)
	}
	return &ParameterError{}
}

// Names lists all error names, sorted.
func Names() []string { return slices.Sorted(maps.Keys(types)) }
