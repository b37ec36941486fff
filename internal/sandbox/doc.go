// Package sandbox runs a command with nothing but what is listed: its trees,
// its environment, its standard streams, and a walltime.
//
// A [Spec] says what there is, [Kind.Command] turns it and an argv into a
// [Command], and [Command.Run] runs that to its end. [Detect] says which kind
// this machine can do.
//
// # What holds
//
// With [Bwrap] the command sees /usr and a synthesized /etc read-only, its
// workspace and home writable at their own paths, and of every other directory
// on the way to them only the name. It has no capabilities, and no network
// unless Spec.Network says so; with it the abstract Unix sockets of the host
// are reachable too, since the kernel ties them to the network namespace. When
// Run returns, every process of the sandbox is dead, and when the caller of Run
// dies, by SIGKILL too, so does the sandbox.
//
// With [None] only the environment, the streams and the walltime hold. The
// command runs as the caller does, and a process that leaves the command's
// session outlives it.
//
// # How SIGTERM gets in
//
// A walltime is worth something only when the command learns of it in time to
// save its work, and bubblewrap stands in the way twice. With --new-session the
// command is in a process group of its own, which a signal to bwrap's group
// misses. Without it the signal reaches bwrap as well, which dies of it, and
// --die-with-parent then kills the command in the middle of its handler.
//
// So bwrap starts with SIGTERM ignored, and the command gets the default action
// back by the last exec before its own. Both are done by [Shim], a few lines in
// a program of the caller's. The process with number one inside is immune
// anyway, as every namespace's first process is. One signal to the group then
// reaches the command and its children only, whoever sends it: this package, or
// a batch scheduler that signals everything in a job's cgroup.
//
// What --new-session protects from, characters pushed into a terminal with
// TIOCSTI, cannot happen here: Run makes a session without a terminal.
package sandbox
