package verbs

import (
	"errors"
	"fmt"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
	"github.com/outerloop-go/outerloop/internal/render"
)

// failure is an error as it is told to whoever called: its cause, its cure, and
// whether the call itself is to blame.
type failure struct {
	cause, cure string
	wrongCall   bool
}

func (f *failure) Error() string { return f.cause }

// failed is a failure of a call that was right.
func failed(cure, cause string, args ...any) error {
	return &failure{cause: fmt.Sprintf(cause, args...), cure: cure}
}

// wrongCall is a failure that the same call will always meet.
func wrongCall(cure, cause string, args ...any) error {
	return &failure{cause: fmt.Sprintf(cause, args...), cure: cure, wrongCall: true}
}

// asWrongCall blames the call for a bound that its own arguments exceed,
// whatever else is staged.
func asWrongCall(err error) error {
	var r *channel.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	asked := *r
	asked.Field = flagOf(r.Field)
	return &failure{cause: asked.Error(), cure: r.Cure, wrongCall: true}
}

// flagOf is a field of the committed file as whoever called knows it, by its flag.
func flagOf(field string) string {
	name, _, _ := strings.Cut(field, "[")
	switch name {
	case "name", "minutes", "why", "array", "concurrency", "report",
		"file", "kind", "confidence", "summary", "detail", "category", "notes":
		return "--" + name
	case "artifacts":
		return "--artifact"
	case "eval_minutes":
		return "--minutes"
	}
	return field
}

// explain finds the cause and the cure of an error.
func explain(v *Verb, err error) *failure {
	var f *failure
	var r *channel.RefusedError
	switch {
	case errors.As(err, &f):
		return f
	case errors.As(err, &r):
		return &failure{cause: r.Error(), cure: r.Cure}
	case errors.Is(err, channel.ErrCommitted):
		return &failure{
			cause: "a request is committed already, and nothing that is staged after it would be read",
			cure:  "end your session now, or take the request back with syscall-cancel",
		}
	case errors.Is(err, dirfd.ErrNotRegular), errors.Is(err, dirfd.ErrTooLarge):
		return &failure{cause: err.Error(), cure: "remove what stands in its place; only the syscall programs and the kernel write files there"}
	}
	return &failure{
		cause: err.Error(),
		cure:  "try again; if it stays so, go on without " + v.program() + " and tell whoever runs the kernel",
	}
}

// maxMessage bounds a line of a message. A whole call fits, which may be shown.
const maxMessage = 8_000

// lines is how a failure is printed. Each of the two is one line, whatever an
// argument that is quoted in it held.
func (f *failure) lines(v *Verb) string {
	line := func(kind, text string) string {
		return v.program() + ": " + kind + ": " + strings.ReplaceAll(render.Text(text, maxMessage), "\n", `\n`) + "\n"
	}
	return line("error", f.cause) + line("hint", f.cure)
}
