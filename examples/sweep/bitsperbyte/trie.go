package main

// A node stands for one string of bytes that occurs in the training text. Its
// own count is the evidence for its last byte after all the bytes before it;
// total and distinct sum up what was seen to follow it in turn.
type node struct {
	parent   uint32 // the string without its last byte
	count    uint32 // how often the string occurs
	total    uint32 // how often some byte follows it: less than count where texts end
	distinct uint16 // how many different bytes follow it, at most 256
	last     byte   // the string's last byte
}

const (
	root    uint32 = 0 // the empty string
	missing uint32 = 0 // no such child; the root is nobody's child, so its number is free

	firstSlots = 1 << 16 // a power of two, as every later size is
)

// A trie counts the strings of a training text.
//
// A child is found by hashing its parent and last byte into one open-addressed
// table of node numbers. What is compared there is that pair, never its hash:
// counts are exact, and the distributions made from them sum to one.
type trie struct {
	nodes []node
	slots []uint32 // missing marks a free slot
}

func newTrie() *trie {
	return &trie{nodes: make([]node, 1, firstSlots/2), slots: make([]uint32, firstSlots)}
}

// child returns the string that is parent's followed by b, or missing.
func (t *trie) child(parent uint32, b byte) uint32 {
	return t.slots[t.find(parent, b)]
}

// add counts one occurrence of b after parent's string and returns the child.
func (t *trie) add(parent uint32, b byte) uint32 {
	slot := t.find(parent, b)
	id := t.slots[slot]
	if id == missing {
		id = uint32(len(t.nodes))
		t.nodes = append(t.nodes, node{parent: parent, last: b})
		t.slots[slot] = id
		t.nodes[parent].distinct++
		if 2*len(t.nodes) > len(t.slots) {
			t.grow()
		}
	}
	t.nodes[id].count++
	t.nodes[parent].total++
	return id
}

// find returns the slot that holds the child, or the free one where it belongs.
func (t *trie) find(parent uint32, b byte) int {
	mask := len(t.slots) - 1
	// Multiplying by 2^64 over the golden ratio spreads the pair over the upper bits.
	hash := (uint64(parent)<<8 | uint64(b)) * 0x9e3779b97f4a7c15
	for slot := int(hash>>32) & mask; ; slot = (slot + 1) & mask {
		id := t.slots[slot]
		if id == missing {
			return slot
		}
		if n := &t.nodes[id]; n.parent == parent && n.last == b {
			return slot
		}
	}
}

func (t *trie) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for id := 1; id < len(t.nodes); id++ {
		n := &t.nodes[id]
		t.slots[t.find(n.parent, n.last)] = uint32(id)
	}
}
