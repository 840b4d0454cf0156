package expr

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/invisible"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/internal/spell"
)

// tokenKind says what a token is.
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenNumber
	tokenText
	tokenSign
)

// token is a piece of the source.
type token struct {
	kind tokenKind
	at   int
	text string // a word, a sign, or what a text says
	num  float64
	unit Unit
}

// isOne says that the token is one of these words or signs.
func (t token) isOne(of ...string) bool {
	return (t.kind == tokenWord || t.kind == tokenSign) && slices.Contains(of, t.text)
}

// String names the token in an error.
func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenWord, tokenSign:
		return strconv.Quote(t.text)
	case tokenText:
		return "a text"
	}
	return "a number"
}

// lexer cuts a text into tokens. What is wrong with the text ends reading by a panic
// with an *Error, which rescue turns into an error.
type lexer struct {
	source string
	at     int // behind tok
	last   int // behind the token before it
	tok    token
}

const (
	maxSource = 4 << 10 // bytes
	maxExact  = 1 << 53 // the largest number of which every smaller whole one can be told
)

func newLexer(source string) *lexer {
	l := &lexer{source: source}
	if len(source) > maxSource {
		l.fail(0, "%d bytes, more than %d", len(source), maxSource)
	}
	if !utf8.ValidString(source) {
		l.fail(0, "not valid UTF-8")
	}
	l.next()
	return l
}

// rescue stores in err the *Error that ended reading.
func rescue(err *error) {
	switch r := recover().(type) {
	case nil:
	case *Error:
		*err = r
	default:
		panic(r)
	}
}

// fail ends reading at a byte of the source.
func (l *lexer) fail(at int, format string, args ...any) {
	at = min(at, len(l.source))
	line := 1 + strings.Count(l.source[:at], "\n")
	start := strings.LastIndexByte(l.source[:at], '\n') + 1
	text, _, _ := strings.Cut(l.source[start:], "\n")
	panic(&Error{Line: line, Column: 1 + utf8.RuneCountInString(l.source[start:at]), Message: fmt.Sprintf(format, args...), text: printable(text)})
}

// tokens are spaces and the forms of a token: a word; a number, which is digits with a
// unit: 4, 1_000, 0.5, 250ms, 99%, $2.50; a text in quotes, in which a backslash takes the
// character behind it as it is; a sign.
var (
	tokens = lazyregexp.New(`^[ \t\r\n]*(?:(p[0-9]+\.[0-9]*|[A-Za-z_][A-Za-z_0-9]*)|([$0-9][0-9_.]*)(%|[A-Za-z_]*)|` +
		`(?s:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')|([=!<>]=|[-<>+*/(),.])|)`)
	escapes    = lazyregexp.New(`(?s:\\(.))`)
	percentile = lazyregexp.New(`^p[0-9]+(\.[0-9]*)?$`)
)

// next reads the next token into l.tok.
func (l *lexer) next() {
	l.last = l.at
	m := tokens.FindStringSubmatch(l.source[l.at:])
	rest := strings.TrimLeft(l.source[l.at:], " \t\r\n")
	l.tok = token{at: len(l.source) - len(rest), text: m[1] + m[6]}
	l.at += len(m[0])
	switch {
	case m[1] != "":
		l.tok.kind = tokenWord
	case m[6] != "":
		l.tok.kind = tokenSign
	case m[2] != "":
		l.number(m[2], m[3])
	case l.tok.at < l.at:
		l.tok.kind, l.tok.text = tokenText, escapes.ReplaceAllString(m[4]+m[5], "$1")
	case rest == "":
	case rest[0] == '"' || rest[0] == '\'':
		l.fail(l.tok.at, "the text has no closing %c", rest[0])
	case rest[0] == '=':
		l.fail(l.tok.at, "unexpected character '='; equality is ==")
	default:
		r, _ := utf8.DecodeRuneInString(rest)
		l.fail(l.tok.at, "unexpected character %q", r)
	}
}

// scales are the bases of units, as they are written behind numbers.
var scales = map[string]struct {
	unit  Unit
	scale *big.Rat
}{
	"us": {Duration, big.NewRat(1, 1)}, "ms": {Duration, big.NewRat(1e3, 1)}, "s": {Duration, big.NewRat(1e6, 1)},
	"m": {Duration, big.NewRat(60e6, 1)}, "h": {Duration, big.NewRat(3600e6, 1)},
	"$": {Money, big.NewRat(1e9, 1)}, "%": {Percent, big.NewRat(1, 100)}, "": {None, big.NewRat(1, 1)},
}

// number reads a number: a dollar sign or none and digits, and a unit.
func (l *lexer) number(number, unit string) {
	digits, money := strings.CutPrefix(strings.ReplaceAll(number, "_", ""), "$")
	value, ok := new(big.Rat).SetString(digits)
	if !ok || len(digits) > 40 || strings.HasSuffix(digits, ".") {
		l.fail(l.tok.at, "not a number: %.50q", number)
	}
	base, known := scales[unit]
	switch {
	case money && unit == "":
		base = scales["$"]
	case !known, money && unit != "%":
		l.fail(l.at-len(unit), "unknown unit %.20q: durations are written 10us, 250ms, 4s, 2m or 1h, money $2, shares 99%%", unit)
	}
	l.tok.kind, l.tok.unit = tokenNumber, base.unit
	if l.tok.num, _ = value.Mul(value, base.scale).Float64(); l.tok.num > maxExact {
		l.fail(l.tok.at, "numbers go up to 2^53 (money to $9,000,000)")
	}
}

// accept passes over a word or sign if it comes next.
func (l *lexer) accept(text string) bool {
	is := l.tok.isOne(text)
	if is {
		l.next()
	}
	return is
}

func (l *lexer) expect(text string) {
	if !l.accept(text) {
		l.fail(l.tok.at, "expected %q, not %s", text, l.tok)
	}
}

// Error is what is wrong with a text, and where.
type Error struct {
	// Line and Column count from 1; Column counts characters.
	Line, Column int
	Message      string
	text         string // of the line
}

// Error is the place, the message, and the line with a caret below.
func (e *Error) Error() string {
	before := []rune(e.text)
	pad := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(before[:min(len(before), e.Column-1)]))
	return fmt.Sprintf("%d:%d: %s\n  %s\n  %s^", e.Line, e.Column, e.Message, e.text, pad)
}

// printable replaces what a terminal would act on.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && invisible.Unsafe(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// nearest is a hint at the name that word may have meant; empty without one.
func nearest(word string, names []string) string {
	if best := spell.Nearest(word, names); best != "" {
		return "; did you mean " + best + "?"
	}
	return ""
}
