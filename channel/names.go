package channel

import "fmt"

// DirName is the channel's directory in the workspace.
const DirName = ".outerloop"

// FormerDirName is the name that a workspace parked before the renaming may
// still have. It is the channel where it exists and DirName does not.
const FormerDirName = ".autoresearch"

// Files of the channel. Markers and answers are named after their verb.
const (
	StagedFile    = "request.json"  // what is staged so far; private to the session
	CommittedFile = "syscall.json"  // the committed request
	BudgetFile    = "budget.json"   // [Budget]
	SiblingsFile  = "siblings.json" // list of [Sibling]
	ReportsDir    = "reports"
	ResultsDir    = "results"
	PromptFile    = "prompt.md" // what this leg was started with
	TaskFile      = "task.md"   // what the run was started with

	lockFile = "session.lock" // flock between the session's own programs
)

// CheckVerb reports whether a word can name a verb that is asked: 1 to 32 of
// a-z, 0-9 and '-', beginning with a letter. It becomes part of file names, so
// those whose answer would take the place of another file are refused.
func CheckVerb(verb string) error {
	for i, c := range []byte(verb) {
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || c != '-' && (c < '0' || c > '9')) {
			return fmt.Errorf("channel: %q cannot name a verb", verb)
		}
	}
	if verb == "" || len(verb) > 32 {
		return fmt.Errorf("channel: %q cannot name a verb", verb)
	}
	switch answerFile(verb) {
	case StagedFile, CommittedFile, BudgetFile, SiblingsFile:
		return fmt.Errorf("channel: the answer to a verb %q would take the place of another file", verb)
	}
	return nil
}

func requestMarker(verb string) string { return verb + "-request" }
func doneMarker(verb string) string    { return verb + "-done" }
func answerFile(verb string) string    { return verb + ".json" }
