package watcher

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// encode makes the answer file of what a handler returned.
func encode(v any) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("the answer cannot be written: %w", err)
		}
		raw = buf.Bytes()
	}
	if len(raw) > channel.MaxAnswerBytes {
		return nil, fmt.Errorf("the answer is %d bytes, at most %d are read", len(raw), channel.MaxAnswerBytes)
	}
	return raw, nil
}

// errorAnswer is the answer to a question that cannot be answered.
func errorAnswer(err error) []byte {
	const longest = 1000
	text := err.Error()
	if len(text) > longest {
		text = text[:longest]
	}
	// Strings and finite numbers always encode; half a rune becomes U+FFFD.
	raw, _ := json.Marshal(struct {
		At    float64 `json:"at"`
		Error string  `json:"error"`
	}{channel.Seconds(time.Now()), text})
	return append(raw, '\n')
}
