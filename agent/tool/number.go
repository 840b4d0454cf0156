package tool

import (
	"slices"
	"strconv"
	"strings"
)

// decimal is an exact number: ±0.DIGITS × 10^point, without zeros at either end
// of digits. Zero has no digits.
type decimal struct {
	negative bool
	digits   string
	point    int
}

// parseDecimal reads a JSON number. ok is false if its exponent does not fit.
func parseDecimal(lexeme string) (d decimal, ok bool) {
	d.negative = strings.HasPrefix(lexeme, "-")
	mantissa := strings.TrimPrefix(lexeme, "-")
	if e := strings.IndexAny(mantissa, "eE"); e >= 0 {
		exp, err := strconv.ParseInt(mantissa[e+1:], 10, 32)
		if err != nil {
			return d, false
		}
		d.point = int(exp)
		mantissa = mantissa[:e]
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	d.point += len(whole)
	all := whole + frac
	d.digits = strings.TrimLeft(all, "0")
	d.point -= len(all) - len(d.digits)
	d.digits = strings.TrimRight(d.digits, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func (d decimal) isInteger() bool { return d.point >= len(d.digits) }

// appendNumber writes a number as ECMAScript prints the nearest float64, unless
// that would lose an integer's digits or a magnitude beyond float64. Equal
// numbers give equal text, and so do fractions that round to one float64.
func appendNumber(out []byte, lexeme string) []byte {
	d, ok := parseDecimal(lexeme)
	if !ok {
		return append(out, lexeme...)
	}
	if d.digits == "" {
		return append(out, '0')
	}
	f, err := strconv.ParseFloat(lexeme, 64)
	if err != nil || f == 0 {
		return d.appendScientific(out, false)
	}
	shortest, _ := parseDecimal(strconv.FormatFloat(f, 'e', -1, 64))
	if d.isInteger() && shortest != d {
		return d.appendPlain(out)
	}
	if shortest.point > 21 || shortest.point < -5 {
		return shortest.appendScientific(out, true)
	}
	return shortest.appendPlain(out)
}

// appendPlain writes d without an exponent.
func (d decimal) appendPlain(out []byte) []byte {
	if d.negative {
		out = append(out, '-')
	}
	if d.point <= 0 {
		out = append(out, "0."...)
		out = append(out, strings.Repeat("0", -d.point)...)
		return append(out, d.digits...)
	}
	if d.isInteger() {
		out = append(out, d.digits...)
		return append(out, strings.Repeat("0", d.point-len(d.digits))...)
	}
	out = append(out, d.digits[:d.point]...)
	return append(append(out, '.'), d.digits[d.point:]...)
}

// appendScientific writes d as D.DDDeN, with a plus sign before a positive N if asked.
func (d decimal) appendScientific(out []byte, plus bool) []byte {
	if d.negative {
		out = append(out, '-')
	}
	out = append(out, d.digits[0])
	if len(d.digits) > 1 {
		out = append(append(out, '.'), d.digits[1:]...)
	}
	out = append(out, 'e')
	if plus && d.point > 0 {
		out = append(out, '+')
	}
	return strconv.AppendInt(out, int64(d.point-1), 10)
}

// maxExponentDigits bounds exponents that are handed to exact arithmetic, which
// would expand 1e999999999 to a billion digits.
const maxExponentDigits = 4

// hasHugeNumber reports a number in v whose exponent is too long to calculate with.
func hasHugeNumber(v JSON) bool {
	if v.Kind == '0' {
		e := strings.IndexAny(v.Raw, "eE")
		return e >= 0 && len(strings.TrimLeft(v.Raw[e+1:], "+-0")) > maxExponentDigits
	}
	for _, m := range v.Members {
		if hasHugeNumber(m.Value) {
			return true
		}
	}
	return slices.ContainsFunc(v.Elems, hasHugeNumber)
}
