package secrets

import (
	"slices"
	"sync"
)

// squeeze appends to b[:0] the ASCII letters and digits of s, in lower case. Without
// what stands between them a credential is whole that was spaced out: by blanks,
// dots, dashes, characters that draw nothing or the ends of lines.
func squeeze(b []byte, s string) []byte {
	b = slices.Grow(b[:0], len(s))[:len(s)]
	n := 0
	for i := range len(s) {
		c := squeezedByte[s[i]]
		b[n] = c
		n += int(c+0x7f) >> 7 // 1 for a letter or digit: a branch would be mispredicted
	}
	return b[:n]
}

// squeezedByte is what squeeze writes for a byte; 0 for nothing.
var squeezedByte = func() (t [256]byte) {
	for c := range t {
		if lower := lowerByte(byte(c)); lower >= 'a' && lower <= 'z' || lower >= '0' && lower <= '9' {
			t[c] = lower
		}
	}
	return t
}()

var squeezeBuffers = sync.Pool{New: func() any { return new([]byte) }}
