package engine

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/outerloop-go/outerloop/internal/durable"
)

func writeJSON(path string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(path, append(raw, '\n'))
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
