// Package ledger is a run's record of its launches: launches.jsonl in the run's
// directory, where the session cannot reach it.
//
// The file is appended to and never rewritten. A launch is identified by the
// sleep that submitted it and its name, since a name is unique within one sleep
// only. It has one "submitted" record, and one "ended" record for each of its
// jobs that came back.
//
// # What is promised
//
// Any number of processes may append at once, on any machine that shares the
// file's locks. An append that returned without an error is on disk. Appending
// a record whose identity is already there does nothing, so a kernel that died
// in the middle of a step simply takes the step again. A record that was cut
// short, by a crash or a full disk, loses itself and no other.
//
// # What is not
//
// Events and keys that this package does not know are passed over: a newer
// kernel may have written them. Lines that make no sense are counted, never
// repaired.
package ledger
