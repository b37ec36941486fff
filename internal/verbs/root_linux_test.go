package verbs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestBareRoot runs the programs where an image FROM scratch would: in a root
// that holds nothing but them and a workspace. There is no /proc, /etc or /tmp,
// and nothing of the root can be written.
func TestBareRoot(t *testing.T) {
	root := buildPrograms(t)
	if err := os.MkdirAll(filepath.Join(root, "ws", ".outerloop"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "ws", "report.md"), []byte("It is better."), 0o666); err != nil {
		t.Fatal(err)
	}
	attr := &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() != 0 {
		attr.Cloneflags = syscall.CLONE_NEWUSER
	}
	steps := []struct {
		call string
		want int
	}{
		{"syscall-status", exitDone},
		{"syscall-launch --name a -- true", exitDone},
		{"syscall-note later", exitDone},
		{"syscall-submit --report report.md", exitDone},
		{"syscall-queue --wait 0", exitFailed},
		{"syscall-history --wait 1", exitFailed},
		{"syscall-sleep", exitDone},
		{"syscall-cancel", exitDone},
	}
	for _, step := range steps {
		words := strings.Fields(step.call)
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Path, cmd.Err = "/"+words[0], nil
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/ws", []string{}, attr
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			if attr.Cloneflags != 0 {
				t.Skipf("neither root nor user namespaces: %v", err)
			}
			t.Fatal(err)
		}
		if got := cmd.ProcessState.ExitCode(); got != step.want {
			t.Errorf("%s exits with %d, prints\n%s", step.call, got, out)
		}
	}
}
