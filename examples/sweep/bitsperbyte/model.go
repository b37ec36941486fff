package main

import "math"

const maxOrder = 12

// Params are what a sweep may vary.
type Params struct {
	// Order is how many preceding bytes a prediction looks at, 0 to maxOrder.
	Order int `json:"order"`
	// Discount is what every count gives up to the next shorter context, from
	// 0 to below 1.
	Discount float64 `json:"discount"`
	// Strength is how many observations the next shorter context is worth, at
	// least 0. One of Discount and Strength must be above 0, or a byte that
	// never followed a known context would have no probability at all.
	Strength float64 `json:"strength"`
}

// A Model predicts each byte of a text from the bytes before it.
//
// It interpolates the counts of every context length from Order down to zero:
//
//	P(b|c) = (max(n(cb)-D, 0) + (D·u(c) + S)·P(b|c')) / (n(c) + S)
//
// where n(cb) counts b after the context c, n(c) all bytes after c, u(c) the
// different ones among them; c' is c without its oldest byte, D the discount
// and S the strength. Below the empty context lies the uniform distribution.
// This is the predictive rule of a hierarchical Pitman-Yor language model
// (Teh, 2006) that keeps every count in the longer contexts: S=0 makes it
// interpolated absolute discounting, D=0 a chain of Dirichlet priors.
type Model struct {
	params Params
	grams  *trie
}

// NewModel returns a model that has seen nothing: to it all bytes are alike.
func NewModel(p Params) *Model {
	return &Model{params: p, grams: newTrie()}
}

// Train counts one text. Contexts do not reach from one text into the next.
func (m *Model) Train(text []byte) {
	// contexts[k] stands for the k bytes before the next one.
	contexts := append(make([]uint32, 0, maxOrder+2), root)
	for _, b := range text {
		contexts = append(contexts, missing)
		// Longest first: each child takes the place of the next longer context.
		for k := len(contexts) - 2; k >= 0; k-- {
			contexts[k+1] = m.grams.add(contexts[k], b)
		}
		if len(contexts) > m.params.Order+1 {
			contexts = contexts[:m.params.Order+1]
		}
	}
}

// Bits returns how many bits an ideal coder needs to write text with the
// model's predictions. It learns nothing from the text.
func (m *Model) Bits(text []byte) float64 {
	var bits float64
	// As in Train, but ending before the first context that was never seen:
	// what contains it was never seen either.
	contexts := append(make([]uint32, 0, maxOrder+1), root)
	after := make([]uint32, 0, maxOrder+1)
	for _, b := range text {
		p := 1.0 / 256
		after = append(after[:0], root)
		for _, context := range contexts {
			child := m.grams.child(context, b)
			p = m.blend(context, child, p)
			if child != missing && len(after) <= m.params.Order {
				after = append(after, child)
			}
		}
		bits -= math.Log2(p)
		contexts, after = after, contexts
	}
	return bits
}

// blend returns the probability of child's last byte after context, given the
// one that the next shorter context assigns to it.
func (m *Model) blend(context, child uint32, shorter float64) float64 {
	c := &m.grams.nodes[context]
	if c.total == 0 {
		return shorter // seen only at the end of a text
	}
	var own float64
	if child != missing {
		own = float64(m.grams.nodes[child].count) - m.params.Discount
	}
	given := m.params.Discount*float64(c.distinct) + m.params.Strength
	return (own + given*shorter) / (float64(c.total) + m.params.Strength)
}

// Contexts returns how many different contexts, the empty one included, the
// model has seen something follow.
func (m *Model) Contexts() int {
	var n int
	for i := range m.grams.nodes {
		if m.grams.nodes[i].total > 0 {
			n++
		}
	}
	return n
}
