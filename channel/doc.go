// Package channel is the file protocol between a session and its kernel.
//
// A session is an agent's process in a sandbox. It can reach nothing but its
// workspace, so it asks by files in one directory there, the channel,
// <workspace>/.outerloop/. The kernel is a trusted process outside that answers
// by files in the same directory and carries out what the session has committed
// when it ends.
//
// The two halves are two types. [Session] is what the syscall-* programs use:
// it stages launches, commits a request, and asks questions. [Kernel] is what a
// kernel holds: it sees which questions are pending, answers them, reads the
// committed request and delivers what the session is to get. Nothing that is
// reached through a Kernel trusts a byte of what it reads.
//
// # What the session may do
//
// Anything at all, at any moment: replace files, directories, links, FIFOs and
// devices, also while the kernel works on them. The kernel holds the directory
// by its descriptor and does everything relative to it, follows no link, waits
// for no FIFO, and reads no more than each bound in this package says.
//
// # What the kernel promises
//
// An answer is in place, whole, before the marker says so. A marker carries
// exactly the stamp that the kernel had read before it began to answer. A
// committed request is read once. Nothing outside the workspace is read or
// changed for a session's sake.
//
// # What is not promised
//
// A session that damages its own channel gets no answers. Answers are not
// secret from other processes that can read the workspace. Nothing in the
// channel survives a power cut for certain; what has to is kept elsewhere.
//
// One set of validators serves both halves ([CheckLaunch] and its siblings), so
// a verb never accepts what the kernel would refuse.
package channel
