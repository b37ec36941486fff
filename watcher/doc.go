// Package watcher answers the questions of live sessions.
//
// A session asks by touching a marker in its channel and waits for an answer
// there. A [Watcher] notices, calls the [Handler] that was registered for the
// verb, and puts the answer in place. One Watcher serves any number of
// channels; a channel with nothing to answer costs a file watch and a few
// hundred bytes, and no goroutine.
//
//	w := watcher.New(watcher.Options{Log: log})
//	defer w.Close()
//	kernel, err := channel.OpenKernel(workspace)
//	...
//	watch, err := w.Add(kernel, map[string]watcher.Handler{
//		"queue":   queue.Handler(run, agent),
//		"history": watcher.History(ledgerPath, run),
//	})
//	...
//	watch.Close() // before kernel.Close
//
// # How it notices
//
// By file events where those can be relied on: the filesystem is one of this
// machine and a file that the watcher puts in the channel is announced. Such a
// channel is never looked at without cause. Everywhere else it is polled, and
// where events come at all they are used as well. The file is .watch; it stays,
// since removing it is the only sign that a directory gives which is about to
// be removed while somebody holds it open.
//
// # What a session can do to it
//
// A session can spoil its own channel: remove it, plant things in it, write in it
// without pause. It then gets its answers late or not at all. A channel that
// floods loses its watch for a while, because all channels share one queue of
// events. Other channels notice nothing.
package watcher
