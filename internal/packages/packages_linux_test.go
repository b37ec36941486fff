package packages

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build makes this machine's packages in a directory.
func build(t *testing.T) string {
	t.Helper()
	dist := t.TempDir()
	arch, err := exec.Command("go", "env", "GOARCH").Output()
	if err != nil {
		t.Fatal(err)
	}
	// The Makefile's own words, so that what is tested is what is shipped; it writes to dist/
	// of the tree that it stands in, which other tests must not see change.
	cmd := exec.Command("make", "-s", "packages", "DIST="+dist, "ARCHS="+strings.TrimSpace(string(arch)))
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return dist
}

// TestPackages installs the packages in a copy of this machine that ends with the test,
// and there lets an operator use them. The script has the steps.
func TestPackages(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can install a package")
	}
	for _, program := range []string{"dpkg", "rpm", "unshare"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed", program)
		}
	}
	dist := build(t)
	for _, kind := range []string{"deb", "rpm"} {
		t.Run(kind, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(dist, "*."+kind))
			if err != nil || len(files) != 2 {
				t.Fatalf("the packages are %q, want two (%v)", files, err)
			}
			cmd := exec.Command("unshare", append([]string{"--mount", "sh", "testdata/" + kind + ".sh", t.TempDir()}, files...)...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", cmd, err, out)
			}
		})
	}
}

// The same commit gives the same packages.
func TestReproducible(t *testing.T) {
	first, second := build(t), build(t)
	files, err := filepath.Glob(filepath.Join(first, "*.deb"))
	if err != nil || len(files) != 2 {
		t.Fatalf("the packages are %q, want two (%v)", files, err)
	}
	for _, file := range files {
		a, errA := os.ReadFile(file)
		b, errB := os.ReadFile(filepath.Join(second, filepath.Base(file)))
		if errA != nil || errB != nil || string(a) != string(b) {
			t.Errorf("%s differs between two builds (%v, %v)", filepath.Base(file), errA, errB)
		}
	}
}
