package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/outerloop-go/outerloop/internal/durable"
)

// Root is a state root: the directory with all runs of one operator. Nothing in
// it but the workspaces is ever visible to a session.
type Root string

// layout is the version of the directory's layout. A root of a newer one is
// refused before anything in it is touched.
const layout = "1"

// OpenRoot opens the state root at path. One that is missing is an error with
// fs.ErrNotExist; see [CreateRoot].
func OpenRoot(path string) (Root, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	r := Root(abs)
	found, err := os.ReadFile(r.join("version"))
	if err != nil {
		return "", fmt.Errorf("opening the state root %s: %w", abs, err)
	}
	if v := strings.TrimSpace(string(found)); v != layout {
		return "", refuse("use the program that made it, or another --root",
			"the state root %s has layout %q and this program knows %s", abs, v, layout)
	}
	return r, nil
}

// CreateRoot is OpenRoot that makes the state root where it is missing, after
// [CheckRoot].
func CreateRoot(path string) (Root, error) {
	if err := CheckRoot(path); err != nil {
		return "", err
	}
	r, err := OpenRoot(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return r, err
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	r = Root(abs)
	for _, dir := range []string{"", "runs", "workspaces", "bin", "scratch"} {
		if err := os.MkdirAll(r.join(dir), 0o700); err != nil {
			return "", fmt.Errorf("making the state root: %w", err)
		}
	}
	if err := durable.WriteFile(r.join("version"), []byte(layout+"\n")); err != nil {
		return "", fmt.Errorf("making the state root: %w", err)
	}
	return r, nil
}

func (r Root) join(parts ...string) string {
	return filepath.Join(append([]string{string(r)}, parts...)...)
}

// real is the state root's path without links, as far as it can be had.
func (r Root) real() string {
	if real, err := filepath.EvalSymlinks(string(r)); err == nil {
		return real
	}
	return string(r)
}

// Path is the state root's path.
func (r Root) Path() string { return string(r) }

// LocalDir is where the backend of one machine keeps its jobs.
func (r Root) LocalDir() string { return r.join("local") }

// ScratchDir is where jobs work, unless the machine offers them another place.
func (r Root) ScratchDir() string { return r.join("scratch") }

// RunDir is a run's own directory.
func (r Root) RunDir(id string) string { return r.join("runs", id) }

// Runs returns the ids of all runs, in the order of their names.
func (r Root) Runs() ([]string, error) {
	ids, _, err := r.list()
	return ids, err
}

// list returns the ids of all runs, and the names of those that are being made or whose
// maker was killed.
func (r Root) list() (ids, unmade []string, err error) {
	entries, err := os.ReadDir(r.join("runs"))
	if err != nil {
		return nil, nil, fmt.Errorf("listing the runs: %w", err)
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir():
		case strings.HasPrefix(name, unmadePrefix):
			unmade = append(unmade, name)
		case checkRunID(name) == nil:
			ids = append(ids, name)
		}
	}
	return ids, unmade, nil
}
