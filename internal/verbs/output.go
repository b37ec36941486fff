package verbs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/outerloop-go/outerloop/internal/render"
)

// say prints a line for people.
func (c *call) say(format string, args ...any) {
	fmt.Fprintf(&c.out, format+"\n", args...)
}

// sayJSON prints a value as one line of JSON.
func (c *call) sayJSON(v any) error {
	var raw bytes.Buffer
	enc := json.NewEncoder(&raw)
	enc.SetEscapeHTML(false) // a command full of redirections stays readable
	err := enc.Encode(v)
	c.out.Write(render.JSON(raw.Bytes()))
	return err
}
