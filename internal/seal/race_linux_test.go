package seal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/attack"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// TestAttacker is the process of the races, and on its own does nothing.
func TestAttacker(t *testing.T) { attack.Serve(t) }

// TestChangingFile: a file that grows, is cut and vanishes while it is sealed.
// Whatever is sealed is a state it can have been in, and the store stays sound.
func TestChangingFile(t *testing.T) {
	t.Parallel()
	const size = 3 * smallFile
	r := newRig(t, tree{"a": "1", "z": "2"}, Limits{})
	steps := []string{"file m " + strings.Repeat("x", size), fmt.Sprint("cut m ", size/2), "cut m 10"}
	steps = slices.Concat(steps, steps, steps, steps, []string{"remove m"})
	attacker := attack.Start(t, r.workspace, steps...)
	outcomes := map[string]int{}
	for range attack.Share(t, 40, 1000) {
		s := r.seal()
		got := r.back(s.Commit)
		if got["a"] != "1" || got["z"] != "2" {
			t.Fatalf("the files beside it: %v", s)
		}
		content, kept := got["m"]
		switch {
		case !kept && s.why("m") != "":
			outcomes[s.why("m")]++
		case !kept:
			outcomes["not there"]++
		case strings.Trim(content, "x") == "":
			outcomes["sealed"]++
		default:
			t.Fatalf("bytes that the file never had: %q", strings.Trim(content, "x"))
		}
	}
	attacker.Stop()
	t.Log(outcomes)
	r.operator("fsck", "--full")
}

// TestCutWhileSent: git was told a length that the file no longer has.
func TestCutWhileSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"m": strings.Repeat("x", 3*smallFile), "z": "2"}, Limits{})
	f := must(os.OpenFile(filepath.Join(r.workspace, "m"), os.O_RDWR, 0))(t)
	defer f.Close()
	im := must(startImport(t.Context(), r.store.git, r.store.limits, map[oid]bool{}))(t)
	check(t, f.Truncate(smallFile))
	if _, err := im.sendLarge(f, 3*smallFile); err == nil {
		t.Error("nobody noticed")
	}
	if err := im.addSmall(file{untrustedName: "z"}, modeFile, []byte("2")); err != nil {
		t.Fatal(err)
	}
	commit := must(im.commit("", "m", testTime))(t)
	if got := r.back(commit); len(got) != 1 || got["z"] != "2" {
		t.Errorf("%v", got)
	}
}

// TestSwaps exchanges files, directories, links and FIFOs under the walk. The
// seal never holds what lies outside, and never waits.
func TestSwaps(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tree{"secret": "OUTSIDE", "f": "OUTSIDE", "deep/f": "OUTSIDE", ".gitignore": "f\n"}.make(t, outside)
	r := newRig(t, tree{"d/f": "inside", "d/deep/f": "inside", "d/.gitignore": "none\n"}, Limits{})
	steps := []string{"move d real", "link d " + outside, "remove d", "move real d"}
	for name, content := range map[string]string{"d/f": "inside", "d/.gitignore": "none"} {
		steps = append(steps, "remove "+name, "fifo "+name, "remove "+name,
			"link "+name+" "+outside+"/"+filepath.Base(name), "remove "+name, "file "+name+" "+content)
	}
	attacker := attack.Start(t, r.workspace, steps...)
	whole, partial := 0, 0
	for range attack.Share(t, 60, 1000) {
		s := r.seal()
		for name, content := range r.back(s.Commit) {
			if strings.Contains(content, "OUTSIDE") {
				t.Errorf("%s holds what lies outside", name)
			}
		}
		if s.Files == 3 && len(s.LeftOut) == 0 {
			whole++
		} else {
			partial++
		}
	}
	attacker.Stop()
	t.Logf("%d whole, %d partial", whole, partial)
	if partial == 0 {
		t.Error("no seal met the attacker")
	}
	if s := r.seal(); s.Files != 3 {
		t.Errorf("after the attack: %+v", s)
	}
}

// TestGrowthBeyondTheLimit: the walk saw a small file, the copy meets a large one.
func TestGrowthBeyondTheLimit(t *testing.T) {
	t.Parallel()
	r := newRig(t, tree{"m": ""}, Limits{FileBytes: 2 * smallFile})
	check(t, os.Truncate(filepath.Join(r.workspace, "m"), 1<<40))
	d := must(dirfd.Open(r.workspace))(t)
	defer d.Close()
	im := must(startImport(t.Context(), r.store.git, r.store.limits, map[oid]bool{}))(t)
	err := im.file(d, file{untrustedName: "m"})
	if err == nil || !strings.Contains(err.Error(), "the file m has 1 TiB") {
		t.Errorf("%v", err)
	}
	if err := im.end(); err == nil {
		t.Error("git made a commit of nothing")
	}
}

// TestCancel ends seals at every stage; the next one works, on a clean store.
func TestCancel(t *testing.T) {
	t.Parallel()
	content := tree{".gitignore": "x\n", "large": strings.Repeat("0123456789abcdef", 1<<20)}
	for i := range 200 {
		content["d/"+strings.Repeat("n", i+1)] = strings.Repeat("c", i)
	}
	r := newRig(t, content, Limits{})
	d := must(dirfd.Open(r.workspace))(t)
	defer d.Close()
	canceled, sealed := 0, 0
	for wait := time.Duration(0); sealed < 2 && wait < 30*time.Second; wait += wait/2 + time.Millisecond {
		ctx, cancel := context.WithTimeout(t.Context(), wait)
		_, err := r.store.Seal(ctx, d, "m", testTime)
		cancel()
		switch {
		case err == nil:
			sealed++
		case errors.Is(err, context.DeadlineExceeded):
			canceled++
		default:
			t.Fatal(err)
		}
	}
	if canceled == 0 || sealed == 0 {
		t.Errorf("%d canceled, %d sealed", canceled, sealed)
	}
	if got := r.back(r.seal().Commit); len(got) != len(content) {
		t.Errorf("%d files", len(got))
	}
	r.operator("fsck", "--full")
	clean(t, r.store)
}
