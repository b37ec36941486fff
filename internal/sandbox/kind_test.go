package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/sandbox"
)

// TestDetect: what does not work is said in a way that an operator can act on.
func TestDetect(t *testing.T) {
	fake := func(script string) string {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "bwrap"), "#!/bin/sh\n"+script+"\n")
		return dir
	}
	for path, want := range map[string]string{
		t.TempDir(): "install the package bubblewrap",
		fake("echo 'bwrap: No permissions to create a new namespace' >&2; exit 1"): "No permissions to create a new namespace",
		fake("exit 1"): "exit status 1",
	} {
		t.Setenv("PATH", path)
		kind, err := sandbox.Detect(t.Context())
		if kind != sandbox.None || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %q, %v; want none and an error with %q", kind, err, want)
		}
	}
	t.Setenv("PATH", fake("exit 0"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if kind, err := sandbox.Detect(ctx); kind != sandbox.None || err == nil {
		t.Errorf("canceled: got %q, %v", kind, err)
	}
}

func TestShimRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"release"}, {"other", "true"}} {
		var stderr strings.Builder
		if code := sandbox.Shim(args, &stderr); code != 2 || !strings.HasPrefix(stderr.String(), "sandbox: shim: ") {
			t.Errorf("%q: %d, %q", args, code, stderr.String())
		}
	}
}

// BenchmarkRun is what a sandbox costs a command that does nothing.
func BenchmarkRun(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for _, kind := range []sandbox.Kind{sandbox.None, sandbox.Bwrap} {
		b.Run(string(kind), func(b *testing.B) {
			spec := sandbox.Spec{
				Workspace: b.TempDir(), Env: sandbox.Environment("", "/"), Shim: []string{self, "shim"},
			}
			cmd, err := kind.Command(spec, []string{"/bin/true"})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if res, err := cmd.Run(b.Context(), sandbox.Stdio{}, sandbox.Limits{}); err != nil || res.Code != 0 {
					b.Fatal(res, err)
				}
			}
		})
	}
}
