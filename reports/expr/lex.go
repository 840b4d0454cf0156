package expr

import (
	"math/big"
	"strings"
	"unicode/utf8"
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

// signs are all of them, longer ones first.
var signs = [...]string{"==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", ",", "."}

// scales are the units of numbers, as they are written behind them.
var scales = map[string]struct {
	unit  Unit
	scale int64
}{
	"us": {Duration, 1}, "ms": {Duration, 1e3}, "s": {Duration, 1e6}, "m": {Duration, 60e6}, "h": {Duration, 3600e6},
}

// next reads the next token into p.tok.
func (p *parser) next() error {
	p.last = p.at
	for p.at < len(p.source) && strings.IndexByte(" \t\r\n", p.source[p.at]) >= 0 {
		p.at++
	}
	p.tok = token{at: p.at}
	if p.at == len(p.source) {
		return nil
	}
	switch c := p.source[p.at]; {
	case letter(c):
		p.tok.kind, p.tok.text = tokenWord, p.take(func(c byte) bool { return letter(c) || digit(c) })
		if p.at < len(p.source) && p.source[p.at] == '.' && percentile(p.tok.text) { // p99.9
			p.at++
			p.tok.text += "." + p.take(digit)
		}
		return nil
	case digit(c), c == '$':
		return p.number()
	case c == '"', c == '\'':
		return p.text(c)
	}
	for _, s := range signs {
		if strings.HasPrefix(p.source[p.at:], s) {
			p.tok.kind, p.tok.text = tokenSign, s
			p.at += len(s)
			return nil
		}
	}
	r, _ := utf8.DecodeRuneInString(p.source[p.at:])
	hint := ""
	if r == '=' {
		hint = "; equality is =="
	}
	return p.problem(p.at, "unexpected character %q%s", r, hint)
}

func letter(c byte) bool { return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

// percentile says that a word is p and digits.
func percentile(word string) bool {
	return len(word) > 1 && word[0] == 'p' && strings.Trim(word[1:], "0123456789") == ""
}

func (p *parser) take(while func(byte) bool) string {
	from := p.at
	for p.at < len(p.source) && while(p.source[p.at]) {
		p.at++
	}
	return p.source[from:p.at]
}

// number reads digits with a unit: 4, 1_000, 0.5, 250ms, 99%, $2.50.
func (p *parser) number() error {
	p.tok.kind = tokenNumber
	scale := big.NewRat(1, 1)
	if p.source[p.at] == '$' {
		p.at++
		p.tok.unit = Money
		scale.SetInt64(1e9)
	}
	digits := strings.ReplaceAll(p.take(func(c byte) bool { return digit(c) || c == '_' || c == '.' }), "_", "")
	value, ok := new(big.Rat).SetString(digits)
	if !ok || len(digits) > 40 || strings.HasSuffix(digits, ".") {
		return p.problem(p.tok.at, "not a number: %.50q", p.source[p.tok.at:p.at])
	}
	if p.at < len(p.source) && p.source[p.at] == '%' {
		p.at++
		p.tok.unit = Percent
		scale.SetFrac64(1, 100)
	} else if unit := p.take(letter); unit != "" {
		s, known := scales[unit]
		if !known || p.tok.unit != None {
			return p.problem(p.at-len(unit), "unknown unit %.20q: durations are written 10us, 250ms, 4s, 2m or 1h, money $2, shares 99%%", unit)
		}
		p.tok.unit = s.unit
		scale.SetInt64(s.scale)
	}
	p.tok.num, _ = value.Mul(value, scale).Float64()
	if p.tok.num > maxExact {
		return p.problem(p.tok.at, "numbers go up to 2^53 (money to $9,000,000)")
	}
	return nil
}

// maxExact is the largest number of which every smaller whole one can be told.
const maxExact = 1 << 53

// text reads a text in single or double quotes; a backslash takes the character
// behind it as it is.
func (p *parser) text(quote byte) error {
	p.tok.kind = tokenText
	var out strings.Builder
	for p.at++; p.at < len(p.source); p.at++ {
		c := p.source[p.at]
		if c == quote {
			p.at++
			p.tok.text = out.String()
			return nil
		}
		if c == '\\' && p.at+1 < len(p.source) {
			p.at++
			c = p.source[p.at]
		}
		out.WriteByte(c)
	}
	return p.problem(p.tok.at, "the text has no closing %c", quote)
}
