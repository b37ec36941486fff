package packages

import (
	"os"
	"os/exec"
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
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", dir+"/bin/", "../../cmd/...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-eu", "-c", steps)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasSuffix(string(out), "\n"+host+"\n") {
		t.Errorf("the steps end with %v, and not with what the job found, %q:\n%s", err, host, out)
	}
}
