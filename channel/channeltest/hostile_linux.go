package channeltest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/attack"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

func hostileRules() []rule {
	finds := func(c *Config) bool { return c.Finds }
	return []rule{
		{id: "H1", name: "a plant is neither read, followed nor waited for", check: (*suite).survivesPlants},
		{id: "H2", name: "what is swapped meanwhile leads nowhere", check: (*suite).survivesSwaps},
		{id: "H3", name: "a flood ends with an answer", check: (*suite).survivesFlood},
		{id: "H4", name: "a crowded channel is no slower", check: (*suite).survivesCrowd},
		{id: "H5", name: "a channel that is swapped leads nowhere", check: (*suite).survivesSwappedChannel},
		{id: "H6", name: "a channel that is replaced is found again", applies: finds, check: (*suite).findsChannel},
		{
			id: "H7", name: "a planted request is refused and gone",
			applies: func(c *Config) bool { return c.Consume != nil }, check: (*suite).refusesPlantedRequest,
		},
		{
			id: "H8", name: "an artifact is led nowhere by plants",
			applies: func(c *Config) bool { return c.Deliver != nil }, check: (*suite).deliversPastPlants,
		},
		{
			id: "H9", name: "a plant in the budget's place is replaced",
			applies: func(c *Config) bool { return c.Begin != nil }, check: (*suite).writesBudgetPastPlants,
		},
	}
}

// eachPlant runs check for each plant, on a workspace of its own that begin
// makes, and sees to it that nothing outside was touched and that nothing is
// held open when the kernel has ended.
func eachPlant(t *testing.T, begin func(*testing.T) *session, check func(*session, attack.Plant, *attack.Canary)) {
	for _, plant := range attack.Plants() {
		t.Run(plant.Name, func(t *testing.T) {
			p := begin(t)
			// At the very end: until then the plant itself may hold its file open.
			t.Cleanup(func() { p.stop(); p.holdsNothing() })
			canary := attack.NewCanary(t)
			check(p, plant, canary)
			p.stop()
			canary.Check(t)
		})
	}
}

// holdsNothing is about kernels that are part of the test's process.
func (p *session) holdsNothing() {
	p.Helper()
	if n := attack.Descriptors(p, p.workspace); n > 0 {
		p.Errorf("%d descriptors lead into the workspace after the kernel has ended", n)
	}
}

// ownFile fails unless the file is one that was made for this place.
func (p *session) ownFile(path string) {
	p.Helper()
	if !isOwn(path) {
		info, err := os.Lstat(path)
		p.Errorf("%s is %v (%v), want a regular file of its own", filepath.Base(path), info, err)
	}
}

// survivesPlants puts each plant in the place of each file of a question. Where
// it can be replaced, the question is answered all the same; where it is a
// directory, the question stays open, and the next one is answered when the
// directory is gone.
func (s *suite) survivesPlants(t *testing.T) {
	for _, v := range s.Verbs {
		for _, file := range []string{v.Name + "-request", v.Name + "-done", v.Name + ".json"} {
			t.Run(file, func(t *testing.T) {
				eachPlant(t, func(t *testing.T) *session { return s.begin(t, v) }, func(p *session, plant attack.Plant, c *attack.Canary) {
					if file == v.Name+"-request" {
						p.plantRequest(plant, c)
					} else {
						p.plantAnswer(file, plant, c)
					}
				})
			})
		}
	}
}

func (p *session) plantRequest(plant attack.Plant, c *attack.Canary) {
	p.Helper()
	before := string(p.read(p.done(), 64))
	plant.Put(p, p.path(""), filepath.Base(p.request()), c)
	p.suite.quiet()
	info, err := os.Lstat(p.request())
	p.must(err)
	if after := string(p.read(p.done(), 64)); !info.Mode().IsRegular() && after != before {
		p.Errorf("what is no regular file was taken for a question: %s-done held %q, then %q", p.verb.Name, before, after)
	}
	p.clear()
	p.ask()
}

func (p *session) plantAnswer(file string, plant attack.Plant, c *attack.Canary) {
	p.Helper()
	p.clear()
	plant.Put(p, p.path(""), file, c)
	q := p.leave()
	if !plant.Dir {
		p.wait(q)
		p.exactly(q)
		p.ownFile(p.answer())
		p.ownFile(p.done())
		return
	}
	p.suite.quiet()
	if p.answered() >= q.stamp {
		p.wait(q) // then the answer has to be there
	}
	p.must(os.RemoveAll(p.path(file)))
	p.ask()
}

