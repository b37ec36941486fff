// Package crash holds no code, only the test that kills each of the kernel's
// processes at every file operation by which it changes the state root, one a
// life, and says what has to be true when another process has gone on.
//
// A supervisor counts the operations: the test binary itself under another name,
// which traces a whole life with ptrace(2). It lets through, with a filter of
// seccomp(2), all system calls but those that may be one.
package crash
