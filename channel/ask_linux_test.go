package channel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// wholeSeconds is a workspace on a real filesystem that keeps whole seconds:
// ext3 with inodes of 128 bytes has no room for more.
func wholeSeconds(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("mounting a filesystem image needs root")
	}
	dir := t.TempDir()
	image, mount := filepath.Join(dir, "image"), filepath.Join(dir, "mount")
	write(t, image, "")
	if err := os.Truncate(image, 8<<20); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(mount, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, argv := range [][]string{
		{"mkfs.ext3", "-q", "-F", "-I", "128", image},
		{"mount", "-o", "loop", image, mount},
	} {
		out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
		if err != nil {
			t.Skipf("%v: %v\n%s", argv, err, out)
		}
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return mount
}

func TestTenAskersOnWholeSeconds(t *testing.T) {
	workspace := wholeSeconds(t)
	k, err := channel.CreateKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	// Subtests end, and close their sessions, before the filesystem goes.
	t.Cleanup(func() { k.Close() })
	t.Run("ask", func(t *testing.T) { tenAskers(t, k, workspace, 5) })
	stamp, _, err := k.Pending("queue")
	if err != nil {
		t.Fatal(err)
	}
	if float64(stamp) != float64(int64(stamp)) {
		t.Errorf("stamp %v has a fraction: this filesystem is not the one wanted", stamp)
	}
}
