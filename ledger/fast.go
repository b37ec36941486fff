package ledger

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// fast reads a line of the plain form: one flat object, every known key at most
// once, strings without escapes, whole numbers without exponents. It returns
// false for any other line, which says nothing about whether that is a record.
func (p *parser) fast(line []byte) bool {
	p.rec = record{}
	s := cursor{rest: line}
	if !s.take('{') || s.take('}') {
		return false
	}
	var seen uint
	for {
		key, ok := s.text()
		if !ok || !s.take(':') {
			return false
		}
		bit := p.field(&s, key)
		if bit == 0 || seen&bit != 0 {
			return false
		}
		seen |= bit
		if s.take(',') {
			continue
		}
		return s.take('}') && len(s.rest) == 0
	}
}

// field reads the value of a key and returns the key's own bit, 0 where the key
// is not known or its value is not of the plain form.
func (p *parser) field(s *cursor, key []byte) uint {
	var ok bool
	var bit uint
	r := &p.rec
	switch string(key) {
	case "event":
		bit, ok = 1<<0, s.word(p, &r.Event)
	case "sleep":
		bit, ok = 1<<1, s.integer(&r.Sleep)
	case "name":
		bit, ok = 1<<2, s.word(p, &r.Name)
	case "why":
		bit, ok = 1<<3, s.word(p, &r.Why)
	case "minutes":
		bit, ok = 1<<4, s.integer(&r.Minutes)
	case "array":
		bit, ok = 1<<5, s.integer(&r.Array)
	case "job_ids":
		bit, ok = 1<<6, s.words(&r.JobIDs)
	case "exit_code":
		bit, ok = 1<<7, s.exitCode(&r.ExitCode)
	case "state":
		bit, ok = 1<<8, s.word(p, &r.State)
	case "at":
		bit, ok = 1<<9, s.number(&r.At)
	}
	if !ok {
		return 0
	}
	return bit
}

// cursor walks over one line.
type cursor struct{ rest []byte }

func (s *cursor) space() {
	for len(s.rest) > 0 && (s.rest[0] == ' ' || s.rest[0] == '\t') {
		s.rest = s.rest[1:]
	}
}

// take consumes the byte, and white space around it, if it is next.
func (s *cursor) take(b byte) bool {
	s.space()
	if len(s.rest) == 0 || s.rest[0] != b {
		return false
	}
	s.rest = s.rest[1:]
	s.space()
	return true
}

// text reads a string that stands for itself. Control characters are not
// allowed in JSON, and bad UTF-8 is for encoding/json to replace.
func (s *cursor) text() ([]byte, bool) {
	if len(s.rest) == 0 || s.rest[0] != '"' {
		return nil, false
	}
	end := bytes.IndexByte(s.rest[1:], '"')
	if end < 0 {
		return nil, false
	}
	text := s.rest[1 : 1+end]
	ascii := true
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return nil, false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if !ascii && !utf8.Valid(text) {
		return nil, false
	}
	s.rest = s.rest[end+2:]
	return text, true
}

func (s *cursor) word(p *parser, into *string) bool {
	text, ok := s.text()
	if ok {
		*into = p.word(text)
	}
	return ok
}

func (s *cursor) words(into *[]string) bool {
	if !s.take('[') {
		return false
	}
	list := []string{}
	if s.take(']') {
		*into = list
		return true
	}
	for {
		text, ok := s.text()
		if !ok {
			return false
		}
		list = append(list, string(text))
		if s.take(',') {
			continue
		}
		*into = list
		return s.take(']')
	}
}

// digits returns the next number's text: an optional sign, digits without a
// leading zero, and with fraction an optional part after a point.
func (s *cursor) digits(fraction bool) []byte {
	i := 0
	if i < len(s.rest) && s.rest[i] == '-' {
		i++
	}
	from := i
	for i < len(s.rest) && isDigit(s.rest[i]) {
		i++
	}
	if i == from || s.rest[from] == '0' && i > from+1 {
		return nil
	}
	if fraction && i+1 < len(s.rest) && s.rest[i] == '.' && isDigit(s.rest[i+1]) {
		i++
		for i < len(s.rest) && isDigit(s.rest[i]) {
			i++
		}
	}
	text := s.rest[:i]
	s.rest = s.rest[i:]
	return text
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *cursor) integer(into *int) bool {
	n, err := strconv.Atoi(string(s.digits(false)))
	*into = n
	return err == nil
}

func (s *cursor) number(into *float64) bool {
	f, err := strconv.ParseFloat(string(s.digits(true)), 64)
	*into = f
	return err == nil
}

func (s *cursor) exitCode(into **int) bool {
	if rest, ok := bytes.CutPrefix(s.rest, []byte("null")); ok {
		s.rest = rest
		return true
	}
	n := new(int)
	*into = n
	return s.integer(n)
}
