package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// tailSize is how much of the end is kept, in bytes, of a stream that is too
// long: more than any reader asks for, little enough to hold in memory.
const tailSize = 256 << 10

// capture copies one stream of a command into a file and bounds it: a job that
// prints forever must fill neither the disk nor memory, and must not be stopped
// or blocked for it either. The file grows as the stream does, for those who
// follow it, up to the bound. From there on only the last tailSize bytes are
// kept, and written when the stream ends, behind a line that says how much was
// left out.
type capture struct {
	from *os.File
	to   io.Writer
	head int64 // bytes that go straight into the file
	keep int   // bytes of the end that are kept

	tail    []byte // at most twice keep
	dropped int64  // bytes left out between the head and the tail

	done chan struct{}
	err  error // valid once done is closed
}

func newCapture(from, to *os.File, max int64) *capture {
	keep := min(tailSize, max/2)
	c := &capture{from: from, to: io.Discard, head: max - keep, keep: int(keep), done: make(chan struct{})}
	if to != nil {
		c.to = to
	}
	return c
}

func (c *capture) begin() {
	go func() {
		defer close(c.done)
		c.err = c.copy()
	}()
}

// copy reads to the end also when it cannot write any more: a full disk is no
// reason for the command to block.
func (c *capture) copy() (writeErr error) {
	buf := make([]byte, 32<<10)
	for {
		n, err := c.from.Read(buf)
		data := buf[:n]
		if straight := min(c.head, int64(n)); straight > 0 && writeErr == nil {
			_, writeErr = c.to.Write(data[:straight])
			c.head -= straight
			data = data[straight:]
		}
		c.hold(data)
		if err == nil {
			continue
		}
		if err := c.flush(); writeErr == nil {
			writeErr = err
		}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
		return errors.Join(writeErr, err)
	}
}

// hold keeps the data as the end of the stream as far as anybody knows.
func (c *capture) hold(data []byte) {
	c.tail = append(c.tail, data...)
	if len(c.tail) > 2*c.keep {
		c.trim()
	}
}

// trim shortens the tail to what is kept.
func (c *capture) trim() {
	if extra := len(c.tail) - c.keep; extra > 0 {
		c.dropped += int64(extra)
		c.tail = append(c.tail[:0], c.tail[extra:]...)
	}
}

func (c *capture) flush() error {
	c.trim()
	if c.dropped > 0 {
		if _, err := fmt.Fprintf(c.to, "\n[%d bytes left out here]\n", c.dropped); err != nil {
			return err
		}
	}
	_, err := c.to.Write(c.tail)
	return err
}
