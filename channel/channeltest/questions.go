package channeltest

import (
	"context"
	"io"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

func questionRules() []rule {
	return []rule{
		{id: "K1", name: "a question is answered", check: (*suite).answers},
		{id: "K2", name: "an answer is whole before its marker says so", check: (*suite).answersWhole},
		{id: "K3", name: "the stamp is acknowledged exactly", check: (*suite).acknowledgesExactly},
		{id: "K4", name: "a later question stays pending", check: (*suite).laterQuestions},
		{id: "K5", name: "nothing asked, nothing answered", check: (*suite).answersNothing},
		{id: "K6", name: "any mtime is a stamp", check: (*suite).anyStamp},
		{id: "K7", name: "a spoiled done marker counts as none", check: (*suite).spoiledDone},
		{id: "K8", name: "several askers are all answered", check: (*suite).severalAskers},
		{id: "K9", name: "files are replaced and never written in", check: (*suite).replacesFiles},
		{id: "K10", name: "nothing is left behind", check: (*suite).leavesNothing},
		{id: "K11", name: "the channel's former name", check: (*suite).formerName},
		{id: "K12", name: "nothing is written after the end", check: (*suite).endsQuietly},
	}
}

// answers: what stands already when the kernel starts, and what is asked later,
// in a peer's manner.
func (s *suite) answers(t *testing.T) {
	for _, v := range s.Verbs {
		t.Run(v.Name, func(t *testing.T) {
			p := s.prepare(t, v)
			standing := p.leave()
			p.start()
			p.wait(standing)
			p.exactly(standing)
			for range 10 {
				p.ask()
			}
		})
	}
	t.Run("all at once", func(t *testing.T) {
		p := s.begin(t, s.Verbs[0])
		left := make([]question, len(s.Verbs))
		for i, v := range s.Verbs {
			p.verb = v
			left[i] = p.leave()
		}
		for i, v := range s.Verbs {
			p.verb = v
			p.wait(left[i])
			p.exactly(left[i])
		}
	})
}

// answersWhole looks at the answer in the instant in which its marker appears.
func (s *suite) answersWhole(t *testing.T) {
	s.each(t, func(p *session) {
		for range 20 {
			p.must(os.RemoveAll(p.answer()))
			q := p.leave()
			for begun := time.Now(); p.answered() < q.stamp && time.Since(begun) < s.Wait; {
				time.Sleep(20 * time.Microsecond)
			}
			p.wait(q)
		}
	})
}

// acknowledgesExactly also where two mtimes are a step of a double apart, and
// the kernel changes nothing about the marker that it reads.
func (s *suite) acknowledgesExactly(t *testing.T) {
	s.each(t, func(p *session) {
		before := p.leave()
		p.wait(before)
		for _, step := range []time.Duration{
			500 * time.Nanosecond, time.Microsecond, 1234567 * time.Nanosecond, time.Second, 2 * time.Second,
		} {
			// Before the touch: the kernel may have answered when touch returns.
			at := time.Now()
			stamp, err := touch(p.request(), timeOf(before.stamp).Add(step))
			p.must(err)
			if stamp <= before.stamp {
				continue // the filesystem keeps no such step
			}
			before = question{stamp, at}
			marked, err := os.Lstat(p.request())
			p.must(err)
			p.wait(before)
			p.exactly(before)
			after, err := os.Lstat(p.request())
			p.must(err)
			if !os.SameFile(marked, after) || !after.ModTime().Equal(marked.ModTime()) || after.Size() != marked.Size() {
				p.Errorf("the kernel has changed the marker that it was asked by")
			}
		}
	})
}

// laterQuestions asks again and again without waiting. Every stamp that is
// acknowledged was asked, none comes after a greater one, and an answer is never
// older than the question whose stamp is acknowledged with it.
func (s *suite) laterQuestions(t *testing.T) {
	s.each(t, func(p *session) {
		type sight struct {
			done   channel.Stamp
			answer []byte
		}
		var seen []sight
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			for last := channel.Stamp(-1); ; time.Sleep(100 * time.Microsecond) {
				// The marker first: an answer that is read later may only be newer.
				if now := p.answered(); now != last {
					seen = append(seen, sight{now, p.read(p.answer(), channel.MaxAnswerBytes)})
					last = now
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
		asked := map[channel.Stamp]question{p.answered(): {}}
		var last question
		for range 100 {
			at := time.Now()
			stamp, err := touch(p.request(), time.Time{})
			p.must(err)
			asked[stamp] = question{stamp, at}
			if stamp <= last.stamp {
				at = time.Now()
				stamp, err = touch(p.request(), timeOf(last.stamp).Add(10*time.Millisecond))
				p.must(err)
			}
			last = question{stamp, at}
			asked[stamp] = last
			time.Sleep(time.Millisecond)
		}
		p.wait(last)
		p.exactly(last)
		close(stop)
		<-stopped
		var former channel.Stamp
		for _, now := range seen {
			q, ok := asked[now.done]
			switch {
			case !ok:
				p.Errorf("%v was acknowledged and never asked", now.done)
			case now.done < former:
				p.Errorf("%v was acknowledged after %v", now.done, former)
			case q.stamp == 0:
			default:
				if err := p.wrong(now.answer, q); err != nil {
					p.Errorf("the answer when the marker said %v: %v", now.done, err)
				}
			}
			former = now.done
		}
	})
}

// answersNothing has markers that are no question: equal to what was answered,
// behind it, or not after 1970.
func (s *suite) answersNothing(t *testing.T) {
	now := time.Now()
	stamp := channel.StampOf(now)
	rows := []struct {
		name, done string
		mtime      time.Time
	}{
		{"equal", stamp.String(), now},
		{"equal, with white space", " \n" + stamp.String() + "\t\n", now},
		{"equal, in another spelling", "123456.75e1", time.Unix(1234567, 500e6)},
		{"behind by a second", stamp.String(), now.Add(-time.Second)},
		{"behind by the least step", stamp.String(), now.Add(-500 * time.Nanosecond)},
		{"1970", "", time.Unix(0, 0)},
		{"before 1970", "", time.Unix(-1, 500e6)},
		{"long before 1970", "", time.Unix(-1<<31, 0)},
	}
	s.each(t, func(p *session) {
		for _, row := range rows {
			q := p.place(row.done, row.mtime)
			if q.stamp > channel.ParseStamp([]byte(row.done)) {
				continue // the filesystem keeps no such time
			}
			s.quiet()
			if text := string(p.read(p.done(), 64)); text != row.done {
				p.Errorf("%s: the stamp %v was answered with %q; %s-done held %q", row.name, q.stamp, text, p.verb.Name, row.done)
			}
		}
		p.clear()
		s.quiet()
		if text := p.read(p.done(), 64); text != nil {
			p.Errorf("without a marker: %s-done holds %q", p.verb.Name, text)
		}
		p.ask()
	})
}

// anyStamp has times that an implementation in nanoseconds, in floats of
// another width or in formatted decimals gets wrong.
func (s *suite) anyStamp(t *testing.T) {
	times := []time.Time{
		time.Unix(0, 1), time.Unix(0, 99_999), time.Unix(0, 100_000), time.Unix(1, 0), time.Unix(1, 999_999_999),
		time.Unix(1_700_000_000, 1), time.Unix(1_700_000_000, 238), time.Unix(1_700_000_000, 999_999_999),
		time.Unix(1<<31-1, 999_999_999), time.Unix(1<<31, 0), time.Unix(1<<32, 123_456_789),
		time.Unix(9_223_372_036, 854_775_807), time.Unix(9_223_372_037, 0), // where int64 nanoseconds end, in 2262
		time.Unix(15_032_385_535, 999_999_999), time.Unix(1<<40, 7), time.Unix(1<<53-1, 0),
	}
	s.each(t, func(p *session) {
		for _, at := range times {
			q := p.place("", at)
			if q.stamp > 0 {
				p.wait(q)
				p.exactly(q)
			}
		}
		// And on from there: a marker may stand in the future, and be moved past it.
		p.wait(p.place("", time.Now().Add(time.Hour)))
		for range 3 {
			p.ask()
		}
		p.clear()
		p.ask()
	})
}

// spoiledDone: whatever a session does to the done marker, its questions go on
// being answered.
func (s *suite) spoiledDone(t *testing.T) {
	texts := []string{
		"nan", "NaN", "-nan", "inf", "Infinity", "-inf", "1e999", "-1e999", "99999999999999999999e999999999",
		" ", "\n", "\x00", "none", "0x1p40", "1 2", "1,5", "1.5s", "--1", "+", ".", "e5", "\xff\xfe", "٣",
		"-5", "0", "0.0", "-0.0",
		string(make([]byte, 65)), "1" + string(make([]byte, 1<<20)),
	}
	s.each(t, func(p *session) {
		for _, text := range texts {
			q := p.place(text, time.Now())
			p.wait(q)
			p.exactly(q)
		}
	})
}

// severalAskers asks from many sides at once: as the syscall programs do, which
// keep to a lock, and as two peers, which do not.
func (s *suite) severalAskers(t *testing.T) {
	s.each(t, func(p *session) {
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				for range 3 {
					q := question{at: time.Now()}
					raw, err := p.askAsProgram()
					if err == nil {
						err = p.wrong(raw, q)
					}
					if err != nil {
						p.Errorf("one of ten askers: %v", err)
					}
				}
			})
		}
		all.Wait()
		p.clear()
		left := []question{p.leave(), p.leave()}
		for _, q := range left {
			p.wait(q)
		}
		p.ask()
	})
}

