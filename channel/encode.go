package channel

import (
	"bytes"
	"encoding/json"
)

// Encode returns the request as the committed file holds it. The request has
// been checked: what is written here is what a peer's kernel will accept.
func (r Request) Encode() ([]byte, error) {
	if r.Verdict != nil {
		return encode(struct {
			Type     string    `json:"type"`
			Findings []Finding `json:"findings"`
			Notes    string    `json:"notes"`
		}{"verdict", orEmpty(r.Verdict.Findings), r.Verdict.Notes})
	}
	s := struct {
		Type        string   `json:"type"`
		Launches    []Launch `json:"launches"`
		Note        string   `json:"note"`
		Submit      bool     `json:"submit"`
		EvalMinutes int      `json:"eval_minutes,omitempty"`
		Report      *string  `json:"report,omitempty"`
	}{"sleep", orEmpty(r.Sleep.Launches), r.Sleep.Note, r.Sleep.Submit, r.Sleep.EvalMinutes, nil}
	if r.Sleep.Submit {
		s.Report = &r.Sleep.Report
	}
	return encode(s)
}

// encode writes JSON without the escapes for HTML, which would spend bytes of
// the bound on every shell redirection in a command.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
