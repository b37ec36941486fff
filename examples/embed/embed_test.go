package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/channel/channeltest"
	"github.com/outerloop-go/outerloop/watcher"
)

// TestRun does what the README says.
func TestRun(t *testing.T) {
	bin, workspace := t.TempDir(), t.TempDir()
	if out, err := exec.Command("go", "build", "-o", bin+"/", ".", "./weather", "../../cmd/syscall-...").CombinedOutput(); err != nil {
		t.Fatalf("building the programs: %v\n%s", err, out)
	}
	cmd := exec.Command(filepath.Join(bin, "embed"), workspace, "sh", "-c",
		"PATH="+bin+":$PATH; weather && syscall-launch --name first --minutes 5 -- sh train.sh && syscall-sleep")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{`"sky":"clear"`, "\nwould run first for 5 minutes: sh train.sh\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
	if out, err := exec.Command(filepath.Join(bin, "embed"), workspace, "true").CombinedOutput(); err == nil {
		t.Errorf("a session that commits nothing is taken for one that did: %s", out)
	}
}

// TestConformance: fifty lines are enough to keep the protocol, against hostile
// sessions too.
func TestConformance(t *testing.T) {
	open := func(workspace string, do func(*channel.Kernel) error) error {
		kernel, err := channel.OpenKernel(workspace)
		if err != nil {
			return err
		}
		defer kernel.Close()
		return do(kernel)
	}
	channeltest.Run(t, channeltest.Config{
		Start: func(t testing.TB, workspace string) (stop func()) {
			kernel, err := channel.OpenKernel(workspace)
			if err != nil {
				t.Fatal(err)
			}
			w := watcher.New(watcher.Options{})
			if _, err := w.Add(kernel, verbs()); err != nil {
				t.Fatal(err)
			}
			return func() {
				w.Close()
				kernel.Close()
			}
		},
		Verbs: []channeltest.Verb{{Name: "weather", Live: true}},
		Finds: true,
		Begin: func(_ testing.TB, workspace string) error {
			kernel, err := channel.CreateKernel(workspace)
			if err != nil {
				return err
			}
			defer kernel.Close()
			return begin(kernel)
		},
		Consume: func(_ testing.TB, workspace string) (accepted []byte, err error) {
			err = open(workspace, func(kernel *channel.Kernel) error {
				request, err := committed(kernel)
				if err != nil {
					return err
				}
				accepted, err = request.Encode()
				return err
			})
			return accepted, err
		},
		Deliver: func(_ testing.TB, workspace string, result channel.Result, content []byte) error {
			return open(workspace, func(kernel *channel.Kernel) error {
				return kernel.Deliver(result, bytes.NewReader(content))
			})
		},
	})
}
