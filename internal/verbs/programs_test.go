package verbs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// source is what a program's main.go holds: its help as the package's
// documentation, and a call of Main.
func source(v *Verb, constructor string) string {
	var out strings.Builder
	for line := range strings.Lines(string(help(v))) {
		out.WriteString(strings.TrimSpace("// "+line) + "\n")
	}
	text := strings.ReplaceAll(out.String(), "// \t", "//\t")
	return text + fmt.Sprintf(`package main

import (
	"os"

	"github.com/outerloop-go/outerloop/internal/verbs"
)

func main() { os.Exit(verbs.Main(verbs.%s)) }
`, constructor)
}

// TestSources keeps the programs' documentation and their help the same.
// With -update it writes them, which is how the program of a new verb is made.
func TestSources(t *testing.T) {
	for program, build := range All() {
		file := filepath.Join("..", "..", "cmd", program, "main.go")
		name := strings.TrimPrefix(program, "syscall-")
		want := source(build(), strings.ToUpper(name[:1])+name[1:])
		if *update {
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what its verb says; run: go test ./internal/verbs -run TestSources -update", file)
		}
	}
}

// buildPrograms builds the programs as a release does.
func buildPrograms(t *testing.T, platform ...string) (dir string) {
	dir = t.TempDir()
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -buildid=",
		"-o", dir+"/", "../../cmd/syscall-...")
	cmd.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), platform...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	return dir
}

// A program is copied into every sandbox image, so what it links is bounded on
// linux/amd64; and it runs in an environment that holds nothing at all.
func TestPrograms(t *testing.T) {
	dir := buildPrograms(t)
	sized := dir
	if runtime.GOOS+"/"+runtime.GOARCH != "linux/amd64" {
		sized = buildPrograms(t, "GOOS=linux", "GOARCH=amd64")
	}
	for program, build := range All() {
		st, err := os.Stat(filepath.Join(sized, program))
		if err != nil {
			t.Fatal(err)
		}
		if most := maxSize(program); st.Size() > most {
			t.Errorf("%s has %d bytes, more than %d", program, st.Size(), most)
		}
		cmd := exec.Command(filepath.Join(dir, program), "--help")
		cmd.Env, cmd.Dir = []string{}, dir
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Equal(out, help(build())) {
			t.Errorf("%s --help: %v, prints\n%s", program, err, out)
		}
	}
}

// maxSize is the bound of one program: more for those that wait for an
// answer, which watch a directory and know the time of day.
func maxSize(program string) int64 {
	switch program {
	case "syscall-queue", "syscall-history", "syscall-sync":
		return 2_300_000
	}
	return 2_200_000
}

// Twenty programs that stage at one time: those that fit are all kept, the
// others are refused, and none is lost.
func TestParallelLaunches(t *testing.T) {
	workspace := newWorkspace(t)
	const programs = 20
	var wg sync.WaitGroup
	var mu sync.Mutex
	staged, refused := 0, 0
	for i := range programs {
		wg.Go(func() {
			cmd := exec.Command("syscall-launch", "--name", fmt.Sprintf("l%d", i), "--", "true")
			cmd.Env = append(os.Environ(), "OUTERLOOP_WORKSPACE="+workspace, "GORACE="+raceOptions)
			out, err := cmd.CombinedOutput()
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && bytes.HasPrefix(out, []byte("Staged launch l")):
				staged++
			case cmd.ProcessState.ExitCode() == exitFailed && bytes.Contains(out, []byte("8 launches are staged already")):
				refused++
			default:
				t.Errorf("launch %d: %v, prints\n%s", i, err, out)
			}
		})
	}
	wg.Wait()
	if staged != channel.MaxLaunches || refused != programs-channel.MaxLaunches {
		t.Errorf("%d launches staged and %d refused", staged, refused)
	}
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Staged()
	if err != nil || len(all.Launches) != staged {
		t.Errorf("%d launches said to be staged, %d are: %v", staged, len(all.Launches), err)
	}
}

// Different verbs do not lose one another's staging either.
func TestParallelVerbs(t *testing.T) {
	workspace := newWorkspace(t)
	report := filepath.Join(workspace, "report.md")
	if err := os.WriteFile(report, []byte("It is better."), 0o666); err != nil {
		t.Fatal(err)
	}
	calls := [][]string{
		{"syscall-launch", "--name", "a", "--", "true"},
		{"syscall-note", "a note"},
		{"syscall-submit", "--report", "report.md"},
		{"syscall-launch", "--name", "b", "--", "true"},
	}
	var wg sync.WaitGroup
	for _, call := range calls {
		wg.Go(func() {
			cmd := exec.Command(call[0], call[1:]...)
			cmd.Env = append(os.Environ(), "OUTERLOOP_WORKSPACE="+workspace, "GORACE="+raceOptions)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %v, prints\n%s", call, err, out)
			}
		})
	}
	wg.Wait()
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	all, err := s.Staged()
	if err != nil || len(all.Launches) != 2 || all.Note == "" || !all.Submit {
		t.Errorf("staged is %+v, %v", all, err)
	}
}

func newWorkspace(t *testing.T) string {
	workspace := t.TempDir()
	k, err := channel.CreateKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	return workspace
}

// Output that nobody can read is a failure, though the verb has done its work.
func TestFullOutput(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/dev/full is Linux's")
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	var stderr bytes.Buffer
	workspace := newWorkspace(t)
	status := run(Note(), []string{"x"}, world{
		stdin: strings.NewReader(""), stdout: full, stderr: &stderr, getwd: os.Getwd,
		getenv: func(name string) string {
			return map[string]string{"OUTERLOOP_WORKSPACE": workspace}[name]
		},
	})
	if status != exitFailed || !strings.Contains(stderr.String(), "syscall-note: error: printing: ") {
		t.Errorf("status %d, prints %s", status, &stderr)
	}
}
