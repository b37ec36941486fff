package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// saveJSON replaces the file at path by v, whole or not at all. The content is
// on the disk before the name is, so that a crash of the machine cannot leave an
// empty record behind.
func saveJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	// The temporary name has to be on the same filesystem, and renameio's way
	// of finding out whether $TMPDIR is costs several system calls.
	return renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path)))
}

// loadJSON reads a file that saveJSON or linkJSON wrote. A file that is not
// there is reported by found and is no error.
func loadJSON(path string, v any) (found bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("decode %s: %w", path, err)
	}
	return true, nil
}

// linkJSON creates the file at path with the content v and says whether it was
// the one who did. Of several processes that try, one succeeds. A link to a
// finished file, unlike a file opened with O_EXCL, is never seen half written,
// and it is durable when linkJSON returns.
func linkJSON(path string, v any) (created bool, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return false, fmt.Errorf("encode %s: %w", path, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, syncDir(filepath.Dir(path))
}

// tidy removes what the two above have left half written in a directory, where the
// process was killed: all names that begin with a dot. Whoever still writes there, which
// only a shepherd does whose task is somebody else's, finds that it is too late.
func tidy(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		if entry.Name()[0] == '.' {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return errors.Join(errs...)
}

// syncDir makes the names in a directory durable.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
