package verbs

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// Note stages the words that an author leaves for its next leg.
func Note() *Verb {
	v := &Verb{
		name:     "note",
		role:     author,
		does:     "stages a note to yourself, which you are given back when you wake",
		synopsis: "[flags] TEXT... | -",
		details: fmt.Sprintf(`Say what you were testing and what you mean to do with the results. A note holds
at most %d characters; longer ones belong in a file of the workspace. A second
note replaces the first. With "-" the text is read from standard input; text
that begins with a dash goes after "--".`, channel.MaxNoteChars),
		examples: [2]string{
			`"rates tests if 3e-4 is steadier; next: the same for 5-gram"`,
			"- <plan.txt",
		},
		operands: textOperands,
	}
	var asJSON bool
	v.options.json(&asJSON)

	v.run = withSession(func(c *call, s *channel.Session) error {
		note, err := c.noteText()
		if err != nil {
			return err
		}
		replaced := false
		err = s.Stage(unending(), func(all *channel.Staged) error {
			replaced = all.Note != ""
			all.Note = note
			return nil
		})
		if err != nil {
			return err
		}
		if asJSON {
			return c.sayJSON(struct {
				Note string `json:"note"`
			}{note})
		}
		c.say("Staged a note of %s.", render.Count(utf8.RuneCountInString(note), "character"))
		if replaced {
			c.say("It replaces the note that was staged before.")
		}
		return nil
	})
	return v
}

func (c *call) noteText() (string, error) {
	text := strings.TrimSpace(validUTF8(strings.Join(c.args, " ")))
	if len(c.args) == 1 && c.args[0] == "-" {
		var err error
		text, err = readChars(c.stdin, channel.MaxNoteChars)
		switch {
		case errors.Is(err, errTooLong):
			return "", wrongCall("keep the note short; long notes belong in a file of the workspace",
				"note: more than %d characters on standard input", channel.MaxNoteChars)
		case err != nil:
			return "", failed("give the text as arguments", "reading the note from standard input: %v", err)
		}
	}
	if text == "" {
		return "", wrongCall(usageCure(c.verb), "the note is empty")
	}
	return text, asWrongCall(channel.CheckNote(text))
}
