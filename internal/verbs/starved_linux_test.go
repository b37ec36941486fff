package verbs

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// session calls the programs in one workspace.
type session struct {
	*testing.T
	workspace string
	run       []string // what the programs are started with, before their names
}

// call runs one and wants its exit status, and these words in what it prints.
func (s *session) call(line string, status int, says string) {
	s.Helper()
	words := append(append([]string{}, s.run...), strings.Fields(line)...)
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = s.workspace
	cmd.Env = append(os.Environ(), "OUTERLOOP_WORKSPACE="+s.workspace, "GORACE="+raceOptions)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		s.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != status || !strings.Contains(string(out), says) {
		s.Errorf("%s exits with %d, want %d and %q:\n%s", line, got, status, says, out)
	}
}

// files is what stands below the channel, by name.
func (s *session) files() map[string]string {
	s.Helper()
	all := map[string]string{}
	for _, name := range list(s.T, filepath.Join(s.workspace, channel.DirName)) {
		data, err := os.ReadFile(filepath.Join(s.workspace, channel.DirName, name))
		if err != nil {
			s.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// fill leaves no room on the disk, and returns what makes room again.
func (s *session) fill() (free func()) {
	s.Helper()
	path := filepath.Join(s.workspace, "full")
	f, err := os.Create(path)
	if err != nil {
		s.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		s.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			s.Error(err)
		}
	}
}

// A disk that is full: who calls is told so, what stands in the channel stays as it is,
// byte for byte, and all goes on once there is room.
func TestFullDisk(t *testing.T) {
	s := &session{T: t, workspace: t.TempDir()}
	if err := syscall.Mount("tmpfs", s.workspace, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("mounting a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(s.workspace, syscall.MNT_DETACH) })
	k, err := channel.CreateKernel(s.workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	w := watcher.New(watcher.Options{})
	t.Cleanup(func() { w.Close() })
	if _, err := w.Add(k, map[string]watcher.Handler{
		"history": func(context.Context) (any, error) { return channel.HistoryAnswer{RunID: "r"}, nil },
	}); err != nil {
		t.Fatal(err)
	}
	report := filepath.Join(s.workspace, "report.md")
	if err := os.WriteFile(report, []byte("It is better."), 0o666); err != nil {
		t.Fatal(err)
	}
	s.call("syscall-launch --name a -- true", exitDone, "Staged")
	s.call("syscall-history --wait 60", exitDone, "")
	before := s.files()

	free := s.fill()
	const full = "no space left on device"
	s.call("syscall-launch --name b -- true", exitFailed, full)
	s.call("syscall-note later", exitFailed, full)
	s.call("syscall-submit --report report.md", exitFailed, full)
	s.call("syscall-sleep", exitFailed, full)
	s.call("syscall-history --wait 1", exitFailed, "no answer within 1s")
	s.call("syscall-status", exitDone, "a")
	if diff := cmp.Diff(before, s.files()); diff != "" {
		t.Errorf("the channel has changed:\n%s", diff)
	}

	free()
	s.call("syscall-history --wait 60", exitDone, "")
	s.call("syscall-launch --name b -- true", exitDone, "Staged")
	s.call("syscall-sleep", exitDone, "")
	raw, err := k.ReadCommitted(channel.MaxSleepBytes)
	if err != nil || !bytes.Contains(raw, []byte(`"b"`)) {
		t.Errorf("committed is %q, %v", raw, err)
	}
}

// Where a user has no file watch left, or no instance, the kernel and the session find
// each other by polling, and both say so.
func TestNoWatchLeft(t *testing.T) {
	for _, limit := range []string{"max_inotify_watches", "max_inotify_instances"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			s := &session{T: t, workspace: newWorkspace(t)}
			if err := os.WriteFile(filepath.Join(s.workspace, "answer"), []byte(`{"run_id":"r"}`), 0o666); err != nil {
				t.Fatal(err)
			}
			// The limits are those of a user namespace, in which everything runs.
			none := "echo 0 >/proc/sys/user/" + limit
			if out, err := exec.Command("unshare", "-Ur", "sh", "-c", none).CombinedOutput(); err != nil {
				t.Skipf("a user namespace with a limit of its own: %v, %s", err, out)
			}
			s.run = []string{"unshare", "-Ur", "sh", "-c", none + ` && exec "$@"`, "sh"}
			s.call("kernel watch history answer syscall-history --json --wait 60", exitDone, `"polled":true`)
			s.call("kernel watch history answer syscall-history --json --wait 60", exitDone, "file events")
		})
	}
}
