package secrets

import (
	"encoding/base32"
	"encoding/base64"
	"unicode/utf8"
)

// minRun is the least length of a credential in base64 or base32.
const minRun = 16

// codedRuns decodes each long run of letters as base64 and, if it has only one case, as base32,
// and calls f with the results until f returns false. It skips hex and results that are not
// text, because the forms of known credentials are found there without decoding.
func codedRuns(s string, f func(plain string) bool) {
	// s[start:seen] are letters. Every run of minRun letters that begins at start or later
	// contains s[at]. Therefore most bytes of a text of words are not examined.
	for start, seen, at := 0, 0, minRun-1; at < len(s); {
		gap := at
		for gap >= seen && letters[s[gap]] != 0 {
			gap--
		}
		if gap >= seen {
			start, seen, at = gap+1, at+1, gap+minRun
			continue
		}
		end := at + 1
		for end < len(s) && letters[s[end]] != 0 {
			end++
		}
		if !decodedRun(s[start:end], f) {
			return
		}
		start, seen, at = end+1, end+1, end+minRun
	}
}

// decodedRun calls f with the decoded texts of a run, and reports whether to continue.
func decodedRun(run string, f func(plain string) bool) bool {
	in := ^letter(0)
	for i := range len(run) {
		in &= letters[run[i]]
	}
	if in&hexLetter != 0 {
		return true
	}
	if in&stdLetter == 0 {
		in |= urlLetter // and decode up to the first letter of the other alphabet
	} else {
		in &^= urlLetter
	}
	for _, c := range codings {
		if in&c.letter == 0 {
			continue
		}
		var head [minRun]byte
		if n, _ := c.decode(head[:], []byte(run[:minRun])); !beginsText(head[:n]) {
			continue
		}
		code := []byte(run[:len(run)-c.extra[len(run)%len(c.extra)]])
		n, _ := c.decode(code, code)
		if utf8.Valid(code[:n]) && !f(string(code[:n])) {
			return false
		}
	}
	return true
}

// beginsText reports whether b may be the beginning of UTF-8 text.
func beginsText(b []byte) bool {
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 {
			return !utf8.FullRune(b)
		}
		b = b[size:]
	}
	return true
}

// coding is an encoding of bytes as letters.
type coding struct {
	letter
	in64 *base64.Encoding // nil if the encoding is base32
	in32 *base32.Encoding
	// extra is the number of letters at the end of a run that encode no complete byte, by the
	// remainder of its length.
	extra []int
}

// decode may modify the bytes that it reads. It calls methods and not a function value, so that
// they can be on the stack.
func (c coding) decode(to, from []byte) (int, error) {
	if c.in64 != nil {
		return c.in64.Decode(to, from)
	}
	return c.in32.Decode(to, from)
}

var codings = func() []coding {
	extra64, extra32 := []int{0, 1, 0, 0}, []int{0, 1, 0, 1, 0, 0, 1, 0}
	base32Of := func(alphabet string) *base32.Encoding {
		return base32.NewEncoding(alphabet).WithPadding(base32.NoPadding)
	}
	return []coding{
		{stdLetter, base64.RawStdEncoding, nil, extra64},
		{urlLetter, base64.RawURLEncoding, nil, extra64},
		{base32Upper, nil, base32Of(upperLetters + digits[2:8]), extra32},
		{base32Lower, nil, base32Of(lowerLetters + digits[2:8]), extra32},
		{base32HexUpper, nil, base32Of(digits + upperLetters[:22]), extra32},
		{base32HexLower, nil, base32Of(digits + lowerLetters[:22]), extra32},
	}
}()

const (
	lowerLetters = "abcdefghijklmnopqrstuvwxyz"
	upperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits       = "0123456789"
)

// letter is the set of alphabets that contain a byte.
type letter uint8

const (
	hexLetter letter = 1 << iota
	stdLetter        // of base64
	urlLetter
	base32Upper
	base32Lower
	base32HexUpper
	base32HexLower
)

var letters = func() (t [256]letter) {
	for _, alphabet := range []struct {
		letter letter
		bytes  string
	}{
		{hexLetter, digits + lowerLetters[:6]},
		{stdLetter, digits + lowerLetters + upperLetters + "+/"},
		{urlLetter, digits + lowerLetters + upperLetters + "-_"},
		{base32Upper, upperLetters + digits[2:8]},
		{base32Lower, lowerLetters + digits[2:8]},
		{base32HexUpper, digits + upperLetters[:22]},
		{base32HexLower, digits + lowerLetters[:22]},
	} {
		for i := range len(alphabet.bytes) {
			t[alphabet.bytes[i]] |= alphabet.letter
		}
	}
	return t
}()
