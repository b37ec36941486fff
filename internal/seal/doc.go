// Package seal freezes a workspace into a git repository that the kernel owns,
// and brings a frozen state back byte for byte.
//
// The session may put anything into its workspace: links to other people's
// files, FIFOs, a repository with hooks and filters, attributes that change
// content on its way out, rules and names made to confuse a parser. What the
// kernel promises:
//
//   - Git never sees the workspace. It is walked by descriptor (internal/dirfd),
//     and git gets bytes over a pipe and rules in a shadow directory.
//   - Nothing of the session's can run: every git process works on the kernel's
//     repository, with an environment built from a list and no configuration but
//     the one in this package.
//   - A commit that [Store.Seal] returned is on disk, and [Store.Materialize]
//     gives the very bytes that were read, whatever .gitattributes says.
//   - A process killed at any instruction leaves a store that works.
//
// What it does not promise: a snapshot of one instant. A session that is still
// writing gets a mixture of states, each file of which it did write.
package seal