func (p *session) askAsProgram() ([]byte, error) {
	asker, err := channel.FindSession(p.workspace, "")
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	a, err := asker.Ask(context.Background(), p.verb.Name, p.suite.Wait)
	return a.Data, err
}

// replacesFiles holds the files of one answer open while the next is given: a
// reader that has begun must find the end of what it began to read.
func (s *suite) replacesFiles(t *testing.T) {
	s.each(t, func(p *session) {
		for range 3 {
			held := map[string]*os.File{}
			for _, path := range []string{p.answer(), p.done()} {
				f, err := os.Open(path)
				p.must(err)
				defer f.Close()
				held[path] = f
			}
			before := map[string][]byte{p.answer(): p.read(p.answer(), channel.MaxAnswerBytes), p.done(): p.read(p.done(), 64)}
			p.ask()
			for path, f := range held {
				after, err := io.ReadAll(f)
				p.must(err)
				if string(after) != string(before[path]) {
					p.Errorf("%s was written in while it was open", path)
				}
			}
		}
	})
}

// leavesNothing: temporary files are gone after each answer.
func (s *suite) leavesNothing(t *testing.T) {
	s.each(t, func(p *session) {
		p.ask()
		s.quiet()
		before := p.names()
		for range 10 {
			p.ask()
		}
		s.quiet()
		if after := p.names(); len(after) > len(before) {
			p.Errorf("ten questions later there are %q in the channel, before there were %q", after, before)
		}
	})
}

func (p *session) names() (names []string) {
	p.Helper()
	entries, err := os.ReadDir(p.path(""))
	p.must(err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// formerName has the channel under its former name alone, and then, with
// another kernel, under both.
func (s *suite) formerName(t *testing.T) {
	for _, v := range s.Verbs {
		t.Run(v.Name, func(t *testing.T) {
			p := s.prepare(t, v)
			now := p.path("")
			former := p.workspace + "/" + channel.FormerDirName
			p.must(os.Rename(now, former))
			p.start()
			q := question{at: time.Now()}
			raw, err := p.askAsProgram()
			if err == nil {
				err = p.wrong(raw, q)
			}
			p.must(err)
			p.stop()
			p.must(os.Mkdir(now, 0o777))
			p.start()
			p.ask()
		})
	}
}

// endsQuietly: what is asked after the end is left for the next kernel, which
// answers it.
func (s *suite) endsQuietly(t *testing.T) {
	s.each(t, func(p *session) {
		p.leave()
		p.stop()
		before := p.answered()
		q := p.leave()
		s.quiet()
		if after := p.answered(); after != before {
			p.Errorf("a kernel that was stopped has acknowledged %v", after)
		}
		p.start()
		p.wait(q)
		p.exactly(q)
	})
}
