package engine

import (
	"bytes"
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

// readJSON reads a file that only the kernel writes.
func readJSON(path string, into any) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := decode(raw, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// decode refuses keys that it does not know: they are from a newer program, and
// writing the file back would lose them.
func decode(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
