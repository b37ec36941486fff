package channel

import (
	"fmt"
	"strings"
)

// Sleep is the request that ends a leg: what is to run while the author sleeps.
type Sleep struct {
	Launches []Launch
	Note     string // the author's words to itself, given back at the wake
	Submit   bool   // the sealed workspace is claimed to be worth merging
	// EvalMinutes is the walltime that a submit declares for its gate, 0 where
	// it declares none. Only with Submit.
	EvalMinutes int
	Report      string // what a submit claims and why, Markdown. Only with Submit
}

// CheckSleep returns the request as it will be carried out, every launch
// normalized by [CheckLaunch]. Budgets are the kernel's to check.
func CheckSleep(s Sleep) (Sleep, error) {
	if len(s.Launches) > MaxLaunches {
		return Sleep{}, refuse("launches", "sleep with fewer, or make one sweep of several with --array",
			"%d launches, at most %d fit in one sleep", len(s.Launches), MaxLaunches)
	}
	launches := make([]Launch, len(s.Launches))
	seen := make(map[string]bool, len(s.Launches))
	for i, l := range s.Launches {
		checked, err := CheckLaunch(l)
		if err != nil {
			return Sleep{}, within(index("launches", i), err)
		}
		if seen[l.Name] {
			return Sleep{}, refuse(index("launches", i)+".name", "give each launch of a sleep a name of its own",
				"%q is the name of an earlier launch", l.Name)
		}
		seen[l.Name] = true
		launches[i] = checked
	}
	s.Launches = launches
	if err := CheckNote(s.Note); err != nil {
		return Sleep{}, err
	}
	return checkSubmit(s)
}

// CheckNote refuses a note of more than 2,000 characters.
func CheckNote(note string) error {
	return checkChars("note", note, MaxNoteChars, "keep the note short; long notes belong in a file of the workspace")
}

func checkSubmit(s Sleep) (Sleep, error) {
	if !s.Submit {
		if s.Report != "" || s.EvalMinutes != 0 {
			return Sleep{}, refuse("submit", "submit with --report, or leave the report out",
				"a report or a walltime for the gate was given without a submit")
		}
		return s, nil
	}
	var err error
	if s.Report, err = CheckReport(s.Report); err != nil {
		return Sleep{}, err
	}
	if s.EvalMinutes < 0 {
		return Sleep{}, evalMinutesBelow(s.EvalMinutes)
	}
	s.EvalMinutes = min(s.EvalMinutes, MaxEvalMinutes)
	return s, nil
}

// CheckEvalMinutes returns a declared gate walltime as it will be used: below 1
// refused, above 1,440 clamped.
func CheckEvalMinutes(minutes int) (int, error) {
	if minutes < 1 {
		return 0, evalMinutesBelow(minutes)
	}
	return min(minutes, MaxEvalMinutes), nil
}

func evalMinutesBelow(minutes int) error {
	return refuse("eval_minutes", fmt.Sprintf("give 1 to %d minutes, or none", MaxEvalMinutes),
		"a walltime of %d minutes is below 1", minutes)
}

// CheckReport returns the report without white space around it. A blank one,
// and one of more than 8,000 characters, is refused.
func CheckReport(report string) (string, error) {
	report = strings.TrimSpace(report)
	if report == "" {
		return "", refuse("report", "write what you expected, what you ran and measured, and why it should be merged",
			"the report is blank")
	}
	return report, checkChars("report", report, MaxReportChars, "shorten it; tables and logs can stay in the workspace")
}
