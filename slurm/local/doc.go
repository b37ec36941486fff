// Package local is a [slurm.Backend] on one machine that has no scheduler.
//
// # No daemon
//
// Everything the backend knows lies in one directory, and whoever has something
// to do there takes the lock of that directory, does it, and ends the visit with
// a scheduling pass: it settles what ended, and starts what may start. Programs
// that ask something are such visitors. So is the shepherd, the small process
// that each task has of its own: it starts the command, holds it to its walltime,
// writes down how it ended, and pays a last visit. A job that waits for a slot or
// for another job therefore starts the moment that one ends, though no program of
// the operator's may be alive then. Only a job that waits for its begin time
// needs a visitor to notice that the time has come.
//
// # What is promised
//
//   - A job whose id was returned survives the end of any process and of the
//     machine. Submitting it again with its token returns the same id.
//   - A task is started at most once. Its one start is an exclusively created
//     file that the shepherd owns before it starts the command.
//   - A task ends with its processes. Whatever the command left behind is killed
//     before the task counts as ended and its slot is given away, and a command
//     does not outlive a shepherd that was killed.
//   - A kernel may itself run as a task, and submit. Its jobs outlive the task.
//   - A process is told by its pid, its start time and the boot it belongs to.
//     On Linux no signal is sent on the strength of a pid alone.
//
// # What is not
//
// The slots are a promise among the jobs of one directory; CPUs and memory are
// not enforced, and GPUs are handed out by environment only. The directory belongs
// to one user, one machine and one pid namespace: to a visitor in another
// container, shepherds that live would look dead. After a shepherd was killed, a
// process that had left its session is not found. Systems other than Linux have
// neither the means to end a command with its shepherd nor to find what it left;
// there the command of a killed shepherd runs on.
//
// A service manager that ends everything in a control group ends the shepherds as
// well. Under systemd a resident kernel needs KillMode=process to leave its jobs
// alone.
package local
