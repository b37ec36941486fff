package packages

import (
	"os"
	"strings"
	"testing"
)

// What the README says first to operators works as written, in a directory with nothing
// but the programs.
func TestFirstResult(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "## For operators")
	_, after, _ = strings.Cut(after, "```sh\nmake build\n")
	steps, _, ok := strings.Cut(after, "```")
	if !ok || !strings.Contains(steps, "outerloop-tick new") {
		t.Fatalf("the README has no first steps for operators: %q", steps)
	}
	dir := programs(t)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	out := run(t, dir, []string{"PATH=" + os.Getenv("PATH")}, "sh", "-eu", "-c", steps)
	if !strings.HasSuffix(out, "\n"+host+"\n") {
		t.Errorf("the steps do not end with what the job found, %q:\n%s", host, out)
	}
}
