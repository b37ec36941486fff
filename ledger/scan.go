package ledger

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// scan reads the records once from front to back and hands each to visit,
// which must not keep the record itself. It returns the number of lines that
// were lost: those that are no record, and those longer than [MaxLineBytes].
//
// A last line without its newline counts if it is a whole record. An append
// that comes later closes the line, so what was read once is not lost later.
func scan(r io.Reader, visit func(*record)) (lost int, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var p parser
	var long []byte
	for {
		line, err := readLine(in, &long)
		if err != nil && !errors.Is(err, io.EOF) {
			if !errors.Is(err, errLongLine) {
				return lost, err
			}
			lost++
			continue
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if rec, ok := p.parse(line); !ok {
				lost++
			} else if rec != nil {
				visit(rec)
			}
		}
		if err != nil {
			return lost, nil
		}
	}
}

var errLongLine = errors.New("line too long")

// readLine returns the next line, good until the next call. It uses long as
// scratch for a line that does not fit the reader's buffer. A line beyond the
// bound is consumed and is errLongLine; the end of input comes with what
// precedes it as io.EOF.
func readLine(in *bufio.Reader, long *[]byte) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	*long = append((*long)[:0], line...)
	tooLong := false
	for err == bufio.ErrBufferFull {
		line, err = in.ReadSlice('\n')
		if tooLong = tooLong || len(*long)+len(line) > MaxLineBytes; !tooLong {
			*long = append(*long, line...)
		}
	}
	if tooLong && (err == nil || errors.Is(err, io.EOF)) {
		// At the end of input the next call returns io.EOF with nothing before it.
		return nil, errLongLine
	}
	return *long, err
}

// parser turns lines into records. It keeps what it has allocated between lines.
type parser struct {
	rec   record
	words map[string]string
}

// parse returns the record in the line, nil for an event that is not known, and
// false for a line that is no record.
//
// A ledger is read at every question and every wake, so the form in which
// kernels write their lines is read by hand, in a tenth of the time that
// encoding/json takes. Everything else is left to encoding/json: escapes,
// unknown keys, odd numbers. The two agree on every line that both read.
func (p *parser) parse(line []byte) (*record, bool) {
	if !p.fast(line) && !p.slow(line) {
		return nil, false
	}
	switch p.rec.Event {
	case submittedEvent, endedEvent:
		return &p.rec, p.rec.Name != ""
	case "":
		return nil, false
	}
	return nil, true
}

func (p *parser) slow(line []byte) bool {
	var wire struct {
		Event    string   `json:"event"`
		Sleep    int      `json:"sleep"`
		Name     string   `json:"name"`
		Why      string   `json:"why"`
		Minutes  int      `json:"minutes"`
		Array    int      `json:"array"`
		JobIDs   []string `json:"job_ids"`
		ExitCode *int     `json:"exit_code"`
		State    string   `json:"state"`
		At       float64  `json:"at"`
	}
	if err := json.Unmarshal(line, &wire); err != nil {
		// A newer kernel's event may give a known key another type. Such a line is
		// whole, and nothing that this package could use is lost with it.
		var other struct {
			Event string `json:"event"`
		}
		if json.Unmarshal(line, &other) != nil || other.Event == submittedEvent || other.Event == endedEvent {
			return false
		}
		p.rec = record{Event: other.Event}
		return true
	}
	p.rec = record(wire)
	return true
}

// word returns the text as a string, the same one for the same text where it is
// short: states and names of tasks come again and again.
func (p *parser) word(b []byte) string {
	const longest, most = 64, 1024
	if len(b) > longest {
		return string(b)
	}
	if s, ok := p.words[string(b)]; ok {
		return s
	}
	s := string(b)
	if p.words == nil {
		p.words = make(map[string]string)
	}
	if len(p.words) < most {
		p.words[s] = s
	}
	return s
}
