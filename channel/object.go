package channel

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// object is a JSON object from a session that is taken apart key by key. The
// first thing that is wrong stays in err, and what is left over at the end is a
// key that the protocol does not know.
//
// encoding/json into a struct would not do: it matches keys without regard to
// case, lets a later duplicate win, takes null for every type and replaces
// invalid UTF-8 and lone surrogates. Each of these is a way for two readers of the same bytes to
// see two different requests.
type object struct {
	fields map[string]json.RawMessage
	err    error
}

func parseObject(untrusted []byte) *object {
	o := &object{fields: map[string]json.RawMessage{}}
	if !utf8.Valid(untrusted) {
		o.fail("", "it is not valid UTF-8")
		return o
	}
	dec := json.NewDecoder(bytes.NewReader(untrusted))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		o.fail("", "it is no JSON object")
		return o
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			o.fail("", "it is not valid JSON: %v", err)
			return o
		}
		name := key.(string) // a key is always a string, or Token has failed
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			o.fail("", "it is not valid JSON: %v", err)
			return o
		}
		if _, twice := o.fields[name]; twice {
			o.fail("", "the key %s is there twice", quoteShort(name))
			return o
		}
		o.fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		o.fail("", "it is not valid JSON: %v", err)
		return o
	}
	// More would not do: it takes a closing bracket for the end of the input.
	if _, err := dec.Token(); err != io.EOF {
		o.fail("", "something follows the JSON object")
	}
	return o
}

const rewriteCure = "use the syscall programs, which write this file as the protocol wants it"

func (o *object) fail(field, cause string, args ...any) {
	if o.err == nil {
		o.err = refuse(field, rewriteCure, cause, args...)
	}
}

// take removes and returns a key's value; ok is false where the key is missing.
func (o *object) take(key string) (raw json.RawMessage, ok bool) {
	raw, ok = o.fields[key]
	delete(o.fields, key)
	return raw, ok
}

// require is take for a key that must be there.
func (o *object) require(key string) json.RawMessage {
	raw, ok := o.take(key)
	if !ok {
		o.fail(key, "the key is missing")
	}
	return raw
}

// end reports what was wrong, an unknown key included.
func (o *object) end() error {
	if o.err == nil && len(o.fields) > 0 {
		keys := make([]string, 0, len(o.fields))
		for k := range o.fields {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		o.fail("", "the key %s is not known here", quoteShort(keys[0]))
	}
	return o.err
}

// The readers of single values take an absent value (nil) for the zero value,
// and refuse every other type than their own.

func (o *object) str(key string, raw json.RawMessage) (s string) {
	if raw != nil && (raw[0] != '"' || json.Unmarshal(raw, &s) != nil) {
		o.fail(key, "it must be a string")
	} else if loneSurrogate(raw) {
		o.fail(key, "it holds half of a surrogate pair, which is no character")
	}
	return s
}

// loneSurrogate looks for an escape \uD800 to \uDFFF that is not half of a pair
// in a valid JSON string. encoding/json reads one as U+FFFD where other readers
// keep it, and Python's programs write one for a byte that is not UTF-8.
func loneSurrogate(raw []byte) bool {
	for i := 0; i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // onto the letter, so that a doubled backslash is passed over
		r := escaped(raw[i:])
		if !utf16.IsSurrogate(r) {
			continue
		}
		if i+5 >= len(raw) || raw[i+5] != '\\' || utf16.DecodeRune(r, escaped(raw[i+6:])) == utf8.RuneError {
			return true
		}
		i += 10
	}
	return false
}

// escaped is the code unit of "uXXXX", or -1.
func escaped(s []byte) rune {
	if len(s) < 5 || s[0] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[1:5]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func (o *object) flag(key string, raw json.RawMessage) bool {
	switch string(raw) {
	case "true":
		return true
	case "", "false":
		return false
	}
	o.fail(key, "it must be true or false")
	return false
}

// number reads a whole number. One beyond what an int holds is as good as the
// largest: it will be clamped or refused by its sign.
func (o *object) number(key string, raw json.RawMessage, absent int) int {
	if raw == nil {
		return absent
	}
	n, err := strconv.ParseInt(string(raw), 10, 0)
	if err == nil {
		return int(n)
	}
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		if raw[0] == '-' {
			return math.MinInt
		}
		return math.MaxInt
	}
	o.fail(key, "it must be a whole number")
	return absent
}

func (o *object) list(key string, raw json.RawMessage) (items []json.RawMessage) {
	if raw != nil && (raw[0] != '[' || json.Unmarshal(raw, &items) != nil) {
		o.fail(key, "it must be a list")
	}
	return items
}
