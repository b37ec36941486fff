package sandbox

import (
	"encoding/json"
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// reportTime bounds the wait for the end of bwrap's report after bwrap itself
// has ended. It takes longer only when a process hangs in the kernel.
const reportTime = 5 * time.Second

// process is one run of a command: its files, its group and its end.
type process struct {
	child  *os.Process
	files  []*os.File // what the child gets, by descriptor
	handed []*os.File // those of them that are ours to close once it has them
	kept   []*os.File // their other ends
	output []*capture
	status *os.File // our end of bwrap's report, or nil
	report report

	mu     sync.Mutex
	reaped bool // the group's number may belong to somebody else
}

// report is what bwrap says of itself on --json-status-fd: JSON objects, one
// after the other.
type report struct {
	first    int  // the sandbox's first process, in our numbers
	finished bool // the command was run, and ended
}

func (c *Command) prepare(std Stdio, limits Limits) (p *process, err error) {
	p = &process{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if err := p.openStdio(std, limits.Output); err != nil {
		return nil, err
	}
	if !c.bwrap {
		return p, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.status = r
	p.kept = append(p.kept, r)
	p.hand(w)
	for _, content := range []string{c.passwd, c.group} {
		if err := p.give(content); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// hand gives the child a file of ours as its next descriptor.
func (p *process) hand(f *os.File) {
	p.files = append(p.files, f)
	p.handed = append(p.handed, f)
}

// give adds a descriptor from which the child reads the content. A pipe holds
// at least 4,096 bytes, PIPE_BUF, without anybody reading.
func (p *process) give(content string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	p.hand(r)
	_, err = io.WriteString(w, content)
	return err
}

func (p *process) start(c *Command) (err error) {
	closeInherited()
	p.child, err = os.StartProcess(c.program, c.argv, &os.ProcAttr{
		Dir: c.dir, Env: c.env, Files: p.files, Sys: sysProcAttr(c.bwrap),
	})
	if err != nil {
		return err
	}
	// While we hold the child's ends too, the end of its output is never seen.
	for _, f := range p.handed {
		f.Close()
	}
	for _, out := range p.output {
		out.begin()
	}
	return nil
}

// closeInherited keeps from the command what this process itself was given by
// whoever started it, a directory outside of the sandbox perhaps: the package os
// opens everything to be closed on exec(2), but a cron or a batch system may
// not have. What the command is to get is duplicated past this.
func closeInherited() {
	entries, err := os.ReadDir(openFiles)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}

// wait returns when no process of the group, and none of the sandbox, is left.
func (p *process) wait() ending {
	// First the leader becomes a zombie, which keeps the group's number from
	// being given away, then what is left in the group is killed, and only then
	// is the leader reaped.
	if waitNoReap(p.child.Pid) == nil {
		p.signal(syscall.SIGKILL)
		p.forget()
	}
	end := waitStatus(p.child.Wait())
	p.signal(syscall.SIGKILL) // where there was no waiting without reaping
	p.forget()
	if p.status != nil {
		p.status.SetReadDeadline(time.Now().Add(reportTime))
		p.report = readReport(p.status)
		if p.report.first > 0 {
			awaitExit(p.report.first)
		}
	}
	return end
}

func (p *process) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reaped = true
}

// signal sends to the whole group while there is one.
func (p *process) signal(sig syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		syscall.Kill(-p.child.Pid, sig)
	}
}

// readReport reads until the last holder of the pipe's other end is gone. That
// is bwrap, which has ended: the command does not inherit it.
func readReport(r io.Reader) (rep report) {
	decoder := json.NewDecoder(io.LimitReader(r, 64<<10))
	for {
		var line struct {
			ChildPID int  `json:"child-pid"`
			ExitCode *int `json:"exit-code"`
		}
		if decoder.Decode(&line) != nil {
			return rep
		}
		if line.ChildPID > 0 {
			rep.first = line.ChildPID
		}
		if line.ExitCode != nil {
			rep.finished = true
		}
	}
}

// close closes what is ours. Most has been closed by then, which is no error
// that anybody needs.
func (p *process) close() {
	for _, f := range p.handed {
		f.Close()
	}
	for _, f := range p.kept {
		f.Close()
	}
}
