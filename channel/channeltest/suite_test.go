package channeltest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/outerloop-go/outerloop/channel"
	"github.com/outerloop-go/outerloop/channel/channeltest"
)

// poller is a whole kernel in a loop: it looks at its channel again and again
// and answers with the time.
func poller(t testing.TB, workspace string) (stop func()) {
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		t.Fatal(err)
	}
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer k.Close()
		for {
			select {
			case <-quit:
				return
			case <-time.After(time.Millisecond):
			}
			k.Refresh()
			for _, verb := range []string{"clock", "history"} {
				if stamp, pending, err := k.Pending(verb); pending && err == nil {
					k.Answer(verb, stamp, clock())
				}
			}
		}
	}()
	return func() { close(quit); <-ended }
}

func clock() []byte {
	raw, _ := json.Marshal(channel.HistoryAnswer{At: channel.Seconds(time.Now()), History: []channel.HistoryEntry{}})
	return raw
}

func begin(t testing.TB, workspace string) error {
	k, err := channel.CreateKernel(workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.WriteBudget(channel.Budget{Launches: 3, Sleeps: 2})
}

func consume(t testing.TB, workspace string) ([]byte, error) {
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	raw, err := k.ReadCommitted(channel.MaxVerdictBytes)
	if dropped := k.DropCommitted(); dropped != nil {
		t.Error(dropped)
	}
	if err != nil {
		return nil, err
	}
	r, err := channel.ParseRequest(raw)
	if err != nil {
		var refused *channel.RefusedError
		if !errors.As(err, &refused) || refused.Cure == "" || strings.ContainsAny(refused.Cause, "\n\x00") {
			t.Errorf("a refusal without a cause and a cure to print: %#v", err)
		}
		return nil, err
	}
	return r.Encode()
}

func deliver(t testing.TB, workspace string, r channel.Result, content []byte) error {
	k, err := channel.OpenKernel(workspace)
	if err != nil {
		return err
	}
	defer k.Close()
	return k.Deliver(r, bytes.NewReader(content))
}

// TestPoller: the kernel half of package channel, under the plainest kernel
// that can be made of it, keeps every rule.
func TestPoller(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, channeltest.Config{
		Start:   poller,
		Verbs:   []channeltest.Verb{{Name: "history", Live: true}, {Name: "clock", Live: true}},
		Finds:   true,
		Begin:   begin,
		Consume: consume,
		Deliver: deliver,
	})
}
