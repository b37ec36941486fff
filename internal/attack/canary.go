//go:build linux

package attack

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Canary is a directory outside the workspace that no attack may have the
// kernel read or change.
type Canary struct {
	Secret  string // a file; its content is [SecretText]
	Tree    string // a directory with a file in it
	Missing string // a path where nothing is, and nothing may come to be

	root   string
	before string
}

// SecretText is what must never be seen on the kernel's side.
const SecretText = "the canary's secret"

// NewCanary makes one.
func NewCanary(t testing.TB) *Canary {
	t.Helper()
	root := t.TempDir()
	c := &Canary{
		root:    root,
		Secret:  filepath.Join(root, "secret"),
		Tree:    filepath.Join(root, "tree"),
		Missing: filepath.Join(root, "missing"),
	}
	Tree(t, root, "file secret "+SecretText, "file tree/inside "+SecretText)
	// Times of long ago: a relatime mount notes the first read after a change,
	// and reading an access time does not change it.
	ago := time.Unix(1_000_000_000, 0)
	for _, p := range []string{c.Secret, filepath.Join(c.Tree, "inside"), c.Tree, root} {
		if err := os.Chtimes(p, ago, ago); err != nil {
			t.Fatal(err)
		}
	}
	c.before = c.look(t)
	return c
}

// Lines puts the canary's paths in lines of [Tree] or [Start]: SECRET, TREE and MISSING.
func (c *Canary) Lines(lines ...string) []string {
	named := make([]string, len(lines))
	for i, line := range lines {
		named[i] = strings.NewReplacer("SECRET", c.Secret, "TREE", c.Tree, "MISSING", c.Missing).Replace(line)
	}
	return named
}

// Check fails the test where anything was read or changed. Call it once: it
// reads the files itself.
func (c *Canary) Check(t testing.TB) {
	t.Helper()
	if after := c.look(t); after != c.before {
		t.Errorf("the canary was touched; before:\n%safter:\n%s", c.before, after)
	}
	for _, p := range []string{c.Secret, filepath.Join(c.Tree, "inside")} {
		if text, err := os.ReadFile(p); err != nil || string(text) != SecretText {
			t.Errorf("%s holds %.40q (%v)", p, text, err)
		}
	}
}

// look describes everything but the contents and the link counts, which a
// plant changes by itself. It lists the names it knows instead of reading the
// directories, which would be noted as an access.
func (c *Canary) look(t testing.TB) string {
	var b bytes.Buffer
	for _, p := range []string{c.root, c.Secret, c.Tree, filepath.Join(c.Tree, "inside"), c.Missing} {
		info, err := os.Lstat(p)
		if err != nil {
			if !strings.HasSuffix(p, "missing") {
				t.Fatal(err)
			}
			continue
		}
		st := info.Sys().(*syscall.Stat_t)
		fmt.Fprintf(&b, "%s %v %d bytes, uid %d, modified %v, read %v\n",
			p, info.Mode()&(fs.ModeType|fs.ModePerm), info.Size(), st.Uid, st.Mtim, st.Atim)
	}
	return b.String()
}
