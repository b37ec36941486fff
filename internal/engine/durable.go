package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// writeDurable puts a file in place, whole or not at all, and on disk with its
// name before it returns. It is for the kernel's own directories; what a
// session can reach is written by package channel.
func writeDurable(path string, data []byte) error {
	if err := renameio.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes the names in a directory durable, which renameio leaves out.
func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return writeDurable(path, append(raw, '\n'))
}

// readJSON reads a file that only the kernel writes. Keys it does not know are
// an error: they are from a newer program, and writing the file back would lose
// them.
func readJSON(path string, into any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	dec := json.NewDecoder(f)
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// makeDir makes a private directory and its name durable.
func makeDir(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}
