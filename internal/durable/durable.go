// Package durable writes what has to survive a power cut, in directories that
// only the kernel can write to. What a session can reach is written by package
// dirfd.
//
// What has to survive is records, the ledger, seals, requests that were read,
// prompts and exit codes. Each step of a run writes one file of these last, its
// record or exit code, and what it wrote before is on disk by then. What lives
// only as long as a question, answers and markers, is dirfd.Volatile and never
// synced; neither is what the next pass makes anew, such as a queue snapshot.
package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// WriteFile puts a file in place, whole or not at all, and on disk with its name
// before it returns. Its mode is 0600. The temporary file lies beside it: what
// TMPDIR names may be another filesystem, or nothing.
func WriteFile(path string, data []byte) error {
	if err := renameio.WriteFile(path, data, 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// SyncDir makes the names in a directory durable, which renameio leaves out.
func SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MkdirAll makes a directory of mode 0700 and those above it that are missing,
// and the name of the last one durable.
func MkdirAll(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// Sweep removes what [WriteFile] has left beside its files in a directory where the
// process was killed: everything whose name begins with a dot and ends in a digit, as
// names of temporary files and directories do. The caller must be the only one to write
// in the directory, with no other file of such a name. One that is missing is no error.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		name := entry.Name()
		if name[0] == '.' && strings.TrimRight(name, "0123456789") != name {
			errs = append(errs, os.RemoveAll(filepath.Join(dir, name)))
		}
	}
	return errors.Join(errs...)
}
