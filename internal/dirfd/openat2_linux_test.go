package dirfd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestWithoutOpenat2 runs all tests of this package again where the kernel has no
// openat2(2), where a container forbids it, and where it fails because the file is being moved
// about; and sees that it is called where it is there.
func TestWithoutOpenat2(t *testing.T) {
	if os.Getenv("DIRFD_AGAIN") != "" {
		return // this is the run that the test has made
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed")
	}
	for name, test := range map[string]struct{ inject, seen string }{
		"there":     {"", ") = "},
		"missing":   {"--inject=openat2:error=ENOSYS", "= -1 ENOSYS (Function not implemented) (INJECTED)"},
		"forbidden": {"--inject=openat2:error=EPERM", "= -1 EPERM (Operation not permitted) (INJECTED)"},
		"moved out": {"--inject=openat2:error=EXDEV:when=1+2", "= -1 EXDEV (Invalid cross-device link) (INJECTED)"},
		"unsure":    {"--inject=openat2:error=EAGAIN:when=1+2", "= -1 EAGAIN (Resource temporarily unavailable) (INJECTED)"},
	} {
		t.Run(name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "calls")
			tests := []string{"-test.short", "-test.timeout=5m"}
			if strings.Contains(test.inject, "when=") { // what goes wrong now and then does so in any call
				tests = append(tests, "-test.run=Plants|Small|SubPath|Publish$")
			}
			args := []string{"--follow-forks", "--seccomp-bpf", "--quiet=all", "--trace=openat2", "--output=" + log}
			if test.inject != "" {
				args = append(args, test.inject)
			}
			cmd := exec.Command(strace, append(append(args, os.Args[0]), tests...)...)
			cmd.Env = append(os.Environ(), "DIRFD_AGAIN=yes")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("the tests fail: %v\n%s", err, out)
			}
			calls, err := os.ReadFile(log)
			if err != nil || !strings.Contains(string(calls), test.seen) {
				t.Errorf("openat2 was not called, or not as wanted (%v)", err)
			}
			if succeeded := strings.Contains(string(calls), "RESOLVE_BENEATH|RESOLVE_NO_SYMLINKS|RESOLVE_NO_MAGICLINKS") ||
				strings.Contains(string(calls), "RESOLVE_NO_MAGICLINKS|RESOLVE_NO_SYMLINKS|RESOLVE_BENEATH"); !succeeded {
				t.Errorf("openat2 is not told the whole rule:\n%.500s", calls)
			}
		})
	}
}
