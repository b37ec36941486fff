package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// bare is a way of running a program where there is nothing but the verbs in bin, and the
// workspace as /work or under its own path.
type bare struct {
	name    string
	command func(bin, workspace string, args ...string) *exec.Cmd
}

func ways(t *testing.T) []bare {
	t.Helper()
	bwrap := bare{"bwrap", func(bin, workspace string, args ...string) *exec.Cmd {
		return exec.Command("sh", append([]string{"bwrap.sh", bin, workspace}, args...)...)
	}}
	// What a container does: another root, read-only, with the workspace mounted into it. It
	// takes a mount namespace that ends with the command.
	chroot := bare{"chroot", func(bin, workspace string, args ...string) *exec.Cmd {
		root := t.TempDir()
		script := `set -eu
root=$1 bin=$2 workspace=$3; shift 3
mount -t tmpfs none "$root"
mkdir "$root/bin" "$root/work"
cp "$bin"/syscall-* "$root/bin"
mount --bind "$workspace" "$root/work"
mount -o remount,ro "$root"
exec chroot "$root" "$@"`
		return exec.Command("unshare", append([]string{"--mount", "sh", "-c", script, "sh", root, bin, workspace}, args...)...)
	}}
	all := []bare{bwrap}
	if os.Getuid() == 0 {
		all = append(all, chroot)
	}
	return all
}

// Every verb says what it is and does what it can do without a kernel, in a root that has
// no /proc, no /etc and nothing writable but the workspace.
func TestNothingElse(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-trimpath", "-o", bin+"/", "../../cmd/syscall-...")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the verbs: %v\n%s", err, out)
	}
	if out, err := exec.Command("bwrap", "--ro-bind", "/", "/", "--unshare-all", "true").CombinedOutput(); err != nil {
		t.Skipf("bwrap does not work here: %v\n%s", err, out)
	}
	verbs, err := filepath.Glob(filepath.Join(bin, "syscall-*"))
	if err != nil || len(verbs) == 0 {
		t.Fatalf("the verbs are %q (%v)", verbs, err)
	}
	for _, way := range ways(t) {
		t.Run(way.name, func(t *testing.T) {
			workspace := t.TempDir()
			if err := os.Mkdir(filepath.Join(workspace, channel.DirName), 0o777); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) string {
				t.Helper()
				cmd := way.command(bin, workspace, append([]string{"/bin/" + args[0]}, args[1:]...)...)
				cmd.Env = append(os.Environ(), "OUTERLOOP_WORKSPACE=/work")
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Errorf("%q: %v\n%s", args, err, out)
				}
				return string(out)
			}
			for _, verb := range verbs {
				name := filepath.Base(verb)
				if out := run(name, "--version"); !strings.HasPrefix(out, name) {
					t.Errorf("%s --version prints %q", name, out)
				}
			}
			run("syscall-launch", "--name", "first", "--minutes", "5", "--", "sh", "train.sh")
			if out := run("syscall-status"); !strings.Contains(out, "first") {
				t.Errorf("syscall-status does not show the launch:\n%s", out)
			}
			run("syscall-sleep")
			if _, err := os.Stat(filepath.Join(workspace, channel.DirName, "syscall.json")); err != nil {
				t.Errorf("nothing was committed: %v", err)
			}
		})
	}
}
