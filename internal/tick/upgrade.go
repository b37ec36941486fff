package tick

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/outerloop-go/outerloop/internal/durable"
	"github.com/outerloop-go/outerloop/internal/engine"
)

// upgrade hands over to a successor of the operator's new program, where there is
// one. The old successor is cancelled first, or both would run, one after the
// other.
func (r *resident) upgrade(ctx context.Context) (bool, error) {
	now, err := r.call.program(r.root, "")
	if err != nil {
		return false, err
	}
	next, err := r.operatorsProgram()
	if err != nil || next == now {
		// The operator may be in the middle of writing it.
		return false, nil
	}
	r.log.Info("the program was upgraded: handing over to it", "from", now.Dir(), "to", next.Dir())
	if id := r.chain.Successor.ID; id != "" {
		if err := r.client.Cancel(ctx, id); err != nil {
			return false, fmt.Errorf("cancelling the successor, job %s: %w", id, err)
		}
	}
	r.chain.Successor = engine.Submission{Token: rand.Text(), At: time.Now().UTC()}
	if err := r.saveChain(); err != nil {
		return false, err
	}
	return true, r.submit(ctx, next)
}

// source says where an operator's program lies.
type source struct {
	Executable string `json:"executable"`
	Verbs      string `json:"verbs"`
}

func (c *call) rememberProgram(root engine.Root, verbs string) error {
	self, err := c.self()
	if err != nil {
		return err
	}
	if verbs == "" {
		verbs = filepath.Dir(self)
	}
	raw, err := json.Marshal(source{self, verbs})
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(root.Path(), programFile), append(raw, '\n'))
}

func (r *resident) operatorsProgram() (engine.Program, error) {
	raw, err := os.ReadFile(filepath.Join(r.root.Path(), programFile))
	if err != nil {
		return engine.Program{}, err
	}
	var s source
	if err := json.Unmarshal(raw, &s); err != nil {
		return engine.Program{}, err
	}
	return engine.InstallProgram(r.root, s.Executable, s.Verbs)
}
