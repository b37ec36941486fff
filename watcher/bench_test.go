package watcher

import (
	"context"
	"testing"

	"github.com/outerloop-go/outerloop/channel"
)

// BenchmarkAsk is one question and its answer, both halves in one process.
// Every few thousand it moves on to a fresh channel, as no session asks so many
// in one go without being slowed down.
func BenchmarkAsk(b *testing.B) {
	w := newWatcher(b, Options{})
	var s *channel.Session
	n := 0
	for b.Loop() {
		if n%(answersAtOnce/2) == 0 {
			b.StopTimer()
			p := newPeer(b)
			trust(b, mustAdd(b, w, p, map[string]Handler{"a": text("a")}))
			var err error
			if s, err = channel.FindSession(p.workspace, ""); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		n++
		if _, err := s.Ask(context.Background(), "a", patience); err != nil {
			b.Fatal(err)
		}
	}
}
