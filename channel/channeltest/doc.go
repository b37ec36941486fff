// Package channeltest checks that a kernel keeps the channel protocol, also
// when the session is hostile. It is for whoever writes a kernel of their own,
// in whatever language:
//
//	func TestConformance(t *testing.T) {
//		channeltest.Run(t, channeltest.Config{
//			Start: func(t testing.TB, workspace string) (stop func()) {
//				k := startMyKernel(t, workspace)
//				return k.Stop
//			},
//			Verbs: []channeltest.Verb{{Name: "history", Live: true}, {Name: "queue"}},
//		})
//	}
//
// The suite plays the session: it knows the kernel by the files that it writes
// and by nothing else, so a kernel may be a goroutine of the test or a program
// that Start runs. Each check is a subtest that is named after the rule in
// docs/protocol.md which it checks, such as "K3 the stamp is acknowledged
// exactly".
//
// What a kernel does not do it does not declare, and the rules about it are
// left out. On systems other than Linux the rules about plants and races (H, and
// parts of R, D and B) are left out too.
//
// No check relies on how fast a kernel is. [Config].Wait is an upper bound, and
// where the suite has to see that nothing happens, it waits in proportion to
// how long this kernel has taken to answer so far.
package channeltest
