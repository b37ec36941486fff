package channeltest

import (
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// Config describes the kernel under test. Start and Verbs are required; each
// other function declares something that the kernel can do besides answering.
//
// The functions are called from the test's own goroutine, so they may call
// t.Fatal.
type Config struct {
	// Start starts a kernel on a workspace, whose channel exists, and returns
	// when that is on its way; it need not have looked at the channel yet. Once
	// stop has returned, the kernel writes nothing more. Several kernels may run at
	// a time, each on a workspace of its own.
	Start func(t testing.TB, workspace string) (stop func())

	// Verbs are the questions that the kernel answers, at least one.
	Verbs []Verb

	// Wait is the longest that an answer may take. It is never waited for in a
	// run that passes. Default one minute.
	Wait time.Duration

	// Finds says that the kernel finds its channel again when the session has put
	// another directory in its place. One that does not is still held to writing
	// nowhere else.
	Finds bool

	// Begin does what the kernel does in the channel before a session: it writes
	// budget.json, and whatever else it likes.
	Begin func(t testing.TB, workspace string) error

	// Consume does what the kernel does with the committed request when a session
	// has ended: it reads, checks and consumes it. The error is nil where the
	// request is accepted. What it returns then is the request as it will be
	// carried out, clamped and with its defaults, in the form of the committed
	// file; nil leaves that unchecked.
	Consume func(t testing.TB, workspace string) (accepted []byte, err error)

	// Deliver brings one artifact of a job into the channel. The error is nil
	// where it is in place.
	Deliver func(t testing.TB, workspace string, result channel.Result, content []byte) error
}

// Verb is one question that the kernel answers.
type Verb struct {
	Name string
	// Live says that the answer's "at" is never before the question: nothing is
	// served a second time. The suite then proves that no question is answered
	// with what was had before it was asked.
	Live bool
	// Check returns what is wrong with an answer. Default: that it is a JSON
	// object and, for the verbs that docs/protocol.md describes, that it has the
	// keys named there.
	Check func(answer []byte) error
}

// rule is one numbered rule of docs/protocol.md.
type rule struct {
	id, name string
	// applies says whether the kernel declares what the rule is about; nil for
	// a rule that holds for all.
	applies func(*Config) bool
	check   func(*suite, *testing.T)
}

func rules() []rule {
	all := append(questionRules(), requestRules()...)
	all = append(all, deliveryRules()...)
	return append(all, hostileRules()...)
}

// suite is one run of the rules against one kernel.
type suite struct {
	Config
	// slowest is the longest that a kernel has taken so far to answer. What it takes under attack does not count: it may bide its time then.
	slowest time.Duration
}

// Run runs every rule that applies to the kernel as a subtest of t.
func Run(t *testing.T, config Config) {
	t.Helper()
	if config.Start == nil || len(config.Verbs) == 0 {
		t.Fatal("channeltest: Config needs Start and at least one verb")
	}
	for _, v := range config.Verbs {
		if err := channel.CheckVerb(v.Name); err != nil {
			t.Fatal(err)
		}
	}
	if config.Wait <= 0 {
		config.Wait = time.Minute
	}
	s := &suite{Config: config}
	for _, r := range rules() {
		if r.applies == nil || r.applies(&s.Config) {
			t.Run(r.id+" "+r.name, func(t *testing.T) { r.check(s, t) })
		}
	}
}

// each runs check for every verb, on a workspace and with a kernel of its own.
func (s *suite) each(t *testing.T, check func(*session)) {
	for _, v := range s.Verbs {
		t.Run(v.Name, func(t *testing.T) { check(s.begin(t, v)) })
	}
}

// quiet waits for what is not to happen. A kernel that is slower than it was
// ever before can get away with a fault here; none is blamed without one.
func (s *suite) quiet() { time.Sleep(max(100*time.Millisecond, 3*s.slowest)) }
