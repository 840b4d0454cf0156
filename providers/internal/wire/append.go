package wire

import (
	"math"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// Appender is a body that has a shorter way to its JSON than encoding/json, for
// the calls that are made most. ok is false for another call. The bytes
// must be those encoding/json would write.
type Appender interface {
	AppendJSON(b []byte) (out []byte, ok bool)
}

// AppendString appends a JSON string as encoding/json writes it, without escapes
// for HTML.
func AppendString(b []byte, s string) []byte {
	b = append(b, '"')
	for {
		n := plainBytes(s)
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		s = s[n:]
		b, n = appendEscape(b, s)
		s = s[n:]
	}
}

// plainBytes is how many bytes at the beginning of s need no escape, eight of
// which are checked together: none is below a space, a quotation mark, a backslash
// or beyond ASCII. A byte that is subtracted too much from sets its high bit, and
// may set those above it: the lowest counts.
func plainBytes(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		p := s[i : i+8]
		w := uint64(p[0]) | uint64(p[1])<<8 | uint64(p[2])<<16 | uint64(p[3])<<24 |
			uint64(p[4])<<32 | uint64(p[5])<<40 | uint64(p[6])<<48 | uint64(p[7])<<56
		if odd := (w | (w - ones*' ') | (w ^ ones*'"' - ones) | (w ^ ones*'\\' - ones)) & highs; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(s) && s[i] >= ' ' && s[i] != '"' && s[i] != '\\' && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// appendEscape appends the first character of s, which is not plain, and returns
// its length. What is not UTF-8 becomes U+FFFD.
func appendEscape(b []byte, s string) ([]byte, int) {
	const hexDigits = "0123456789abcdef"
	switch c := s[0]; c {
	case '"', '\\':
		return append(b, '\\', c), 1
	case '\n':
		return append(b, '\\', 'n'), 1
	case '\r':
		return append(b, '\\', 'r'), 1
	case '\t':
		return append(b, '\\', 't'), 1
	case '\b':
		return append(b, '\\', 'b'), 1
	case '\f':
		return append(b, '\\', 'f'), 1
	}
	if c := s[0]; c < utf8.RuneSelf {
		return append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf]), 1
	}
	switch r, n := utf8.DecodeRuneInString(s); {
	case r == utf8.RuneError && n == 1:
		return append(b, `\ufffd`...), 1
	case r == '\u2028' || r == '\u2029': // line ends in JavaScript
		return append(b, '\\', 'u', '2', '0', '2', hexDigits[r&0xf]), n
	default:
		return append(b, s[:n]...), n
	}
}

// AppendInt appends a member with a number; 0 is left out.
func AppendInt(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(appendName(b, name), n, 10)
}

// AppendFloat appends a member with a number, nil is left out; see IsPlainFloat.
func AppendFloat(b []byte, name string, f *float64) []byte {
	if f == nil {
		return b
	}
	return strconv.AppendFloat(appendName(b, name), *f, 'f', -1, 64)
}

// IsPlainFloat reports whether a number, if there is one, is written without an
// exponent.
func IsPlainFloat(f *float64) bool {
	return f == nil || *f == 0 || math.Abs(*f) >= 1e-6 && math.Abs(*f) < 1e21
}

func appendName(b []byte, name string) []byte {
	b = append(b, ',', '"')
	return append(append(b, name...), '"', ':')
}
