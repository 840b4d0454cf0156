// Package decimal holds decimal numbers exactly, as suites and answers write them. It
// reads, compares and writes them; it does not calculate.
package decimal

import (
	"cmp"
	"strconv"
	"strings"
)

// Decimal is a decimal number held exactly: 0.digits × 10^exp. digits has
// neither leading nor trailing zeros, so equal values are equal structs; zero
// is the zero value. Nothing is ever multiplied out: 1e999999999 costs what its
// text costs.
type Decimal struct {
	neg    bool
	digits string
	exp    int64
}

// maxExponentDigits bounds the exponent of a number: one with more digits is
// not read as a number at all.
const maxExponentDigits = 9

// Parse reads a number as JSON writes it, leading zeros allowed.
func Parse(s string) (Decimal, bool) {
	rest, neg := strings.CutPrefix(s, "-")
	whole, rest := cutDigits(rest)
	if whole == "" {
		return Decimal{}, false
	}
	fraction := ""
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if fraction, rest = cutDigits(after); fraction == "" {
			return Decimal{}, false
		}
	}
	exp := int64(0)
	if rest != "" {
		var ok bool
		if exp, ok = ParseExponent(rest); !ok {
			return Decimal{}, false
		}
	}
	return New(neg, whole, fraction, exp), true
}

// New returns whole.fraction × 10^exp.
func New(neg bool, whole, fraction string, exp int64) Decimal {
	whole = strings.TrimLeft(whole, "0")
	exp += int64(len(whole))
	digits := whole + fraction
	if whole == "" {
		digits = strings.TrimLeft(fraction, "0")
		exp -= int64(len(fraction) - len(digits))
	}
	digits = strings.TrimRight(digits, "0")
	if digits == "" {
		return Decimal{}
	}
	return Decimal{neg: neg, digits: digits, exp: exp}
}

// ParseExponent reads e5, E+05 or e-5.
func ParseExponent(s string) (int64, bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	s = s[1:]
	unsigned := strings.TrimPrefix(strings.TrimPrefix(s, "+"), "-")
	digits, rest := cutDigits(unsigned)
	if digits == "" || rest != "" || len(s)-len(unsigned) > 1 || len(strings.TrimLeft(digits, "0")) > maxExponentDigits {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if s[0] == '-' {
		n = -n
	}
	return n, err == nil
}

// cutDigits splits s after its leading ASCII digits.
func cutDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

// Compare orders decimals by value: -1, 0 or 1.
func (d Decimal) Compare(e Decimal) int {
	if c := cmp.Compare(d.sign(), e.sign()); c != 0 || d.digits == "" {
		return c
	}
	c := cmp.Or(cmp.Compare(d.exp, e.exp), strings.Compare(d.digits, e.digits))
	if d.neg {
		return -c
	}
	return c
}

func (d Decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// String writes the number in plain digits, or with an exponent where that
// would take many zeros.
func (d Decimal) String() string {
	sign, n := "", int64(len(d.digits))
	if d.neg {
		sign = "-"
	}
	switch {
	case n == 0:
		return "0"
	case d.exp > 21 || d.exp < -6:
		return sign + "0." + d.digits + "e" + strconv.FormatInt(d.exp, 10)
	case d.exp <= 0:
		return sign + "0." + strings.Repeat("0", int(-d.exp)) + d.digits
	case d.exp >= n:
		return sign + d.digits + strings.Repeat("0", int(d.exp-n))
	}
	return sign + d.digits[:d.exp] + "." + d.digits[d.exp:]
}

// Int is n × 10^exp.
func Int(n, exp int64) Decimal {
	digits, neg := strings.CutPrefix(strconv.FormatInt(n, 10), "-")
	return New(neg, digits, "", exp)
}

// maxWhole bounds the whole numbers that floor returns.
const maxWhole = int64(1e18)

// Floor is the largest whole number that is not above d, within ±maxWhole.
func (d Decimal) Floor() int64 {
	whole := int64(0)
	switch {
	case d.exp > 18:
		whole = maxWhole
	case d.exp > 0:
		digits := d.digits[:min(int64(len(d.digits)), d.exp)]
		whole, _ = strconv.ParseInt(digits+strings.Repeat("0", int(d.exp)-len(digits)), 10, 64)
	}
	if !d.neg {
		return whole
	}
	if int64(len(d.digits)) > d.exp {
		whole++
	}
	return -whole
}

// Shift is d × 10^n.
func (d Decimal) Shift(n int64) Decimal {
	if d.digits != "" {
		d.exp += n
	}
	return d
}
