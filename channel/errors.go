package channel

import (
	"errors"
	"fmt"
)

// Errors that callers act on. They are found with errors.Is.
var (
	// ErrNoChannel: there is no channel where one was looked for. A verb was
	// called outside a workspace that a kernel has prepared.
	ErrNoChannel = errors.New("no channel here")
	// ErrNoAnswer: the wait was over before the kernel had answered. The
	// question stands, and a kernel that comes later still answers it.
	ErrNoAnswer = errors.New("no answer within the wait")
	// ErrCommitted: the session has committed a request already, and nothing
	// that is staged now would be read.
	ErrCommitted = errors.New("a request is already committed")
	// ErrNothingCommitted: the session ended without a request.
	ErrNothingCommitted = errors.New("no request was committed")
)

// RefusedError is a request, or a part of one, that is against a rule of the
// protocol. It says the same to the person or agent at a verb and to the one
// that is woken because the kernel refused.
type RefusedError struct {
	Field string // what is wrong, in the words of the committed file: "launches[1].minutes"
	Cause string // what is wrong with it
	Cure  string // what to do instead
}

func (e *RefusedError) Error() string {
	if e.Field == "" {
		return e.Cause
	}
	return e.Field + ": " + e.Cause
}

func refuse(field, cure, cause string, args ...any) error {
	return &RefusedError{Field: field, Cause: fmt.Sprintf(cause, args...), Cure: cure}
}

// within names the larger thing that a refused part belongs to.
func within(prefix string, err error) error {
	var r *RefusedError
	if err == nil || !errors.As(err, &r) {
		return err
	}
	field := prefix
	if r.Field != "" {
		field += "." + r.Field
	}
	return &RefusedError{Field: field, Cause: r.Cause, Cure: r.Cure}
}
