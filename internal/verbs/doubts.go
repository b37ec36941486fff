package verbs

import (
	"slices"
	"strings"

	"github.com/outerloop-go/outerloop/channel"
)

// doubts are hints on a command that is valid but will probably not do what was
// meant. The words reach the program as they are, so what only a shell would
// make of them never happens.
func doubts(words []string, l channel.Launch) (hints []string) {
	const again = " (syscall-cancel discards what is staged)"
	first := words[0]
	switch {
	case len(words) == 1 && strings.ContainsAny(first, " \t\n|&;<>()$`*?"):
		hints = append(hints, channel.Quote(words)+" will be looked up as the name of one program; for a shell line: -- sh -c "+
			channel.Quote(words)+again)
	case strings.Contains(first, "="):
		hints = append(hints, channel.Quote(words[:1])+" will be looked up as a program; to set a variable: -- env "+
			channel.Quote(words)+again)
	}
	if l.Array > 1 && !slices.Contains(words, "-c") && slices.ContainsFunc(words, namesIndex) {
		hints = append(hints, "no shell will replace $SWEEP_INDEX in this command; have the program read its environment, or use: -- sh -c '...'"+again)
	}
	for _, path := range l.Artifacts {
		if strings.ContainsAny(path, "*?[{") {
			hints = append(hints, "--artifact "+channel.Quote([]string{path})+" is the name of one file, no pattern: name each file, or have the job pack them into one"+again)
		}
	}
	return hints
}

func namesIndex(word string) bool {
	return strings.Contains(word, "$SWEEP_INDEX") || strings.Contains(word, "${SWEEP_INDEX")
}
