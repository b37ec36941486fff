// Package dirfd is the one place that opens what a session can write.
//
// A [Dir] is a directory held by its descriptor. Everything is done relative to
// it, one path component at a time, so that a session that swaps directories
// and links while the kernel works can only change which of its own files are
// meant, never lead an access out of the tree. Every open refuses to follow a
// link, does not block on a FIFO or a device, and is followed by an fstat that
// must say "regular file" before one byte is read.
//
// Names that a session may have chosen are called untrusted in signatures. The
// path that was given to [Open] is kept for messages only.
//
// This is also the only package that imports golang.org/x/sys/unix.
package dirfd
