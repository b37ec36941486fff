// Package runner runs one job of a launch: it is the body of the process that
// the scheduler starts.
//
// A launch has a directory, eval-launch-<name>, with the job's description in
// it, which the engine writes before it submits. A job that is a task of a sweep
// works in eval-launch-<name>.<i> beside it, any other in the launch's own. In
// the order in which they come to be, the runner writes there:
//
//	claim          id of the scheduler's job that has this directory
//	command.txt    the command
//	stdout, stderr what the command printed, both ends of it if it was very much
//	artifacts/     the declared files that were there and could be taken
//	artifacts.log  what became of each declared file, see [Artifact]
//	exit-code      a number and a newline, written last, on disk or absent
//
// # Once
//
// A scheduler may start a job twice: a submission whose answer was lost was
// repeated, or a node failed and the job was requeued. The claim tells the two
// apart. A twin with another id finds the claim taken and ends without having
// done anything; a requeued job finds its own id and begins again from nothing.
// Once there is an exit-code the command is never run again.
//
// # Time
//
// The walltime is the scheduler's to enforce, on the runner as on any job. Its
// SIGTERM ends the context of [Runner.Run], which hands it on to the command,
// gives that [Grace], and brings out what artifacts there are. Then there is no
// exit-code: the command did not come to its own end, and the scheduler's
// terminal state (TIMEOUT, CANCELLED, ...) says why. The same holds for a runner
// that is killed.
package runner
