package slurmtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"
)

// prSetChildSubreaper is PR_SET_CHILD_SUBREAPER of <linux/prctl.h>, which
// package syscall does not name.
const prSetChildSubreaper = 36

// warden is the keeper as it sees itself. One goroutine starts, signals and reaps,
// so that no signal can go to a pid that was reaped and given to somebody else.
type warden struct {
	pids   map[Daemon]int
	ended  map[Daemon]string // how
	deaths chan os.Signal
}

// keep carries out orders until there are none to come, then ends everything
// below this process and removes dir. It returns the exit status.
func keep(dir string, orders io.Reader, replies io.Writer) int {
	// The death of the thread that starts a daemon counts as the parent's.
	runtime.LockOSThread()
	w := &warden{pids: map[Daemon]int{}, ended: map[Daemon]string{}, deaths: make(chan os.Signal, 1)}
	signal.Notify(w.deaths, syscall.SIGCHLD)
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, prSetChildSubreaper, 1, 0); errno != 0 {
		fmt.Fprintf(os.Stderr, "%s: cannot adopt orphans: %v\n", keeperName, errno)
		return 1
	}
	err := w.serve(orders, replies)
	w.killAll()
	if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", keeperName, err)
		return 1
	}
	return 0
}

func (w *warden) serve(orders io.Reader, replies io.Writer) error {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		r := bufio.NewReader(orders)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			lines <- line
		}
	}()
	for {
		select {
		case <-w.deaths:
			w.reap()
		case line, ok := <-lines:
			if !ok {
				return nil
			}
			var o order
			if err := json.Unmarshal(line, &o); err != nil {
				return err
			}
			var r reply
			if err := w.obey(o); err != nil {
				r.Error = err.Error()
			}
			if err := json.NewEncoder(replies).Encode(r); err != nil {
				return err
			}
		}
	}
}

func (w *warden) obey(o order) error {
	w.reap()
	pid, running := w.pids[o.Daemon]
	switch {
	case o.Do == "start" && running:
		return fmt.Errorf("%s is running already", o.Daemon)
	case o.Do == "start":
		return w.start(o)
	case !running:
		return fmt.Errorf("%s is not running: %s", o.Daemon, w.ended[o.Daemon])
	case o.Do == "signal":
		return syscall.Kill(pid, o.Signal)
	case o.Do == "stop":
		return w.stop(o.Daemon, pid, o.Signal)
	default: // alive
		return nil
	}
}

func (w *warden) start(o order) error {
	log, err := os.OpenFile(o.Log, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(o.Argv[0], o.Argv, &syscall.ProcAttr{
		Dir:   "/",
		Env:   o.Env,
		Files: []uintptr{null.Fd(), log.Fd(), log.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return err
	}
	w.pids[o.Daemon] = pid
	return nil
}

// stop signals a daemon and waits for its end, which a frozen one or one that
// finishes something long may need force for.
func (w *warden) stop(d Daemon, pid int, sig syscall.Signal) error {
	const patience = 10 * time.Second
	if err := syscall.Kill(pid, sig); err != nil {
		return err
	}
	late := time.After(patience)
	for w.pids[d] == pid {
		select {
		case <-w.deaths:
			w.reap()
		case <-late:
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				return err
			}
		}
	}
	return nil
}

// reap takes note of all children that have ended, adopted ones among them, and
// says whether there are any left.
func (w *warden) reap() bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil || pid == 0 {
			return err == nil
		}
		for d, p := range w.pids {
			if p == pid {
				delete(w.pids, d)
				w.ended[d] = fmt.Sprintf("it ended with status %d, signal %d", status.ExitStatus(), status.Signal())
			}
		}
	}
}

// killAll kills children until there are none: whatever a child leaves behind
// becomes one.
func (w *warden) killAll() {
	const step = 5 * time.Millisecond
	for w.reap() {
		for _, pid := range children() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		select {
		case <-w.deaths:
		case <-time.After(step):
		}
	}
}

// children lists this process's children from the /proc/<pid>/stat of all
// processes; see proc(5). Nobody else reaps them, so that their pids stay theirs.
func children() []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	me := strconv.Itoa(os.Getpid())
	var pids []int
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		// The name before the last bracket may hold anything. State and parent follow.
		fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(fields) > 1 && string(fields[1]) == me {
			pids = append(pids, pid)
		}
	}
	return pids
}
