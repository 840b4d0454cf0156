package contract

import "strings"

// The sorts of pieces that an output is cut into.
const (
	plain    = ' '  // one byte that is part of no other piece
	double   = '"'  // a string in double quotes
	single   = '\'' // a string in single quotes
	comment  = '/'
	openTag  = '<' // the tag that opens a think block
	closeTag = '>' // the tag that closes one, whether or not a tag opened it
)

// lexer cuts an output into pieces, once from left to right. Outside braces the
// text is prose, in which only braces and think tags have a meaning. Inside braces
// it is JSON, loosely written: strings and comments are one piece each, with any
// content. A lexer makes no mistake on valid JSON and takes linear time on
// any text.
type lexer struct {
	text string
	// start and end delimit the current piece, of this sort.
	start, end int
	sort       byte
	// depth counts the braces that are open after the current piece.
	depth int
	// before is the last plain byte before the current piece that is not white
	// space, '"' for a string.
	before byte
	// closing is the tag that ends the think block around the current piece, ""
	// outside of think blocks.
	closing string
	// unsure reports that a string or comment in a think block contains its closing
	// tag, so that the end of the block is in doubt.
	unsure bool
}

// next moves to the next piece.
func (l *lexer) next() bool {
	if l.end == len(l.text) {
		return false
	}
	switch {
	case l.sort == double || l.sort == single:
		l.before = '"'
	case l.sort == plain && !isSpace(l.text[l.start]):
		l.before = l.text[l.start]
	}
	l.start = l.end
	rest := l.text[l.start:]
	switch {
	case l.tag(rest):
	case l.depth > 0 && l.token(rest):
		l.unsure = l.unsure || l.closing != "" && strings.Contains(l.piece(), l.closing)
	default:
		l.sort, l.end = plain, l.start+1
		switch {
		case rest[0] == '{' && (l.depth > 0 || !escaped(rest[1:])):
			l.depth++
		case rest[0] == '}' && l.depth > 0:
			l.depth--
		}
	}
	return true
}

// tag takes a think tag at the start of rest. In prose every tag counts, in a
// think block only its closing tag, at any depth.
func (l *lexer) tag(rest string) bool {
	if rest[0] != '<' || l.depth > 0 && l.closing == "" {
		return false
	}
	for _, name := range [...]string{"think>", "thinking>"} {
		switch {
		case strings.HasPrefix(rest, "</"+name) && (l.closing == "" || l.closing == "</"+name):
			l.sort, l.end = closeTag, l.start+len("</"+name)
			l.closing, l.depth = "", 0
			return true
		case strings.HasPrefix(rest, "<"+name) && l.closing == "":
			l.sort, l.end = openTag, l.start+len("<"+name)
			l.closing = "</" + name
			return true
		}
	}
	return false
}

// escaped reports whether the text after a brace continues with a backslash: then the
// brace is prose that quotes JSON from within a string.
func escaped(rest string) bool { return strings.HasPrefix(strings.TrimLeft(rest, " \n\t\r"), `\`) }

// token takes a string or comment at the start of rest.
func (l *lexer) token(rest string) bool {
	switch {
	case rest[0] == '"':
		l.sort, l.end = double, l.start+quotedLen(rest)
	case rest[0] == '\'' && l.expectsValue():
		l.sort, l.end = single, l.start+quotedLen(rest)
	case strings.HasPrefix(rest, "//"):
		l.sort, l.end = comment, l.start+lenUntil(rest, "\n", 0)
	case strings.HasPrefix(rest, "/*"):
		l.sort, l.end = comment, l.start+lenUntil(rest, "*/", len("*/"))
	default:
		return false
	}
	return true
}

func (l *lexer) piece() string { return l.text[l.start:l.end] }

// expectsValue reports whether a name or value may begin here.
func (l *lexer) expectsValue() bool { return strings.IndexByte("{[,:", l.before) >= 0 }

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

func isSpace(b byte) bool { return b == ' ' || b == '\n' || b == '\t' || b == '\r' }
