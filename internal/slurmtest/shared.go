package slurmtest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// patience bounds the start of a cluster on a machine that is busy with other
// tests.
const patience = 3 * time.Minute

// New starts a cluster for one test and closes it in the end. Where none can be
// started the test is skipped, with the reason.
func New(t testing.TB, opt Options) *Cluster {
	t.Helper()
	var s Shared
	s.Options = opt
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.Get(t)
}

// Shared is a cluster that the tests of a binary share. It is started when the
// first of them asks for it.
type Shared struct {
	Options Options

	once    sync.Once
	cluster *Cluster
	err     error
}

// Get returns the cluster. Where none can be started the test is skipped, with the
// reason.
func (s *Shared) Get(t testing.TB) *Cluster {
	t.Helper()
	s.once.Do(func() {
		// The cluster outlives the test that happens to be first.
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		s.cluster, s.err = Start(ctx, s.Options)
	})
	if errors.Is(s.err, ErrUnavailable) {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.cluster
}

// Close closes the cluster if it was ever started. No Get may follow.
func (s *Shared) Close() error {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.Close()
}

// Main is for TestMain: it runs the tests, closes the clusters that they shared,
// and returns the exit status. In the keeper's process it does not return.
func Main(m *testing.M, clusters ...*Shared) int {
	Reenter()
	code := m.Run()
	for _, s := range clusters {
		if err := s.Close(); err != nil {
			println(err.Error())
			code = max(code, 1)
		}
	}
	return code
}
