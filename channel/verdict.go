package channel

import "fmt"

// Verdict is what a judge concludes with.
type Verdict struct {
	Findings []Finding
	Notes    string
}

// Finding is one remark of a judge. Its texts are bounded by 6,000 characters
// each.
type Finding struct {
	File       string  `json:"file"`
	Line       *int    `json:"line"`       // nil when the finding is not about one line
	Confidence string  `json:"confidence"` // low, medium, high
	Summary    string  `json:"summary"`
	Detail     string  `json:"detail"`
	Blocking   bool    `json:"blocking"`
	Kind       string  `json:"kind"` // change, suggestion, question, note
	Category   *string `json:"category,omitempty"`
}

// CheckVerdict returns a *[RefusedError] for the first thing in the verdict
// that is against a bound.
func CheckVerdict(v Verdict) error {
	if len(v.Findings) > MaxFindings {
		return refuse("findings", "keep the weightiest", "%d findings, at most %d are allowed", len(v.Findings), MaxFindings)
	}
	for i, f := range v.Findings {
		if err := CheckFinding(f); err != nil {
			return within(index("findings", i), err)
		}
	}
	return checkChars("notes", v.Notes, MaxFindingChars, "shorten the notes")
}

// CheckFinding is CheckVerdict for one finding.
func CheckFinding(f Finding) error {
	if err := oneOf("confidence", f.Confidence, "low", "medium", "high"); err != nil {
		return err
	}
	if err := oneOf("kind", f.Kind, "change", "suggestion", "question", "note"); err != nil {
		return err
	}
	texts := []struct{ field, text string }{{"file", f.File}, {"summary", f.Summary}, {"detail", f.Detail}}
	if f.Category != nil {
		texts = append(texts, struct{ field, text string }{"category", *f.Category})
	}
	for _, t := range texts {
		if err := checkChars(t.field, t.text, MaxFindingChars, "shorten it"); err != nil {
			return err
		}
	}
	return nil
}

func oneOf(field, value string, allowed ...string) error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	return refuse(field, fmt.Sprintf("use one of %q", allowed), "%s is not known", quoteShort(value))
}