// swap is what stands in a file's place every other moment.
type swap struct {
	name  string
	plant func(path string, c *attack.Canary) error
}

func swaps() []swap {
	return []swap{
		{"link", func(path string, c *attack.Canary) error { return os.Symlink(c.Secret, path) }},
		{"hard link", func(path string, c *attack.Canary) error { return os.Link(c.Secret, path) }},
		{"FIFO", func(path string, _ *attack.Canary) error { return syscall.Mkfifo(path, 0o666) }},
		{"link to nothing", func(path string, c *attack.Canary) error { return os.Symlink(c.Missing, path) }},
	}
}

// survivesSwaps exchanges a file for a plant and back, as fast as it can, while
// questions are asked.
func (s *suite) survivesSwaps(t *testing.T) {
	for _, v := range s.Verbs {
		for _, file := range []string{v.Name + "-request", v.Name + "-done", v.Name + ".json"} {
			for _, swap := range swaps() {
				t.Run(file+"/"+swap.name, func(t *testing.T) {
					p := s.begin(t, v)
					canary := attack.NewCanary(t)
					p.survive(canary, file, swap)
					p.clear()
					p.ask()
					p.stop()
					canary.Check(t)
					p.holdsNothing()
				})
			}
		}
	}
}

func (p *session) survive(canary *attack.Canary, file string, swap swap) {
	p.Helper()
	dir, err := dirfd.Open(p.path(""))
	p.must(err)
	defer dir.Close()
	name, other := p.path(file), p.path("other")
	stop := attack.Loop(p, func() {
		if attack.Exchange(name, other) != nil || isOwn(name) && isOwn(other) {
			// The kernel has replaced the plant, or not yet made the file.
			os.Remove(other)
			swap.plant(other, canary)
		}
	})
	watched := p.done()
	if watched == name {
		watched = p.answer()
	}
	p.askAnyhow(dir, filepath.Base(watched), attack.Share(p, 20, 100))
	p.Logf("%d exchanges", stop())
	p.must(os.RemoveAll(other))
}

// isOwn says whether a path leads to a regular file without further links.
func isOwn(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Sys().(*syscall.Stat_t).Nlink == 1
}

// askAnyhow leaves questions in a directory which, under attack, may be answered
// or not. It puts fresh markers in place and opens nothing, for under any name
// may be a link to the canary. That the kernel answers is seen by a file that it
// replaces.
func (p *session) askAnyhow(dir *dirfd.Dir, watched string, rounds int) {
	p.Helper()
	answered := 0
	for range rounds {
		before, _ := dir.Lstat(watched)
		p.must(dir.Publish(filepath.Base(p.request()), nil, dirfd.Volatile))
		for begun := time.Now(); time.Since(begun) < max(5*time.Millisecond, p.suite.slowest); time.Sleep(time.Millisecond) {
			if now, err := dir.Lstat(watched); err == nil && !now.ModTime.Equal(before.ModTime) {
				answered++
				break
			}
		}
	}
	p.Logf("%d of %d questions were answered under attack", answered, rounds)
}

// survivesFlood rewrites the markers of one session without pause. Another
// session is answered meanwhile, and this one when it has come to rest.
func (s *suite) survivesFlood(t *testing.T) {
	flooded, calm := s.begin(t, s.Verbs[0]), s.begin(t, s.Verbs[0])
	stop := attack.Loop(t, func() {
		for _, v := range s.Verbs {
			for _, file := range []string{v.Name + "-request", v.Name + "-done", "file"} {
				touch(flooded.path(file), time.Time{})
			}
		}
	})
	for range 5 {
		calm.ask()
	}
	rounds := stop()
	t.Logf("%d rounds of %d files while 5 questions were answered beside", rounds, 3*len(s.Verbs))
	for _, flooded.verb = range s.Verbs {
		flooded.clear()
		flooded.ask()
	}
}

// survivesCrowd fills the channel with names.
func (s *suite) survivesCrowd(t *testing.T) {
	s.each(t, func(p *session) {
		dir, err := os.Open(p.path(""))
		p.must(err)
		defer dir.Close()
		name := make([]byte, 255)
		for i := range attack.Rounds(t, 5000) {
			for at := range name {
				name[at] = 'a' + byte(i>>(at%8*4)&15)
			}
			p.must(os.Symlink("x", p.path(string(name))))
		}
		for range 3 {
			p.ask()
		}
	})
}

