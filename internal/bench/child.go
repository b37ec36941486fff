package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/watcher"
)

// benchAnswer is as long as the answer to a short question.
var benchAnswer = fmt.Sprintf(`{"at":1,"history":[],"text":"%0200d"}`, 0)

// Child does what a process of its own does for a measurement, and reports
// whether the arguments asked for that. A program that makes a [Lab] calls it
// first.
func Child(args []string) (exit int, mine bool) {
	if len(args) != 3 || args[0] != "kernel" && args[0] != "flood" {
		return 0, false
	}
	n, err := strconv.Atoi(args[2])
	if err == nil {
		if args[0] == "kernel" {
			err = serve(args[1], n)
		} else {
			err = flood(args[1])
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", args[0]+":", err)
		return 1, true
	}
	return 0, true
}

// workspace is that of one of a kernel's channels.
func workspace(root string, i int) string { return filepath.Join(root, strconv.Itoa(i)) }

// serve is the kernel of n channels, until standard input ends.
func serve(root string, n int) error {
	w := watcher.New(watcher.Options{})
	defer w.Close()
	for i := range n {
		if err := os.MkdirAll(workspace(root, i), 0o700); err != nil {
			return err
		}
		k, err := channel.CreateKernel(workspace(root, i))
		if err != nil {
			return err
		}
		defer k.Close()
		_, err = w.Add(k, map[string]watcher.Handler{
			"a":       func(context.Context) (any, error) { return json.RawMessage(benchAnswer), nil },
			"history": watcher.History(filepath.Join(root, "launches.jsonl"), "bench"),
		})
		if err != nil {
			return err
		}
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	return nil
}

// flood rewrites a channel's markers in a tight loop, until standard input ends.
func flood(workspace string) error {
	gone := make(chan struct{})
	go func() {
		io.Copy(io.Discard, os.Stdin)
		close(gone)
	}()
	fmt.Println("ready")
	files := []string{"a-request", "history-request", "noise-1", "noise-2"}
	for at := time.Now(); ; at = at.Add(time.Microsecond) {
		select {
		case <-gone:
			return nil
		default:
		}
		for _, f := range files {
			path := filepath.Join(workspace, channel.DirName, f)
			if err := os.Chtimes(path, at, at); err != nil {
				os.WriteFile(path, nil, 0o600)
			}
		}
	}
}

// process is a child that has said that it is ready.
type process struct {
	cmd  *exec.Cmd
	stop io.Closer
}

func (l *Lab) start(ctx context.Context, role, dir string, n int) (*process, error) {
	cmd := exec.CommandContext(ctx, l.self, role, dir, strconv.Itoa(n))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &process{cmd, stdin}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		return nil, errors.Join(fmt.Errorf("a child did not get ready: %w", err), p.end())
	}
	return p, nil
}

func (p *process) end() error {
	p.stop.Close()
	return p.cmd.Wait()
}

// cpu is what the process has used so far.
func (p *process) cpu() (time.Duration, error) {
	fields, err := procStat(p.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	const tick = time.Second / 100 // USER_HZ, the same on every Linux that Go runs on
	return time.Duration(fields[0]+fields[1]) * tick, nil
}

// used is the CPU time of a process that has ended, to the microsecond.
func used(s *os.ProcessState) time.Duration {
	u := s.SysUsage().(*syscall.Rusage)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
