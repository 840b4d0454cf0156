package secrets

import (
	"slices"
	"sync"
)

// squeeze appends the ASCII letters and digits of s to b[:0], in lower case. This joins a
// credential whose characters are separated by blanks, dots, dashes, invisible characters or
// ends of lines.
func squeeze(b []byte, s string) []byte {
	b = slices.Grow(b[:0], len(s))[:len(s)]
	n := 0
	for i := range len(s) {
		c := squeezedByte[s[i]]
		b[n] = c
		n += int(c+0x7f) >> 7 // 1 for a letter or digit, without a branch, which would be mispredicted
	}
	return b[:n]
}

// squeezedByte has the output of squeeze for each byte; 0 means none.
var squeezedByte = func() (t [256]byte) {
	for c := range t {
		if lower := lowerByte(byte(c)); lower >= 'a' && lower <= 'z' || lower >= '0' && lower <= '9' {
			t[c] = lower
		}
	}
	return t
}()

var squeezeBuffers = sync.Pool{New: func() any { return new([]byte) }}
