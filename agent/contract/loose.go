package contract

import (
	"slices"
	"strings"
)

// loose rewrites an object that is loosely written, piece by piece, as JSON. It
// changes only what JSON does not allow, so valid JSON stays as it is.
type loose struct {
	out []byte
	// comma is the place of a comma in out after which only white space and comments
	// came; -1 means no such comma.
	comma int
	// steps are the repair steps that have changed something.
	steps []string
	// comments are the comments that were dropped, one after the other.
	comments strings.Builder
}

// add rewrites the lexer's current piece. Of a Python literal it takes more than
// that piece, and moves the lexer to its end.
func (o *loose) add(l *lexer) {
	switch {
	case l.sort == comment:
		o.comment(l)
		return
	case l.sort == single:
		o.requote(l.piece())
	case l.sort == double:
		o.out = append(o.out, l.piece()...)
	case l.expectsValue() && o.literal(l):
	default:
		o.plain(l.text[l.start])
		return
	}
	o.comma = -1
}

func (o *loose) step(name string) {
	if !slices.Contains(o.steps, name) {
		o.steps = append(o.steps, name)
	}
}

// comment drops a comment. Where two words would become one, a space replaces it.
func (o *loose) comment(l *lexer) {
	o.step(stepComments)
	o.comments.WriteString(l.piece())
	if l.start > 0 && isWord(l.text[l.start-1]) && l.end < len(l.text) && isWord(l.text[l.end]) {
		o.out = append(o.out, ' ')
	}
}

// plain adds one byte. It drops a comma that precedes a closing
// bracket.
func (o *loose) plain(b byte) {
	switch {
	case b == ',':
		o.comma = len(o.out)
	case (b == '}' || b == ']') && o.comma >= 0:
		o.step(stepTrailingCommas)
		o.out = append(o.out[:o.comma], o.out[o.comma+1:]...)
		o.comma = -1
	case !isSpace(b):
		o.comma = -1
	}
	o.out = append(o.out, b)
}

// literal writes Python's True, False and None as JSON does.
func (o *loose) literal(l *lexer) bool {
	rest := l.text[l.start:]
	for _, w := range [...][2]string{{"True", "true"}, {"False", "false"}, {"None", "null"}} {
		if n := len(w[0]); strings.HasPrefix(rest, w[0]) && (len(rest) == n || !isWord(rest[n])) {
			o.step(stepPython)
			o.out = append(o.out, w[1]...)
			l.end = l.start + n
			return true
		}
	}
	return false
}

// isWord reports bytes that run together into one number or literal.
func isWord(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '.' || b == '+' || b == '-' || b >= 0x80
}

// requote writes a string in single quotes as a JSON string. One that never ends
// stays as it is.
func (o *loose) requote(piece string) {
	if len(piece) < 2 || piece[len(piece)-1] != '\'' {
		o.out = append(o.out, piece...)
		return
	}
	o.step(stepSingleQuotes)
	o.out = append(o.out, '"')
	for i := 1; i < len(piece)-1; i++ {
		switch {
		case piece[i] == '\\' && piece[i+1] == '\'':
			// the quote needs no escape any more
		case piece[i] == '\\':
			o.out = append(o.out, piece[i:i+2]...)
			i++
		case piece[i] == '"':
			o.out = append(o.out, '\\', '"')
		default:
			o.out = append(o.out, piece[i])
		}
	}
	o.out = append(o.out, '"')
}
