package seal

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// oid is the name of a git object: the SHA-1 of its kind, length and content. A
// session that can pay for a collision gets one of its own two files for the
// other, which it could have had for nothing.
type oid [sha1.Size]byte

func (o oid) String() string { return hex.EncodeToString(o[:]) }

// parseOID reads the 40 hexadecimal digits that git prints, and nothing else:
// no abbreviation, no name of a branch, no option.
func parseOID(s string) (o oid, err error) {
	if len(s) != hex.EncodedLen(len(o)) {
		return oid{}, fmt.Errorf("%q is not the name of a git object", s)
	}
	if _, err := hex.Decode(o[:], []byte(s)); err != nil {
		return oid{}, fmt.Errorf("%q is not the name of a git object", s)
	}
	return o, nil
}

// hashOf names a blob of that content.
func hashOf(content []byte) oid {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(content))
	h.Write(content)
	return oid(h.Sum(nil))
}

// hashFile names the blob of a file's first size bytes and copies them to w. It
// returns io.EOF when the file has fewer.
func hashFile(r *os.File, size int64, w io.Writer) (oid, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return oid{}, err
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", size)
	if _, err := io.CopyN(io.MultiWriter(h, w), r, size); err != nil {
		return oid{}, err
	}
	return oid(h.Sum(nil)), nil
}

// counter counts what has been written through it.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// zeros reads as zeros without an end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
