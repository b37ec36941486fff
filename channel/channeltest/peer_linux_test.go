package channeltest_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/outerloop-go/outerloop/channel/channeltest"
)

// python is the peer's command with arguments. The stranger is a program in
// another language, so that nothing of ours is on its side. It needs no site
// packages, and starts in half the time without them.
func python(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not here")
	}
	cmd := exec.Command(interpreter, append([]string{"-I", "-S", "testdata/peer.py"}, args...)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// peerKernel starts the peer's kernel, which looks as often as step says.
func peerKernel(step string, verbs ...string) func(testing.TB, string) func() {
	return func(t testing.TB, workspace string) (stop func()) {
		cmd := python(t, append([]string{"kernel", workspace, "--step", step}, verbs...)...)
		cmd.Stderr = nil // it complains of every directory in a file's place
		hold, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return func() {
			hold.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("the peer's kernel: %v", err)
			}
		}
	}
}

func peerConsume(t testing.TB, workspace string) ([]byte, error) {
	cmd := python(t, "consume", workspace)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && !bytes.HasPrefix(stderr.Bytes(), []byte("refused: ")) {
		t.Errorf("the peer fails: %s", stderr.Bytes())
	}
	if err != nil {
		return nil, errors.New(stderr.String())
	}
	return out, nil
}

// TestPeerKernel: the suite has no need of a kernel in Go, and the rules can be
// kept by whoever has nothing but docs/protocol.md.
func TestPeerKernel(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{
		Start:   peerKernel("0.002", "history"),
		Verbs:   []channeltest.Verb{{Name: "history", Live: true}},
		Finds:   true,
		Consume: peerConsume,
	})
}
