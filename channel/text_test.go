package channel_test

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// words are those that a shell might take for something else.
func words() []string {
	return []string{
		"", " ", "a b", "'", "''", `"`, "\\", "\n", "\t", "$HOME", "${x}", "$(id)", "`id`", "*", "?", "[a]", "~", "~root",
		"#", "!", "!!", "&", "&&", "|", ";", "<", ">", ">>f", "(", ")", "{", "}", "{a,b}", "a=b", "=", "-n", "--", "-",
		"if", "then", "done", "time", "é", "\x01", "\u202e", "%s", "\\0", "a\\", "'\\''", "x'y\"z", "+x", "1>2",
	}
}

// The oracle is the shell itself: what printf is given must be the very words.
func TestQuoteInShell(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	list := words()
	for range 300 {
		word := make([]byte, random.IntN(12))
		for i := range word {
			word[i] = byte(1 + random.IntN(127))
		}
		list = append(list, string(word))
	}
	for _, shell := range [][]string{{"sh"}, {"bash", "--posix"}, {"bash"}} {
		if _, err := exec.LookPath(shell[0]); err != nil {
			continue // sh is everywhere, bash is a second opinion
		}
		command := channel.Quote(append([]string{"printf", `%s\0`}, list...))
		out, err := exec.CommandContext(t.Context(), shell[0], append(shell[1:], "-c", command)...).Output()
		if err != nil {
			t.Fatalf("%v: %v", shell, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got, list) {
			t.Errorf("%v passed on other words", shell)
		}
	}
}

// As the first word each names a program, which is not there: a shell that
// takes it for anything else ends with another status than 127.
func TestQuoteFirstWord(t *testing.T) {
	for _, word := range []string{
		"if", "while", "do", "esac", "for", "time", "{", "}", "!", "a=b", "-c", "-x", "+x", "--", "case", "function", "#", "~", "(",
	} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", channel.Quote([]string{word, "x"}))
		cmd.Env = []string{"PATH=/nonexistent"}
		cmd.Run()
		// 126 is what some shells say of a directory, such as "~" is not.
		if got := cmd.ProcessState.ExitCode(); got != 127 {
			t.Errorf("%q as a program: exit status %d", channel.Quote([]string{word, "x"}), got)
		}
	}
}

func TestQuotePlain(t *testing.T) {
	got := channel.Quote([]string{"python", "train.py", "--lr=3e-4", "a b", "it's"})
	if want := `python train.py --lr=3e-4 'a b' 'it'\''s'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFoldLine(t *testing.T) {
	for in, want := range map[string]string{
		"": "", " \n": "", "a": "a", " a\t\tb\r\nc ": "a b c", "a\u00a0b\u2028c": "a b c",
	} {
		if got := channel.FoldLine(in); got != want {
			t.Errorf("FoldLine(%q) = %q, want %q", in, got, want)
		}
	}
}
