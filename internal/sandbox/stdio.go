package sandbox

import (
	"errors"
	"os"
	"time"
)

// DefaultOutput bounds each output stream in bytes. Nobody is ever shown more
// than the last 8,000 characters; the rest is for an operator who looks for the
// beginning of a trouble.
const DefaultOutput = 64 << 20

// Stdio is a command's standard streams. None of them is closed by Run.
type Stdio struct {
	In  *os.File // nil for nothing to read
	Out *os.File // nil to discard
	Err *os.File // nil to discard
}

func (p *process) openStdio(std Stdio, max int64) error {
	if std.In != nil {
		p.files = append(p.files, std.In)
	} else {
		null, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		p.hand(null)
	}
	if max <= 0 {
		max = DefaultOutput
	}
	for _, to := range []*os.File{std.Out, std.Err} {
		r, w, err := os.Pipe()
		if err != nil {
			return err
		}
		p.kept = append(p.kept, r)
		p.hand(w)
		p.output = append(p.output, newCapture(r, to, max))
	}
	return nil
}

// finishOutput waits until all output is where it belongs. Everybody who could
// write has been killed, so the pipes come to their end at once. Only a process
// that left its session under [None] can still hold one open; what it has to
// say after a second is not waited for.
func (p *process) finishOutput() error {
	var errs []error
	for _, out := range p.output {
		out.from.SetReadDeadline(time.Now().Add(time.Second))
	}
	for _, out := range p.output {
		<-out.done
		errs = append(errs, out.err)
	}
	return errors.Join(errs...)
}
