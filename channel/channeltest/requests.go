package channeltest

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

func requestRules() []rule {
	consumes := func(c *Config) bool { return c.Consume != nil }
	return []rule{
		{id: "R1", name: "a request within the bounds is accepted", applies: consumes, check: (*suite).acceptsRequests},
		{id: "R2", name: "any other request is refused", applies: consumes, check: (*suite).refusesRequests},
		{id: "R3", name: "a request is read once", applies: consumes, check: (*suite).consumesRequests},
	}
}

// commit leaves a committed request and something staged beside it, and has the
// kernel consume it.
func (p *session) commit(raw []byte) (accepted []byte, err error) {
	p.Helper()
	p.must(os.WriteFile(p.path(channel.StagedFile), []byte(`{"launches":[],"note":"left over"}`), 0o666))
	p.must(os.WriteFile(p.path(channel.CommittedFile), raw, 0o666))
	return p.consume()
}

// consume has the kernel consume what is committed, which must be gone then,
// accepted or not.
func (p *session) consume() (accepted []byte, err error) {
	p.Helper()
	accepted, err = p.suite.Consume(p.T, p.workspace)
	for _, file := range []string{channel.CommittedFile, channel.StagedFile} {
		if _, gone := os.Lstat(p.path(file)); !errors.Is(gone, fs.ErrNotExist) {
			p.Errorf("%s is still there when the request is consumed (%v)", file, gone)
			p.must(os.RemoveAll(p.path(file)))
		}
	}
	return accepted, err
}

func (s *suite) acceptsRequests(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for _, row := range accepted() {
		t.Run(row.name, func(t *testing.T) {
			p := *p
			p.T = t
			got, err := p.commit([]byte(row.raw))
			if err != nil {
				t.Fatalf("refused: %v\n%.400s", err, row.raw)
			}
			if got == nil {
				return
			}
			if got, want := meaning(t, got), meaning(t, []byte(row.carried)); !bytes.Equal(got, want) {
				t.Errorf("it will be carried out as\n%.400s\nwant\n%.400s", got, want)
			}
		})
	}
}

// meaning is a request in one form, whatever the order of its keys and the
// spelling of its strings.
func meaning(t *testing.T, raw []byte) []byte {
	t.Helper()
	r, err := channel.ParseRequest(raw)
	if err != nil {
		t.Fatalf("this is no committed request: %v\n%.400s", err, raw)
	}
	same, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return same
}

func (s *suite) refusesRequests(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for _, row := range refused() {
		t.Run(row.name, func(t *testing.T) {
			p := *p
			p.T = t
			if got, err := p.commit([]byte(row.raw)); err == nil {
				t.Errorf("accepted as %.400s\n%.400s", got, row.raw)
			}
		})
	}
}

// consumesRequests: what was read is not read again, and what was refused is not
// refused again at every later leg.
func (s *suite) consumesRequests(t *testing.T) {
	p := s.prepare(t, s.Verbs[0])
	for _, raw := range []string{`{"type":"sleep"}`, "", "{", strings.Repeat(" ", channel.MaxVerdictBytes+1)} {
		p.commit([]byte(raw))
		if got, err := p.consume(); err == nil {
			t.Errorf("after %.40q: nothing was committed, and %.80q was accepted", raw, got)
		}
	}
	if got, err := p.commit([]byte(`{"type":"sleep","note":"the next leg"}`)); err != nil {
		t.Errorf("the next leg's request: %q, %v", got, err)
	}
}
