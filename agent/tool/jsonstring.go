package tool

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/clip"
)

// unquote decodes the JSON string literal raw, quotes included, which must be
// valid. A lone surrogate becomes its three-byte encoding, which is not valid
// UTF-8; Text replaces it.
func unquote(raw string) string {
	raw = raw[1 : len(raw)-1]
	i := strings.IndexByte(raw, '\\')
	if i < 0 {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for ; i >= 0; i = strings.IndexByte(raw, '\\') {
		out = append(out, raw[:i]...)
		var n int
		out, n = appendEscape(out, raw[i:])
		raw = raw[i+n:]
	}
	return string(append(out, raw...))
}

// appendEscape decodes the valid escape (or surrogate pair) at the start of s
// and returns how many bytes of s it took.
func appendEscape(out []byte, s string) ([]byte, int) {
	switch s[1] {
	case 'b':
		return append(out, '\b'), 2
	case 'f':
		return append(out, '\f'), 2
	case 'n':
		return append(out, '\n'), 2
	case 'r':
		return append(out, '\r'), 2
	case 't':
		return append(out, '\t'), 2
	case 'u':
		unit := hex4(s[2:])
		if !utf16.IsSurrogate(unit) {
			return utf8.AppendRune(out, unit), 6
		}
		if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
			low := hex4(s[8:])
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				return utf8.AppendRune(out, r), 12
			}
		}
		return append(out, 0xE0|byte(unit>>12), 0x80|byte(unit>>6)&0x3F, 0x80|byte(unit)&0x3F), 6
	}
	return append(out, s[1]), 2
}

// hex4 reads four hexadecimal digits; anything else is 0.
func hex4(s string) (unit rune) {
	if len(s) < 4 {
		return 0
	}
	for i := range 4 {
		b := s[i]
		switch {
		case isDigit(b):
			b -= '0'
		case 'a' <= b|0x20 && b|0x20 <= 'f':
			b = b | 0x20 - 'a' + 10
		default:
			return 0
		}
		unit = unit<<4 | rune(b)
	}
	return unit
}

// surrogateAt decodes the lone surrogate that unquote left at s[i], three bytes.
func surrogateAt(s string, i int) (unit rune, ok bool) {
	if i+2 >= len(s) || s[i] != 0xED || s[i+1] < 0xA0 {
		return 0, false
	}
	return 0xD000 | rune(s[i+1]&0x3F)<<6 | rune(s[i+2]&0x3F), true
}

// Text decodes the string value v as valid UTF-8, lone surrogates replaced by
// U+FFFD. It is "" for any other kind.
func (v JSON) Text() string {
	if v.Kind != '"' {
		return ""
	}
	return withoutSurrogates(unquote(v.Raw))
}

func withoutSurrogates(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if _, ok := surrogateAt(s, i); ok {
			out = utf8.AppendRune(out, utf8.RuneError)
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

// maxLabel bounds a label, in runes.
const maxLabel = 64

// Label makes a name written by a model fit for a code, a log line or a prompt:
// valid, printable, without separators, at most 64 runes.
func Label(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || invisible.Rune(r) || unicode.IsSpace(r) || r == ':' || r == '.' || r == '<' || r == '>' {
			return utf8.RuneError
		}
		return r
	}, clip.Runes(name, maxLabel))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
