package claude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAuthors runs both scripts for a whole life, in the sandbox where there is one: with
// stand-ins for the agents, which take the agents' own command lines and no other.
func TestAuthors(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", "../../cmd/...").CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			author{agent: agent, bin: bin, here: here, dir: t.TempDir()}.live(t)
		})
	}
}

type author struct{ agent, bin, here, dir string }

func (a author) live(t *testing.T) {
	// The directory is the author's to read: the sandbox shows nothing that is not named.
	root, workspace, tools := filepath.Join(a.dir, "root"), filepath.Join(a.dir, "work"), filepath.Join(a.dir, "tools")
	a.write(t, "work/words.txt", "one\ntwo\nthree\n")
	a.write(t, "task.md", "Count the lines of words.txt.\n")
	for _, file := range []string{a.agent + ".sh", "brief.md", "testdata/" + a.agent, "testdata/act"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a.write(t, "tools/"+filepath.Base(file), string(content))
	}
	// The agents are on the PATH of a machine; this one's stand-in is put there by a shell.
	start := `PATH=` + tools + `:$PATH exec sh ` + tools + `/` + a.agent + `.sh`
	a.tick(t, "new", "--local", "--root", root, "--run", "count", "--workspace", workspace,
		"--prompt", filepath.Join(a.dir, "task.md"), "--read", tools, "--", "sh", "-c", start)
	a.write(t, "root/runs/count/home/key", "secret")
	a.tick(t, "--root", root, "--loop", "--until-idle")

	var runs []struct{ Outcome string }
	if err := json.Unmarshal(a.tick(t, "status", "--root", root, "--json"), &runs); err != nil {
		t.Fatal(err)
	}
	if len(runs) != 1 || runs[0].Outcome != "submitted" {
		said, _ := filepath.Glob(filepath.Join(root, "runs/count/legs/*/std*"))
		for _, file := range said {
			content, _ := os.ReadFile(file)
			t.Logf("%s:\n%s", file, content)
		}
		t.Fatalf("the run stands as %+v, want submitted", runs)
	}
	report, err := os.ReadFile(filepath.Join(root, "runs/count/report.md"))
	if err != nil || !strings.Contains(string(report), "There are 3") {
		t.Errorf("the report is %q (%v)", report, err)
	}
	// Two turns were one conversation, of the model that the operator set.
	models, err := os.ReadFile(filepath.Join(root, "runs/count/home", "."+a.agent, "models"))
	if err != nil || string(models) != "large\nlarge\n" {
		t.Errorf("the turns were of the models %q (%v)", models, err)
	}
}

func (a author) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(a.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

// tick calls the operator's program, with no settings but the model.
func (a author) tick(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(filepath.Join(a.bin, "outerloop-tick"), args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.dir, "OUTERLOOP_AUTHOR_MODEL=large"}
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", cmd, err)
	}
	return out
}
