//go:build linux

package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Plant is one thing that a session puts in the place of a file or directory.
type Plant struct {
	Name string
	// Dir: it is a directory, which no rename of a file can replace.
	Dir bool
	// Own: it is a regular file without further links, which may be read.
	Own bool

	line string // of [Tree], with PATH, SECRET, TREE and MISSING to be replaced
	grow bool   // the file grows until the test ends
}

// Plants are all of them. Those that only root can make are left out for others.
func Plants() []Plant {
	plants := []Plant{
		{Name: "link to a file outside", line: "link PATH SECRET"},
		{Name: "link to a directory outside", line: "link PATH TREE"},
		{Name: "link to nothing outside", line: "link PATH MISSING"},
		{Name: "link to itself", line: "link PATH PATH"},
		{Name: "link of proc", line: "link PATH /proc/self/environ"},
		{Name: "hard link to a victim", line: "hard PATH SECRET"},
		{Name: "FIFO without a writer", line: "fifo PATH"},
		{Name: "socket", line: "socket PATH"},
		{Name: "empty directory", line: "dir PATH", Dir: true},
		{Name: "full directory", line: "file PATH/inside x", Dir: true},
		{Name: "sparse terabyte", line: "sparse PATH 1099511627776", Own: true},
		{Name: "growing file", line: "file PATH 1", Own: true, grow: true},
		{Name: "ten megabytes of digits", line: "file PATH DIGITS", Own: true},
		{Name: "empty file", line: "file PATH ", Own: true},
	}
	if os.Getuid() == 0 {
		plants = append(plants, Plant{Name: "device", line: "device PATH"})
	}
	return plants
}

// Put plants it below root, in the place of whatever is there. The canary is
// the victim.
func (p Plant) Put(t testing.TB, root, name string, c *Canary) {
	t.Helper()
	path := filepath.Join(root, name)
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	Tree(t, root, strings.NewReplacer(
		"PATH", name,
		"SECRET", c.Secret,
		"TREE", c.Tree,
		"MISSING", c.Missing,
		"DIGITS", strings.Repeat("9", 10<<20),
	).Replace(p.line))
	if p.grow {
		keepGrowing(t, path)
	}
}

// keepGrowing appends to the file until the test ends or a gigabyte is there.
func keepGrowing(t testing.TB, path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		defer f.Close()
		chunk := []byte(strings.Repeat("1", 4096))
		for range 1 << 30 / len(chunk) {
			select {
			case <-stop:
				return
			default:
				f.Write(chunk)
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
}
