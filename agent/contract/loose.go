package contract

import "strings"

// The sorts of pieces that loosely written JSON is cut into.
const (
	plain   = ' '  // one byte outside of the others
	double  = '"'  // a string in double quotes
	single  = '\'' // a string in single quotes
	comment = '/'
)

// cutter cuts JSON-like text into pieces: strings and comments whole, the rest
// byte by byte. It makes no mistake on valid JSON and is linear on anything.
type cutter struct {
	text string
	// start and end delimit the current piece, of this sort.
	start, end int
	sort       byte
	// before is the last plain byte before the current piece that is no white
	// space, '"' for a string, 0 at the start.
	before byte
}

// next moves to the next piece.
func (c *cutter) next() bool {
	switch {
	case c.end == c.start: // before the first
	case c.sort == double || c.sort == single:
		c.before = '"'
	case c.sort == plain && strings.IndexByte(" \n\t\r", c.text[c.start]) < 0:
		c.before = c.text[c.start]
	}
	c.start = c.end
	if c.start >= len(c.text) {
		return false
	}
	rest := c.text[c.start:]
	switch {
	case rest[0] == '"':
		c.sort, c.end = double, c.start+quotedLen(rest)
	case rest[0] == '\'' && c.expectsValue():
		c.sort, c.end = single, c.start+quotedLen(rest)
	case strings.HasPrefix(rest, "//"):
		c.sort, c.end = comment, c.start+lenUntil(rest, "\n", 0)
	case strings.HasPrefix(rest, "/*"):
		c.sort, c.end = comment, c.start+lenUntil(rest, "*/", len("*/"))
	default:
		c.sort, c.end = plain, c.start+1
	}
	return true
}

func (c *cutter) piece() string { return c.text[c.start:c.end] }

// expectsValue reports whether a name or value may begin here.
func (c *cutter) expectsValue() bool { return strings.IndexByte("{[,:", c.before) >= 0 }

// quotedLen is the length of the string at the start of s up to its closing
// quote, or to the end of s.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

// lenUntil is the length of s up to mark plus extra, or all of s.
func lenUntil(s, mark string, extra int) int {
	if i := strings.Index(s, mark); i >= 0 {
		return i + extra
	}
	return len(s)
}

// firstObject returns the first balanced {…} of text that could be a JSON
// object: a brace in prose, as in {name}, is passed over whole. It does not look
// into a brace that is never closed.
func firstObject(text string) string {
	for at := strings.IndexByte(text, '{'); at >= 0; {
		c := cutter{text: text, start: at, end: at}
		depth := 0
		for c.next() {
			if c.sort == plain && c.text[c.start] == '{' {
				depth++
			}
			if c.sort == plain && c.text[c.start] == '}' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if depth > 0 {
			return text
		}
		inside := strings.TrimLeft(text[at+1:c.end], " \n\t\r")
		if strings.IndexByte(`"'}/`, inside[0]) >= 0 {
			return text[at:c.end]
		}
		next := strings.IndexByte(text[c.end:], '{')
		if next < 0 {
			return text
		}
		at = c.end + next
	}
	return text
}

// stripComments drops // and /* */ comments outside strings.
func stripComments(text string) string {
	var out strings.Builder
	for c := (cutter{text: text}); c.next(); {
		if c.sort != comment {
			out.WriteString(c.piece())
			continue
		}
		if c.start > 0 && isWord(text[c.start-1]) && c.end < len(text) && isWord(text[c.end]) {
			out.WriteByte(' ') // or two values would become one
		}
	}
	return out.String()
}

// dropTrailingCommas drops a comma between a value and a closing bracket.
func dropTrailingCommas(text string) string {
	var out strings.Builder
	for c := (cutter{text: text}); c.next(); {
		if c.sort == plain && text[c.start] == ',' && c.before != 0 && !c.expectsValue() {
			after := strings.TrimLeft(text[c.end:], " \n\t\r")
			if after != "" && (after[0] == '}' || after[0] == ']') {
				continue
			}
		}
		out.WriteString(c.piece())
	}
	return out.String()
}

// translateLiterals writes Python's True, False and None as JSON does.
func translateLiterals(text string) string {
	var out strings.Builder
	for c := (cutter{text: text}); c.next(); {
		if c.sort == plain && c.expectsValue() {
			if word, json := pythonLiteral(text[c.start:]); word != "" {
				out.WriteString(json)
				c.end += len(word) - 1
				continue
			}
		}
		out.WriteString(c.piece())
	}
	return out.String()
}

// pythonLiteral finds a Python literal at the start of s and its JSON form.
func pythonLiteral(s string) (word, json string) {
	for _, l := range [...][2]string{{"True", "true"}, {"False", "false"}, {"None", "null"}} {
		if strings.HasPrefix(s, l[0]) && (len(s) == len(l[0]) || !isWord(s[len(l[0])])) {
			return l[0], l[1]
		}
	}
	return "", ""
}

// isWord reports bytes that run together into one number or literal.
func isWord(b byte) bool {
	return 'a' <= b|0x20 && b|0x20 <= 'z' || '0' <= b && b <= '9' || b == '_' || b == '.' || b == '+' || b == '-' || b >= 0x80
}

// requote writes strings in single quotes as JSON strings.
func requote(text string) string {
	var out strings.Builder
	for c := (cutter{text: text}); c.next(); {
		piece := c.piece()
		if c.sort != single || len(piece) < 2 || piece[len(piece)-1] != '\'' {
			out.WriteString(piece)
			continue
		}
		out.WriteByte('"')
		for i := 1; i < len(piece)-1; i++ {
			switch {
			case piece[i] == '\\' && piece[i+1] == '\'':
				// the quote needs no escape any more
			case piece[i] == '\\':
				out.WriteString(piece[i : i+2])
				i++
			case piece[i] == '"':
				out.WriteString(`\"`)
			default:
				out.WriteByte(piece[i])
			}
		}
		out.WriteByte('"')
	}
	return out.String()
}
