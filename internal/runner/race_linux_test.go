package runner

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/internal/attack"
	"github.com/outerloop-go/outerloop/internal/dirfd"
)

// TestAttacker is the process of the races, and on its own does nothing.
func TestAttacker(t *testing.T) { attack.Serve(t) }

// TestRaceCopyOut: what a job has left running swaps its artifact, and the directory on the
// way there, while they are copied out. What comes out is the job's own or nothing.
func TestRaceCopyOut(t *testing.T) {
	const own = "the job's own"
	rows := map[string][]string{
		"link to a file":      {"swap d/f other", "again d/f other link other SECRET"},
		"hard link":           {"swap d/f other", "again d/f other hard other SECRET"},
		"FIFO":                {"swap d/f other", "again d/f other fifo other"},
		"link to a directory": {"swap d other", "again d other link other TREE"},
		"growing file":        {"file d/f " + own, "sparse d/f 5000001", "cut d/f 0", "sparse d/f 1099511627776"},
	}
	for name, steps := range rows {
		t.Run(name, func(t *testing.T) {
			canary := attack.NewCanary(t)
			base := t.TempDir()
			attack.Tree(t, base, "file tree/d/f "+own, "dir out")
			tree, err1 := dirfd.Open(filepath.Join(base, "tree"))
			out, err2 := dirfd.Open(filepath.Join(base, "out"))
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			before := attack.Descriptors(t, base)
			attacker := attack.Start(t, tree.Name(), canary.Lines(steps...)...)
			var seen attack.Outcomes
			deadline := time.Now().Add(time.Minute)
			for n := attack.Share(t, 200, len(rows)); n > 0 || !seen.Seen("copied", "refused") && time.Now().Before(deadline); n-- {
				seen.Add(copied(t, tree, out, own))
			}
			attacker.Stop()
			seen.Require(t, "copied", "refused")
			if after := attack.Descriptors(t, base); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
			canary.Check(t)
			if err := errors.Join(tree.Close(), out.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}

// copied copies the artifact out once and says what came of it.
func copied(t *testing.T, tree, out *dirfd.Dir, own string) string {
	size, err := copyOut(tree, out, "d/f")
	switch {
	case errors.Is(err, dirfd.ErrNotRegular), errors.Is(err, dirfd.ErrTooLarge), errors.Is(err, fs.ErrNotExist):
		return "refused"
	case err != nil:
		return err.Error()
	}
	text, err := os.ReadFile(filepath.Join(out.Name(), "d", "f"))
	if err != nil || int64(len(text)) != size {
		t.Errorf("%d bytes were copied, %d are there (%v)", size, len(text), err)
	}
	if len(text) >= len(attack.SecretText) && string(text[:len(attack.SecretText)]) == attack.SecretText {
		return "the secret"
	}
	if string(text) != own && len(text) > 0 && text[0] != 0 && string(text[:len(own)]) != own {
		return string(text[:min(40, len(text))])
	}
	return "copied"
}
