package verbs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/internal/render"
)

// question is what the verbs that wait for an answer share.
type question struct {
	wait   int // in units
	unit   time.Duration
	asJSON bool
}

// maxWait keeps a wait within what a time.Duration holds, and a session from
// waiting longer than any leg lasts.
const maxWait = 7 * 24 * time.Hour

func (q *question) addTo(o *options) {
	q.wait, q.unit = int(channel.DefaultWait/time.Second), time.Second
	o.number(&q.wait, "wait", "N", fmt.Sprintf("wait N seconds for the answer; 0 asks and looks once (default %d)", q.wait))
	o.json(&q.asJSON)
}

// ask leaves the question and decodes the answer into a value. With --json it
// prints the answer as the kernel wrote it, with one more key: "polled" is true
// where no file event announced the answer. The answer may be a marker alone, which
// decodes as {}.
func (q *question) ask(c *call, s *channel.Session, into any) (alone bool, err error) {
	if q.wait < 0 {
		return false, wrongCall("give 0 or more", "a wait of %d is below 0", q.wait)
	}
	wait := maxWait
	if int64(q.wait) < int64(maxWait/q.unit) {
		wait = time.Duration(q.wait) * q.unit
	}
	answer, err := s.Ask(unending(), c.verb.name, wait)
	if errors.Is(err, channel.ErrNoAnswer) {
		return false, noAnswer(wait)
	}
	if err != nil {
		return false, err
	}
	if alone = len(answer.Data) == 0 && c.verb.name == channel.SyncVerb; alone {
		answer.Data = []byte("{}")
	}
	// Unmarshal would take null for anything.
	if !bytes.HasPrefix(bytes.TrimLeft(answer.Data, " \t\r\n"), []byte("{")) {
		err = errors.New("it is no JSON object")
	} else {
		err = json.Unmarshal(answer.Data, into)
	}
	if err != nil {
		return false, failed("go on without it, and tell whoever runs the kernel", "the kernel's answer cannot be read: %v", err)
	}
	if q.asJSON {
		c.out.Write(withPolled(render.JSON(answer.Data), answer.Polled))
	}
	return alone, nil
}

func noAnswer(wait time.Duration) error {
	if wait == 0 {
		return failed("the question stands: ask again in a few seconds, with a --wait", "no answer yet")
	}
	return failed("go on without it, and try again at the next wake",
		"no answer within %s: no kernel that answers this is watching the channel", wait)
}

// withPolled adds a key to a JSON object and leaves the rest as it is.
func withPolled(object []byte, polled bool) []byte {
	object = bytes.TrimSuffix(bytes.TrimSpace(object), []byte("}"))
	object = bytes.TrimRight(object, " \t\r\n")
	if !bytes.HasSuffix(object, []byte("{")) {
		object = append(object, ',')
	}
	return fmt.Appendf(object, "\"polled\":%t}\n", polled)
}
