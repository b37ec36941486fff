package manual_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What each shell itself offers for a line that somebody has begun.
func TestShells(t *testing.T) {
	dir := share(t)
	root := t.TempDir()
	for _, run := range []string{"anneal", "sweep"} {
		if err := os.MkdirAll(filepath.Join(root, "runs", run), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	here := t.TempDir()
	if err := os.WriteFile(filepath.Join(here, "task.md"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	shells := map[string]func(*testing.T, string, string) *exec.Cmd{"bash": bash, "fish": fish, "zsh": zsh}
	for shell, complete := range shells {
		t.Run(shell, func(t *testing.T) {
			look(t, shell)
			for line, want := range map[string]string{
				"outerloop-tick resu":                 "resume",
				"outerloop-tick --until":              "--until-idle",
				"outerloop-tick end an":               "anneal",
				"outerloop-tick new --workspa":        "--workspace",
				"outerloop-tick new --prompt tas":     "task.md",
				"syscall-launch --concu":              "--concurrency",
				"syscall-launch --name x -- cat task": "task.md",
				"syscall-submit --report tas":         "task.md",
			} {
				cmd := complete(t, dir, line)
				cmd.Dir = here
				cmd.Env = append(os.Environ(), "OUTERLOOP_ROOT="+root, "HOME="+t.TempDir(), "TERM=dumb")
				cmd.Stderr = t.Output()
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("%s: %v", line, err)
				}
				if got := strings.Fields(string(out)); !slices.Contains(got, want) {
					t.Errorf("%q offers %q, want %q", line, got, want)
				}
			}
		})
	}
}

func bash(_ *testing.T, share, line string) *exec.Cmd {
	words := strings.Fields(line)
	script := `. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')"; printf '%s\n' "${COMPREPLY[@]}"`
	return exec.Command("bash", append([]string{"--norc", "-c", script, "bash", filepath.Join(share, "bash-completion/completions", words[0])}, words...)...)
}

func fish(_ *testing.T, share, line string) *exec.Cmd {
	program := strings.Fields(line)[0]
	return exec.Command("fish", "--no-config", "-c", "source "+filepath.Join(share, "fish/vendor_completions.d", program+".fish")+"; complete -C $argv[1]", line)
}

// zsh completes in its line editor only, so a second one at a pseudo-terminal is
// made to: the tab completes the line, which is then not run but printed.
func zsh(_ *testing.T, share, line string) *exec.Cmd {
	script := `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "fpath=($1/zsh/site-functions \$fpath) PROMPT= ; autoload -Uz compinit; compinit -D -u; bindkey '^I' complete-word; bindkey -s '^T' '^A: completed ^M'"
zpty -w shell 'print -r -- re""ady'
while zpty -r shell out; do [[ $out == *ready* ]] && break; done
zpty -w -n shell "$2"$'\t\C-T'
zpty -w shell 'print -r -- re""ady'
while zpty -r shell out; do print -r -- "$out"; [[ $out == *ready* ]] && break; done
zpty -d shell
`
	return exec.Command("zsh", "-f", "-c", script, "zsh", share, line)
}
