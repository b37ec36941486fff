package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// shimPath is where the shim's program stands inside. It keeps its name, since a
// program that is several goes by that.
func shimPath(program string) string { return "/run/outerloop/" + filepath.Base(program) }

// Descriptors that bwrap inherits beside the three standard ones. It closes
// them, or marks them to be closed, before the command starts.
const (
	statusFD = 3 + iota // takes what --json-status-fd says
	passwdFD            // gives the content of /etc/passwd
	groupFD             // gives the content of /etc/group
)

func bwrapCommand(spec Spec, env, argv []string) (*Command, error) {
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, fmt.Errorf("sandbox: %w; install the package bubblewrap", err)
	}
	if len(spec.Shim) == 0 {
		return nil, errors.New("sandbox: bwrap needs Spec.Shim, without which SIGTERM would not reach the command")
	}
	full := append(slices.Clone(spec.Shim), shield, bwrap)
	full = append(full, spec.bwrapArgs()...)
	full = append(full, "--", shimPath(spec.Shim[0]))
	full = append(full, spec.Shim[1:]...)
	full = append(full, release)
	return &Command{
		program: spec.Shim[0],
		argv:    append(full, argv...),
		// The environment travels as one. In --setenv arguments everybody on
		// the machine could read an agent's key from the process list.
		env:    env,
		dir:    "/",
		bwrap:  true,
		passwd: passwd(spec.Home),
		group:  group(),
	}, nil
}

// bwrapArgs lists bwrap's options. It mounts in the order of its arguments, and
// a later mount hides what an earlier one put below the same path.
func (s *Spec) bwrapArgs() []string {
	args := base(s.Network)
	if s.Temp != "" {
		args = append(args, "--bind", s.Temp, "/tmp")
	} else {
		args = append(args, "--tmpfs", "/tmp")
	}
	args = append(args, s.etc()...)
	if s.GPUs {
		args = append(args, gpuNodes()...)
	}
	args = append(args, s.trees()...)
	args = append(args, "--ro-bind", s.Shim[0], shimPath(s.Shim[0]))
	return append(args,
		// The root is a writable tmpfs otherwise: memory that no bound counts.
		"--remount-ro", "/",
		"--json-status-fd", strconv.Itoa(statusFD),
		"--chdir", s.Workspace)
}

// base is what every sandbox has: namespaces, the system, /proc and /dev.
func base(network bool) []string {
	// bwrap leaves root its capabilities unless it is told not to.
	args := []string{"--unshare-all", "--die-with-parent", "--cap-drop", "ALL"}
	if network {
		args = append(args, "--share-net")
	}
	args = append(args, systemTrees()...)
	args = append(args, "--proc", "/proc", "--dev", "/dev")
	if os.Geteuid() == 0 {
		// The kernel lets root write its settings by user id alone, without any
		// capability and from within a user namespace, and bwrap leaves
		// /proc/sys writable. One write to kernel/core_pattern would run a
		// program outside as root. For anybody else /proc stays as it is, since
		// a sandbox within this one has to write uid_map there.
		args = append(args, "--remount-ro", "/proc")
	}
	return args
}

// systemTrees mounts /usr and gives /bin, /lib and the like the form they have
// on the host: links into /usr where that has been merged, else directories.
func systemTrees() []string {
	args := []string{"--ro-bind", "/usr", "/usr"}
	for _, path := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"} {
		info, err := os.Lstat(path)
		if err != nil {
			continue
		}
		if info.IsDir() {
			args = append(args, "--ro-bind", path, path)
		} else if target, err := os.Readlink(path); err == nil {
			args = append(args, "--symlink", target, path)
		}
	}
	return args
}

// etc gives what the dynamic loader, Debian's alternatives, the clock and a
// lookup of the own user need, and with a network what names and TLS need. Keys
// below /etc/ssl stay out.
func (s *Spec) etc() []string {
	args := []string{
		"--ro-bind-data", strconv.Itoa(passwdFD), "/etc/passwd",
		"--ro-bind-data", strconv.Itoa(groupFD), "/etc/group",
	}
	files := []string{"alternatives", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime"}
	if s.Network {
		files = append(files, "resolv.conf", "hosts", "nsswitch.conf", "gai.conf", "services", "protocols",
			"ssl/certs", "ssl/openssl.cnf", "ca-certificates", "pki/ca-trust", "pki/tls/certs", "crypto-policies")
	}
	for _, file := range files {
		path := "/etc/" + file
		args = append(args, "--ro-bind-try", path, path)
	}
	return args
}

func gpuNodes() (args []string) {
	nodes, _ := filepath.Glob("/dev/nvidia*") // the pattern is well formed
	for _, node := range append(nodes, "/dev/dri") {
		args = append(args, "--dev-bind-try", node, node)
	}
	return args
}

// trees mounts the spec's own trees, outer ones before those that lie in them,
// so that each path has the access of the innermost tree that was listed for it.
func (s *Spec) trees() []string {
	option := make(map[string]string)
	for _, path := range s.Read {
		option[path] = "--ro-bind"
	}
	for _, path := range []string{s.Workspace, s.Home} {
		option[path] = "--bind"
	}
	option[s.Verbs] = "--ro-bind"
	delete(option, "") // what was not given
	paths := make([]string, 0, len(option))
	for path := range option {
		if !s.written(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths) // a directory sorts before everything below it
	var args []string
	for _, path := range paths {
		args = append(args, option[path], path, path)
	}
	return args
}

// written says whether the path lies inside a tree that the session writes.
func (s *Spec) written(path string) bool {
	for _, tree := range []string{s.Workspace, s.Home} {
		if tree != "" && path != tree && within(path, tree) {
			return true
		}
	}
	return false
}

// passwd has one line, for the user that is; without it "who am I" fails in
// Python, Node, git and ssh. Names of other users are no business of a session.
func passwd(home string) string {
	if home == "" {
		home = "/tmp"
	}
	home = strings.NewReplacer(":", "", "\n", "").Replace(home)
	return fmt.Sprintf("outerloop:x:%d:%d::%s:/bin/sh\n", os.Getuid(), os.Getgid(), home)
}

func group() string { return fmt.Sprintf("outerloop:x:%d:\n", os.Getgid()) }
