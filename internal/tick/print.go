package tick

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/outerloop-go/outerloop/internal/render"
)

// printer copies files that grow to one output, with a title where the file changes.
type printer struct {
	out   io.Writer
	clean bool // without control sequences, as a terminal must have it
	title string
	last  byte // that was shown
	files map[string]*printed
	open  []*printed // in the order in which they were first seen
}

// printed is what the printer knows of a file.
type printed struct {
	title string
	from  int64  // what comes next
	held  []byte // the beginning of a line: a control sequence may still be in parts
}

// maxHeld is how long a line may get before it is shown in parts.
const maxHeld = 16 << 10

// print shows what is new in the files and says whether there was anything.
func (p *printer) print(sources []logFile) (news bool, err error) {
	for _, s := range sources {
		file := p.files[s.path]
		if file == nil {
			file = &printed{title: s.title}
			p.files[s.path] = file
			p.open = append(p.open, file)
		}
		n, err := p.more(file, s.path)
		if err != nil {
			return news, err
		}
		news = news || n > 0
	}
	return news, nil
}

func (p *printer) more(file *printed, path string) (total int, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // it has not begun
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() < file.from {
		file.from, file.held = 0, nil // a job that was started anew
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, file.from)
		file.from += int64(n)
		total += n
		if werr := p.write(file, buf[:n]); werr != nil {
			return total, werr
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, fmt.Errorf("reading a log: %w", err)
		}
	}
}

func (p *printer) write(file *printed, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !p.clean {
		return p.put(file, b)
	}
	file.held = append(file.held, b...)
	whole := bytes.LastIndexByte(file.held, '\n') + 1
	if len(file.held)-whole > maxHeld {
		whole = len(file.held)
	}
	return p.release(file, whole)
}

// release shows the first bytes of what is held.
func (p *printer) release(file *printed, n int) error {
	if n == 0 {
		return nil
	}
	text := render.Text(string(file.held[:n]), n)
	file.held = append(file.held[:0], file.held[n:]...)
	return p.put(file, []byte(text))
}

func (p *printer) put(file *printed, b []byte) error {
	if file.title != p.title {
		gap := "\n"
		switch {
		case p.title == "":
			gap = ""
		case p.last != '\n':
			gap = "\n\n"
		}
		p.title = file.title
		if _, err := fmt.Fprintf(p.out, "%s==> %s <==\n", gap, p.title); err != nil {
			return err
		}
	}
	if len(b) == 0 {
		return nil
	}
	p.last = b[len(b)-1]
	_, err := p.out.Write(b)
	return err
}

// flush shows lines that have no end yet: it may be a prompt, or a bar that grows.
func (p *printer) flush() error {
	for _, file := range p.open {
		if err := p.release(file, len(file.held)); err != nil {
			return err
		}
	}
	return nil
}
