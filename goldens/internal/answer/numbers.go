// Package answer reads what the text of an answer says: its numbers, its dates, and
// which number is next to which name.
package answer

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// Text is what an answer's text says in numbers and dates.
type Text struct {
	Numbers []decimal.Decimal // in order, without those that belong to dates or identifiers
	at      []span            // of each number, in bytes of the text's normal form
	Dates   []Date
}

// Has reports whether the answer has a number of this value.
func (a Text) Has(want decimal.Decimal) bool {
	return slices.Contains(a.Numbers, want)
}

// The marks readAnswer's normal form uses for characters of many scripts.
const (
	groupMark = '\x1f' // a space or mark that groups digits: no-break, thin, Arabic
	minus     = '-'
)

// Read finds the numbers and dates of an answer. Year is the task's own:
// it tells years from counts. Digits of every script count. A number may be
// grouped by commas, apostrophes, no-break or thin spaces, or by dots if that
// leaves no doubt (1.234.567; but 1.234 is a decimal), and may have an exponent
// of up to three digits. A percent sign is a unit: 25% is 25. Digits attached
// to letters are an identifier, an ordinal or a measure (G01, gpt-4, 3rd, 12k).
func Read(text string, year int) Text {
	if strings.IndexFunc(text, unicode.IsDigit) < 0 {
		return Text{}
	}
	dates := dateReader{text: normalForm(text), year: year}
	dates.read()
	s := numberScanner{text: dates.text}
	s.scan()
	return Text{Numbers: s.numbers, at: s.at, Dates: dates.dates}
}

