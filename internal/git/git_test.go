package git

import (
	"bytes"
	"testing"
)

func TestTail(t *testing.T) {
	t.Parallel()
	var tl Tail
	for range 1000 {
		tl.Write(bytes.Repeat([]byte("x"), 100))
	}
	tl.Write([]byte("end"))
	if len(tl.kept) != 2048 || !bytes.HasSuffix(tl.kept, []byte("xend")) {
		t.Errorf("%d bytes", len(tl.kept))
	}
}
