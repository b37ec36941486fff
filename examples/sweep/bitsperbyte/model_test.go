package main

import (
	"fmt"
	"math"
	"testing"
)

const pangram = "the quick brown fox jumps over the lazy dog; the dog sleeps over there"

// TestDistributionSumsToOne reads the probabilities off the public method, as a
// coder would: what one more byte costs.
func TestDistributionSumsToOne(t *testing.T) {
	for _, p := range []Params{
		{Order: 0, Strength: 1},
		{Order: 1, Discount: 0.9},
		{Order: 3, Discount: 0.5, Strength: 1},
		{Order: 5, Discount: 0.5},
		{Order: maxOrder, Discount: 0.25, Strength: 64},
		{Order: maxOrder, Strength: 0.01},
	} {
		m := NewModel(p)
		m.Train([]byte(pangram))
		m.Train([]byte("there"))
		for _, before := range []string{"", "t", "the ", "over the", "never seen", "there", "\x00\xff", pangram} {
			t.Run(fmt.Sprintf("%+v/%q", p, before), func(t *testing.T) {
				base := m.Bits([]byte(before))
				var sum float64
				for b := range 256 {
					sum += math.Exp2(base - m.Bits(append([]byte(before), byte(b))))
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("probabilities of all bytes sum to %.12f", sum)
				}
			})
		}
	}
}

// TestProbabilities compares with values worked out by hand from the formula in
// Model's documentation.
func TestProbabilities(t *testing.T) {
	const u = 1.0 / 256
	for _, tc := range []struct {
		name   string
		params Params
		train  string
		text   string
		want   float64 // probability of the whole text
	}{
		{"nothing learned", Params{Order: 3, Discount: 0.5}, "", "ab", u * u},
		{"seen", Params{Order: 0, Strength: 2}, "aab", "a", (2 + 2*u) / 5},
		{"unseen", Params{Order: 0, Strength: 2}, "aab", "c", 2 * u / 5},
		{"discounted", Params{Order: 0, Discount: 0.5}, "aab", "a", (1.5 + 0.5*2*u) / 3},
		{
			"one byte of context",
			Params{Order: 1, Discount: 0.5},
			"abab", "ab",
			// Of four bytes two are a; both bytes after an a are b.
			(1.5 + 0.5*2*u) / 4 * (1.5 + 0.5*(1.5+0.5*2*u)/4) / 2,
		},
		{
			"nothing follows a text's end",
			Params{Order: 2, Strength: 1},
			"ab", "bb",
			(1 + u) / 3 * (1 + u) / 3,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewModel(tc.params)
			m.Train([]byte(tc.train))
			if got, want := m.Bits([]byte(tc.text)), -math.Log2(tc.want); math.Abs(got-want) > 1e-9 {
				t.Errorf("Bits(%q) = %.9f, want %.9f", tc.text, got, want)
			}
		})
	}
}

func TestContexts(t *testing.T) {
	m := NewModel(Params{Order: 2, Discount: 0.5})
	if got := m.Contexts(); got != 0 {
		t.Errorf("untrained model has %d contexts", got)
	}
	m.Train([]byte("abac"))
	// The empty one, a, b, ab and ba; c and ac have no follower.
	if got := m.Contexts(); got != 5 {
		t.Errorf("got %d contexts, want 5", got)
	}
}

// TestTrieGrows counts more strings than the first table has room for and
// checks every one against a map.
func TestTrieGrows(t *testing.T) {
	type key struct {
		parent uint32
		b      byte
	}
	tr, want := newTrie(), map[key]uint32{}
	at, state := root, uint32(1)
	for range 4 * firstSlots {
		state = state*1664525 + 1013904223 // Numerical Recipes' generator; any will do
		b := byte(state >> 24)
		want[key{at, b}]++
		if at = tr.add(at, b); state%7 == 0 {
			at = root
		}
	}
	if len(tr.slots) == firstSlots {
		t.Fatal("the table never grew")
	}
	if got := len(tr.nodes) - 1; got != len(want) {
		t.Errorf("%d strings counted, want %d", got, len(want))
	}
	for k, n := range want {
		if id := tr.child(k.parent, k.b); id == missing || tr.nodes[id].count != n {
			t.Fatalf("child %d of %d: node %d, want a node with count %d", k.b, k.parent, id, n)
		}
	}
}

func BenchmarkTrain(b *testing.B) {
	text := []byte(pangram)
	b.SetBytes(int64(len(text)))
	m := NewModel(Params{Order: 5, Discount: 0.5, Strength: 1})
	for b.Loop() {
		m.Train(text)
	}
}
