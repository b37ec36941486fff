package channeltest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/outerloop-go/outerloop/channel"
)

// wrong says what is wrong with an answer to a question.
func (p *session) wrong(raw []byte, q question) error {
	if raw == nil {
		return errors.New("there is no answer file that can be read")
	}
	check := p.verb.Check
	if check == nil {
		check = func(raw []byte) error { return checkAnswer(p.verb.Name, raw) }
	}
	if err := check(raw); err != nil {
		return err
	}
	if !p.verb.Live {
		return nil
	}
	at, err := answerTime(raw)
	if err != nil {
		return err
	}
	// A double holds the time of day to a quarter of a microsecond.
	if asked := float64(channel.StampOf(q.at.Add(-time.Millisecond))); at < asked {
		return fmt.Errorf(`it is older than the question: "at" is %v, asked at %v`, at, asked)
	}
	return nil
}

func answerTime(raw []byte) (float64, error) {
	var v struct {
		At *float64 `json:"at"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return 0, err
	}
	if v.At == nil {
		return 0, errors.New(`it has no "at"`)
	}
	return *v.At, nil
}

// answerKeys are the keys that an answer always has, for the verbs that the
// protocol describes.
func answerKeys(verb string) (whole []string, list string, item []string) {
	switch verb {
	case "queue":
		return []string{"at", "run_id", "agent", "jobs", "lane", "error"}, "jobs", []string{
			"id", "name", "state", "elapsed", "partition", "submitted", "reason", "gres", "limit",
			"agent", "run_id", "mine", "experiment", "why", "kind",
		}
	case "history":
		return []string{"at", "run_id", "history"}, "history", []string{
			"sleep", "name", "why", "minutes", "array", "job_ids", "submitted_at", "jobs",
		}
	}
	return nil, "", nil
}

// checkAnswer checks the form of an answer. An answer that says in "error" why
// it could not be had needs nothing else but "at".
func checkAnswer(verb string, raw []byte) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return fmt.Errorf("it is no JSON object: %w", err)
	}
	whole, list, item := answerKeys(verb)
	if whole == nil {
		return nil
	}
	if _, err := answerTime(raw); err != nil {
		return err
	}
	var failed string
	if json.Unmarshal(object["error"], &failed) == nil && failed != "" {
		return nil
	}
	if err := hasKeys(object, whole); err != nil {
		return err
	}
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(object[list], &items); err != nil || items == nil {
		return fmt.Errorf("%q is no list of objects (%v)", list, err)
	}
	if verb == "queue" && len(items) > channel.MaxQueueJobs {
		return fmt.Errorf("%d jobs, at most %d are allowed", len(items), channel.MaxQueueJobs)
	}
	for i, object := range items {
		if err := hasKeys(object, item); err != nil {
			return fmt.Errorf("%s[%d]: %w", list, i, err)
		}
	}
	return nil
}

func hasKeys(object map[string]json.RawMessage, keys []string) error {
	for _, key := range keys {
		if _, ok := object[key]; !ok {
			return fmt.Errorf("the key %q is missing", key)
		}
	}
	return nil
}