// normalForm maps digits, signs and separators of all scripts to one form each.
func normalForm(text string) []byte {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && r != blank && r != groupMark:
			out = append(out, byte(r))
		case unicode.IsDigit(r):
			out = append(out, '0'+tool.DigitValue(r))
		case strings.ContainsRune("\u00a0\u202f\u2009\u2007\u066c\u2008", r):
			out = append(out, groupMark)
		case strings.ContainsRune("\u2212\ufe63\uff0d", r):
			out = append(out, minus)
		case r == '\u066b' || r == '\uff0e':
			out = append(out, '.')
		case r == '\u2019':
			out = append(out, '\'')
		case r == '\uff05':
			out = append(out, '%')
		case r == blank || r == groupMark:
			out = append(out, ' ')
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

// numberScanner reads numbers from text in normal form, dates blanked out.
type numberScanner struct {
	text    []byte
	numbers []decimal.Decimal
	at      []span
}

func (s *numberScanner) add(n decimal.Decimal, start, end int) {
	s.numbers, s.at = append(s.numbers, n), append(s.at, span{start, end})
}

func (s *numberScanner) scan() {
	for i := 0; i < len(s.text); {
		if !isDigit(s.text[i]) {
			i++
			continue
		}
		end := s.run(i)
		exponent := s.exponent(end)
		tail := end + len(exponent)
		if !s.attached(i, tail) {
			s.read(i, end, exponent)
		}
		i = tail
	}
}

// run is the end of the digits from i on, with single separators between them.
func (s *numberScanner) run(i int) int {
	for i < len(s.text) {
		if !isDigit(s.text[i]) && (!isSeparator(s.text[i]) || i+1 == len(s.text) || !isDigit(s.text[i+1])) {
			break
		}
		i++
	}
	return i
}

// exponent is the exponent that begins at i, or "".
func (s *numberScanner) exponent(i int) string {
	if i == len(s.text) || s.text[i] != 'e' && s.text[i] != 'E' {
		return ""
	}
	j := i + 1
	if j < len(s.text) && (s.text[j] == '+' || s.text[j] == minus) {
		j++
	}
	digits := j
	for j < len(s.text) && isDigit(s.text[j]) {
		j++
	}
	if j == digits || j-digits > 3 {
		return "" // what follows then is a letter: an identifier
	}
	return string(s.text[i:j])
}

// attached reports whether the digits from start to end are part of a word.
func (s *numberScanner) attached(start, end int) bool {
	before, size := utf8.DecodeLastRune(s.text[:start])
	if before == minus || before == '_' {
		outer, _ := utf8.DecodeLastRune(s.text[:start-size])
		if isWordRune(outer) || before == '_' && isASCIIDigit(outer) {
			return true
		}
	}
	after, size := utf8.DecodeRune(s.text[end:])
	if after == '_' {
		outer, _ := utf8.DecodeRune(s.text[end+size:])
		return isWordRune(outer) || isASCIIDigit(outer)
	}
	return isWordRune(before) || isWordRune(after)
}

// negative reports whether a minus belongs to the number at start: -5 and -$5,
// but not 3-5.
func (s *numberScanner) negative(start int) bool {
	before, size := utf8.DecodeLastRune(s.text[:start])
	if unicode.Is(unicode.Sc, before) {
		start -= size
		before, size = utf8.DecodeLastRune(s.text[:start])
	}
	if before != minus {
		return false
	}
	outer, _ := utf8.DecodeLastRune(s.text[:start-size])
	return !isASCIIDigit(outer) && outer != minus && outer != blank && outer != ')' && outer != '%'
}

// read adds the number or numbers of one run of digits and separators.
func (s *numberScanner) read(start, end int, exponent string) {
	run := string(s.text[start:end])
	exp := int64(0)
	if exponent != "" {
		exp, _ = decimal.ParseExponent(exponent)
	}
	if whole, fraction, ok := splitNumber(run); ok {
		s.add(decimal.New(s.negative(start), whole, fraction, exp), start, end+len(exponent))
		return
	}
	// Not one number. Commas, spaces and apostrophes then part a list; dots make
	// a version or an address, which is not a number.
	at := start
	for i, part := range strings.FieldsFunc(run, func(r rune) bool { return r == ',' || r == groupMark || r == '\'' }) {
		if whole, fraction, ok := splitNumber(part); ok {
			s.add(decimal.New(i == 0 && s.negative(start), whole, fraction, 0), at, at+len(part))
		}
		at += len(part) + 1 // separators are single
	}
}

// splitNumber takes a run of digits and separators apart if it is one number.
func splitNumber(run string) (whole, fraction string, ok bool) {
	i := strings.IndexFunc(run, func(r rune) bool { return r < '0' || r > '9' })
	if i < 0 {
		return run, "", true
	}
	group := run[i]
	head, tail := run, ""
	if j := strings.LastIndexFunc(run, func(r rune) bool { return (r == '.' || r == ',') && byte(r) != group }); j >= 0 {
		head, tail = run[:j], run[j+1:]
	}
	parts := strings.Split(head, string(rune(group)))
	grouped := validGroups(parts) && (group != '.' || len(parts) > 2 || tail != "")
	switch {
	case grouped && !strings.ContainsAny(tail, ".,'\x1f"):
		return strings.Join(parts, ""), tail, true
	case tail == "" && len(parts) == 2 && (group == '.' || group == ',') && onlyDigits(parts[1]):
		return parts[0], parts[1], true
	}
	return "", "", false
}

// validGroups reports whether the parts are the thousands of one number.
func validGroups(parts []string) bool {
	return len(parts[0]) <= 3 && parts[0][0] != '0' &&
		!slices.ContainsFunc(parts[1:], func(p string) bool { return len(p) != 3 || !onlyDigits(p) })
}

func onlyDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

func isASCIIDigit(r rune) bool { return '0' <= r && r <= '9' }

func isSeparator(b byte) bool { return bytes.IndexByte([]byte(".,'\x1f"), b) >= 0 }

// isWordRune reports whether digits next to r are part of a word. In scripts
// written without spaces a letter beside a number is another word.
func isWordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if unicode.IsDigit(r) || r == utf8.RuneError {
		return false
	}
	return unicode.IsNumber(r) || unicode.IsLetter(r) && !unicode.In(r, tool.Unspaced...)
}
