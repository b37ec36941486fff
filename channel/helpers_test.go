package channel_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// A generous bound on whatever must not block. No test expects to come near.
const patience = 60e9

// open makes a workspace with a channel and opens both of its halves.
func open(t testing.TB) (k *channel.Kernel, s *channel.Session, dir string) {
	t.Helper()
	workspace := t.TempDir()
	k, err := channel.CreateKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k, session(t, workspace), filepath.Join(workspace, channel.DirName)
}

func session(t testing.TB, workspace string) *channel.Session {
	t.Helper()
	s, err := channel.FindSession(workspace, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// refused is the refusal in err, which has to be one with a cause and a cure.
func refused(t testing.TB, err error) *channel.RefusedError {
	t.Helper()
	var r *channel.RefusedError
	if !errors.As(err, &r) {
		t.Fatalf("got %v, want a refusal", err)
	}
	if r.Cause == "" || r.Cure == "" {
		t.Errorf("%#v lacks a cause or a cure", r)
	}
	return r
}

// refusedField is the field that a refusal names, "" where err is none.
func refusedField(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	return refused(t, err).Field
}
