package channeltest

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// session plays a session with a kernel that answers it. It asks by itself and
// not through [channel.Session], for it is the wire that is tested.
type session struct {
	*testing.T
	suite     *suite
	verb      Verb
	workspace string
	stop      func() // ends the kernel; may be called again
}

// question is one that was left.
type question struct {
	stamp channel.Stamp
	at    time.Time // before it was left
}

// prepare makes a workspace with a channel, and no kernel yet.
func (s *suite) prepare(t *testing.T, v Verb) *session {
	t.Helper()
	// Open descriptors are known by their real path.
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &session{T: t, suite: s, verb: v, workspace: workspace, stop: func() {}}
	p.must(os.Mkdir(p.path(""), 0o777))
	return p
}

// begin is prepare with a kernel that has answered its first questions.
func (s *suite) begin(t *testing.T, v Verb) *session {
	t.Helper()
	p := s.prepare(t, v)
	p.start()
	p.ask()
	begun := time.Now()
	p.ask()
	s.slowest = max(s.slowest, time.Since(begun))
	return p
}

func (p *session) start() {
	p.Helper()
	p.stop = sync.OnceFunc(p.suite.Start(p.T, p.workspace))
	p.Cleanup(p.stop)
}

func (p *session) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// path is that of a file in the channel, or of the channel for "".
func (p *session) path(name string) string {
	return filepath.Join(p.workspace, channel.DirName, name)
}

func (p *session) request() string { return p.path(p.verb.Name + "-request") }
func (p *session) done() string    { return p.path(p.verb.Name + "-done") }
func (p *session) answer() string  { return p.path(p.verb.Name + ".json") }

// read returns a file without following or waiting for what was planted there.
// A file that is not to be had is nil.
func (p *session) read(path string, most int64) []byte {
	dir, err := dirfd.Open(filepath.Dir(path))
	if err != nil {
		return nil
	}
	defer dir.Close()
	raw, err := dir.ReadSmall(filepath.Base(path), most)
	if err != nil {
		return nil
	}
	return raw
}

// answered is the stamp in the done marker.
func (p *session) answered() channel.Stamp { return channel.ParseStamp(p.read(p.done(), 64)) }

// touch sets the mtime of a file, which is made where it is missing. The zero
// time is now.
func touch(path string, at time.Time) (channel.Stamp, error) {
	dir, err := dirfd.Open(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	kept, err := dir.Touch(filepath.Base(path), at)
	return channel.StampOf(kept), err
}

// leave asks as a peer does: where the time is not past what was answered, the
// marker is set to one second past it.
func (p *session) leave() question {
	p.Helper()
	q := question{at: time.Now()}
	before := p.answered()
	var err error
	if q.stamp, err = touch(p.request(), time.Time{}); err == nil && q.stamp <= before {
		q.stamp, err = touch(p.request(), timeOf(before).Add(time.Second))
	}
	p.must(err)
	return q
}

// timeOf is a time within a microsecond of the stamp.
func timeOf(s channel.Stamp) time.Time {
	sec := int64(s)
	return time.Unix(sec, int64((float64(s)-float64(sec))*1e9))
}

// place puts a marker in place that has its time from the first moment on, and
// takes away what was answered: done is what the done marker says then, "" for
// no marker.
func (p *session) place(done string, mtime time.Time) question {
	p.Helper()
	p.clear()
	if done != "" {
		p.must(os.WriteFile(p.path("new-done"), []byte(done), 0o666))
		p.must(os.Rename(p.path("new-done"), p.done()))
	}
	q := question{at: time.Now()}
	var err error
	q.stamp, err = touch(p.path("new-request"), mtime)
	p.must(err)
	p.must(os.Rename(p.path("new-request"), p.request()))
	return q
}

// clear takes the verb's files away, and first the marker: without it there is
// no question, and nothing is put in place again.
func (p *session) clear() {
	p.Helper()
	p.must(os.RemoveAll(p.request()))
	p.suite.settle(p)
	p.must(os.RemoveAll(p.done()))
	p.must(os.RemoveAll(p.answer()))
}

// settle waits for an answer that may be under way as the marker goes.
func (s *suite) settle(p *session) {
	for before := p.answered(); ; {
		time.Sleep(min(max(5*time.Millisecond, s.slowest/2), time.Second))
		now := p.answered()
		if now == before {
			return
		}
		before = now
	}
}

// wait waits for the answer to a question and returns it. The answer file is
// read as soon as the marker says that it is there.
func (p *session) wait(q question) []byte {
	p.Helper()
	begun := time.Now()
	for pause := 50 * time.Microsecond; p.answered() < q.stamp; pause = min(2*pause, 5*time.Millisecond) {
		if waited := time.Since(begun); waited > p.suite.Wait {
			// A kernel that has failed once is given less time to fail again.
			p.suite.Wait = min(p.suite.Wait, max(2*time.Second, 10*p.suite.slowest))
			p.Fatalf("no answer to %s within %v: the question's stamp is %v, %s-done holds %.80q",
				p.verb.Name, waited, q.stamp, p.verb.Name, p.read(p.done(), 1<<10))
		}
		time.Sleep(pause)
	}
	raw := p.read(p.answer(), channel.MaxAnswerBytes)
	if err := p.wrong(raw, q); err != nil {
		p.Fatalf("the answer to %s when its marker said %v: %v\n%.400q", p.verb.Name, q.stamp, err, raw)
	}
	return raw
}

// exactly fails unless the done marker holds the question's stamp to the letter.
// No other question may have been left since.
func (p *session) exactly(q question) {
	p.Helper()
	if text := string(p.read(p.done(), 64)); text != q.stamp.String() {
		p.Errorf("%s-done holds %q after a question with the stamp %v, want %q",
			p.verb.Name, text, q.stamp, q.stamp.String())
	}
}

// ask asks, waits, and returns the answer.
func (p *session) ask() []byte {
	p.Helper()
	q := p.leave()
	raw := p.wait(q)
	p.exactly(q)
	return raw
}