// survivesSwappedChannel exchanges the channel itself for a link to a directory
// outside, and back, while questions are asked.
func (s *suite) survivesSwappedChannel(t *testing.T) {
	s.each(t, func(p *session) {
		canary := attack.NewCanary(t)
		dir, err := dirfd.Open(p.path(""))
		p.must(err)
		defer dir.Close()
		other := filepath.Join(p.workspace, "other")
		p.must(os.Symlink(canary.Tree, other))
		swapped := attack.Loop(t, func() { attack.Exchange(p.path(""), other) })
		p.askAnyhow(dir, filepath.Base(p.done()), attack.Share(t, 50, 100))
		t.Logf("%d exchanges", swapped())
		if info, err := os.Lstat(p.path("")); err != nil || !info.IsDir() {
			p.must(attack.Exchange(p.path(""), other))
		}
		if s.Finds {
			p.clear()
			p.ask()
		}
		p.stop()
		canary.Check(t)
		p.must(dir.Close())
		p.holdsNothing()
	})
}

// findsChannel puts each plant in the channel's place, and then a directory.
func (s *suite) findsChannel(t *testing.T) {
	begin := func(t *testing.T) *session { return s.begin(t, s.Verbs[0]) }
	eachPlant(t, begin, func(p *session, plant attack.Plant, c *attack.Canary) {
		p.must(os.Rename(p.path(""), filepath.Join(p.workspace, "away")))
		plant.Put(p, p.workspace, channel.DirName, c)
		s.quiet()
		if !plant.Dir {
			p.must(os.Remove(p.path("")))
			p.must(os.Mkdir(p.path(""), 0o777))
		}
		p.ask()
		// The former one may come back, too.
		p.must(os.Rename(p.path(""), filepath.Join(p.workspace, "gone")))
		p.must(os.Rename(filepath.Join(p.workspace, "away"), p.path("")))
		p.ask()
	})
}

// refusesPlantedRequest has every plant in the place of the committed request,
// and of what is staged.
func (s *suite) refusesPlantedRequest(t *testing.T) {
	begin := func(t *testing.T) *session { return s.prepare(t, s.Verbs[0]) }
	eachPlant(t, begin, func(p *session, plant attack.Plant, c *attack.Canary) {
		plant.Put(p, p.path(""), channel.CommittedFile, c)
		plant.Put(p, p.path(""), channel.StagedFile, c)
		if got, err := p.consume(); err == nil {
			p.Errorf("accepted as %.400q", got)
		}
		if _, err := p.commit([]byte(`{"type":"sleep"}`)); err != nil {
			p.Errorf("the next request is refused: %v", err)
		}
	})
}

// deliversPastPlants has every plant in the place of the file and of each
// directory on the way there.
func (s *suite) deliversPastPlants(t *testing.T) {
	begin := func(t *testing.T) *session { return s.prepare(t, s.Verbs[0]) }
	r := channel.Result{Launch: "l", Task: 0, Artifact: "out/m.json"}
	const file = "results/l/0/out/m.json"
	for _, place := range []string{"results", "results/l", "results/l/0", "results/l/0/out", file} {
		t.Run(filepath.Base(place), func(t *testing.T) {
			eachPlant(t, begin, func(p *session, plant attack.Plant, c *attack.Canary) {
				plant.Put(p, p.path(""), place, c)
				err := s.Deliver(p.T, p.workspace, r, []byte("content"))
				if err != nil && plant.Dir {
					p.must(os.RemoveAll(p.path(place)))
					err = s.Deliver(p.T, p.workspace, r, []byte("content"))
				}
				// Where a file stands in a directory's place, to refuse is right too.
				if err != nil {
					if place == file {
						p.Errorf("not delivered: %v", err)
					}
					return
				}
				p.ownFile(p.path(file))
			})
		})
	}
}

func (s *suite) writesBudgetPastPlants(t *testing.T) {
	begin := func(t *testing.T) *session { return s.prepare(t, s.Verbs[0]) }
	eachPlant(t, begin, func(p *session, plant attack.Plant, c *attack.Canary) {
		plant.Put(p, p.path(""), channel.BudgetFile, c)
		err := s.Begin(p.T, p.workspace)
		if err != nil && plant.Dir {
			p.must(os.RemoveAll(p.path(channel.BudgetFile)))
			err = s.Begin(p.T, p.workspace)
		}
		p.must(err)
		p.ownFile(p.path(channel.BudgetFile))
		p.checkBudget()
	})
}
