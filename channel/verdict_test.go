package channel_test

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
)

func finding() channel.Finding {
	line, category := 12, "style"
	return channel.Finding{
		File: "a.go", Line: &line, Confidence: "high", Summary: "s", Detail: "d",
		Blocking: true, Kind: "change", Category: &category,
	}
}

// One table for both doors, as in TestBounds.
func TestVerdictBounds(t *testing.T) {
	type V = channel.Verdict
	one := func(change func(*channel.Finding)) func(*V) {
		return func(v *V) { change(&v.Findings[0]) }
	}
	many := func(n int) func(*V) {
		return func(v *V) {
			for len(v.Findings) < n {
				v.Findings = append(v.Findings, finding())
			}
		}
	}
	const long = channel.MaxFindingChars
	rows := []struct {
		name   string
		change func(*V)
		field  string
	}{
		{"ordinary", func(*V) {}, ""},
		{"no finding", func(v *V) { v.Findings = nil }, ""},
		{"200 findings", many(200), ""},
		{"201 findings", many(201), "findings"},
		{"notes of 6000", func(v *V) { v.Notes = wide(long) }, ""},
		{"notes of 6001", func(v *V) { v.Notes = wide(long + 1) }, "notes"},
		{"summary of 6000", one(func(f *channel.Finding) { f.Summary = wide(long) }), ""},
		{"summary of 6001", one(func(f *channel.Finding) { f.Summary = wide(long + 1) }), "findings[0].summary"},
		{"detail of 6001", one(func(f *channel.Finding) { f.Detail = wide(long + 1) }), "findings[0].detail"},
		{"file of 6001", one(func(f *channel.Finding) { f.File = wide(long + 1) }), "findings[0].file"},
		{"category of 6001", one(func(f *channel.Finding) { s := wide(long + 1); f.Category = &s }), "findings[0].category"},
		{"no line", one(func(f *channel.Finding) { f.Line = nil }), ""},
		{"no category", one(func(f *channel.Finding) { f.Category = nil }), ""},
		{"confidence", one(func(f *channel.Finding) { f.Confidence = "High" }), "findings[0].confidence"},
		{"kind", one(func(f *channel.Finding) { f.Kind = "" }), "findings[0].kind"},
		{"bytes", func(v *V) {
			many(200)(v)
			for i := range v.Findings {
				v.Findings[i].Detail = strings.Repeat("x", 5000)
			}
		}, ""},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			v := V{Findings: []channel.Finding{finding()}, Notes: "n"}
			row.change(&v)
			raw, err := channel.Request{Verdict: &v}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			verbErr := commitVerdict(t, v)
			request, kernelErr := channel.ParseRequest(raw)
			if row.name == "bytes" {
				refused(t, verbErr)
				refused(t, kernelErr)
				return
			}
			if got := refusedField(t, verbErr); got != row.field {
				t.Errorf("the verb refuses %q, want %q", got, row.field)
			}
			if got := refusedField(t, kernelErr); got != row.field {
				t.Errorf("the kernel refuses %q, want %q", got, row.field)
			}
			if row.field == "" && !cmp.Equal(v, *request.Verdict) {
				t.Errorf("read back:\n%s", cmp.Diff(v, *request.Verdict))
			}
		})
	}
}

func commitVerdict(t *testing.T, v channel.Verdict) error {
	_, s, _ := open(t)
	err := s.Stage(t.Context(), func(staged *channel.Staged) error {
		staged.Findings = v.Findings
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.CommitVerdict(t.Context(), v.Notes)
	return err
}

// TestStagedNotes: the notes that a peer's program has staged are committed,
// unless the committing one brings its own.
func TestStagedNotes(t *testing.T) {
	for given, want := range map[string]string{"": "staged", "given": "given"} {
		k, s, _ := open(t)
		err := s.Stage(t.Context(), func(staged *channel.Staged) error {
			staged.Notes = "staged"
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := s.CommitVerdict(t.Context(), given); err != nil || v.Notes != want {
			t.Errorf("%q given: committed %q (%v)", given, v.Notes, err)
		}
		raw, err := k.ReadCommitted(channel.MaxVerdictBytes)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := channel.ParseRequest(raw); err != nil || r.Verdict.Notes != want {
			t.Errorf("%q given: read %s (%v)", given, raw, err)
		}
	}
}

// A key that a judge forgot is an error: a missing "blocking" read as false
// would let a submit through.
func TestVerdictKeysAreRequired(t *testing.T) {
	full := map[string]any{
		"file": "a.go", "line": nil, "confidence": "low", "summary": "s", "detail": "",
		"blocking": false, "kind": "note",
	}
	parse := func(f map[string]any) error {
		raw, err := json.Marshal(map[string]any{"type": "verdict", "findings": []any{f}, "notes": ""})
		if err != nil {
			t.Fatal(err)
		}
		_, err = channel.ParseRequest(raw)
		return err
	}
	if err := parse(full); err != nil {
		t.Fatal(err)
	}
	for key := range full {
		f := maps.Clone(full)
		delete(f, key)
		if got, want := refusedField(t, parse(f)), "findings[0]."+key; got != want {
			t.Errorf("without %s: refused %q", key, got)
		}
		if key == "line" {
			continue
		}
		f[key] = nil
		if got, want := refusedField(t, parse(f)), "findings[0]."+key; got != want {
			t.Errorf("%s null: refused %q", key, got)
		}
	}
	for _, line := range []any{true, "1", 1.5, 1e30} {
		f := maps.Clone(full)
		f["line"] = line
		if got := refusedField(t, parse(f)); got != "findings[0].line" {
			t.Errorf("line %v: refused %q", line, got)
		}
	}
	f := maps.Clone(full)
	f["line"] = json.Number("99999999999999999999")
	if err := parse(f); err != nil {
		t.Errorf("a line beyond int64 (read as %d): %v", math.MaxInt, err)
	}
}
