package channel

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Stamp identifies one question: the mtime of its request marker as an IEEE
// double in seconds, as Python's st_mtime holds it. Two mtimes closer than
// about 240 ns are the same stamp. The zero Stamp means "none yet".
type Stamp float64

// StampOf computes the stamp of an mtime.
//
// The conversions around the product are not decoration. Without them a
// compiler may fuse the multiplication and the addition (it does on arm64) and
// round once instead of twice; the stamp could then be one unit in the last
// place below the one that a peer computes, and its comparison
// float(done) >= st_mtime would never come true.
func StampOf(mtime time.Time) Stamp {
	fraction := float64(1e-9 * float64(mtime.Nanosecond()))
	return Stamp(float64(mtime.Unix()) + fraction)
}

// String is the shortest decimal that reads back to the very same double, to
// the letter as Python's repr prints it. It is what a done marker holds.
func (s Stamp) String() string {
	if size := math.Abs(float64(s)); size >= 1e16 || size > 0 && size < 1e-4 {
		return strconv.FormatFloat(float64(s), 'e', -1, 64)
	}
	text := strconv.FormatFloat(float64(s), 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// time is the mtime that has this stamp, up to a nanosecond less. It is for
// stamps below maxStamp.
func (s Stamp) time() time.Time {
	sec, fraction := math.Modf(float64(s))
	return time.Unix(int64(sec), int64(fraction*1e9))
}

// maxStamp is beyond every mtime that a filesystem keeps and can be counted on
// from in an int64.
const maxStamp Stamp = 1 << 62

// maxStampBytes bounds a done marker. The shortest decimal of any mtime has at
// most 24 characters; a peer may pad.
const maxStampBytes = 64

// ParseStamp reads what a done marker holds. White space around the number is
// passed over. Whatever is no finite decimal number, or is longer than 64
// bytes, is 0, "nothing answered yet": a marker that a session has spoiled must
// not be able to stop its questions, and hexadecimal or underscored spellings
// that Go would take are taken by no peer.
func ParseStamp(untrusted []byte) Stamp {
	if len(untrusted) > maxStampBytes {
		return 0
	}
	s := strings.TrimSpace(string(untrusted))
	if strings.Trim(s, "0123456789.eE+-") != "" {
		return 0
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0
	}
	return Stamp(f)
}
