package tick

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/internal/engine"
	"github.com/outerloop-go/outerloop/internal/sandbox"
)

func TestAuthorTrouble(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, tools := filepath.Join(dir, "ws"), filepath.Join(dir, "tools")
	for _, path := range []string{ws, tools} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(path, "agent"), nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	agent, link := filepath.Join(tools, "agent"), filepath.Join(dir, "link")
	if err := os.Symlink(agent, link); err != nil {
		t.Fatal(err)
	}
	shell := filepath.Join(dir, "shell")
	if err := os.Symlink("/bin/sh", shell); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		kind    sandbox.Kind
		program string
		ws      string
		read    []string
		want    string // of the warning, "" for none
	}{
		{"on the PATH", sandbox.Bwrap, "sh", "", nil, ""},
		{"by its path", sandbox.Bwrap, "/bin/sh", "", nil, ""},
		{"not on the PATH", sandbox.Bwrap, "no-agent", "", nil, "give its full path, and --read its directory if it is not under /usr"},
		{"without a sandbox", sandbox.None, "no-agent", "", nil, "/bin): give its full path"},
		{"hidden", sandbox.Bwrap, agent, "", nil, "is not in the author's sandbox: give its path as " + agent + ", and --read " + tools},
		{"nothing is hidden", sandbox.None, agent, "", nil, ""},
		{"shown", sandbox.Bwrap, agent, "", []string{tools}, ""},
		{"a link to what is shown", sandbox.Bwrap, link, "", []string{tools}, "give its path as " + agent},
		{"a link to the system", sandbox.Bwrap, shell, "", nil, "give its path as /"},
		{"in the workspace", sandbox.Bwrap, "./agent", ws, nil, ""},
		{"in the workspace by its path", sandbox.Bwrap, filepath.Join(ws, "agent"), ws, nil, ""},
		{"missing in the workspace", sandbox.Bwrap, "./agnet", ws, nil, "no such file"},
		{"in a new workspace", sandbox.Bwrap, "./agent", "", nil, "new and empty"},
	}
	for _, tt := range tests {
		n := engine.NewRun{Settings: engine.Settings{Sandbox: tt.kind, Command: []string{tt.program}, Workspace: tt.ws, Read: tt.read}}
		got := authorTrouble(n)
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
