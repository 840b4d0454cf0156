package tool

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// RefusesValueIn reports whether text, in any language, contains a value that no
// tool of s accepts. Two sorts of values are recognised by their form alone:
//
//   - a date with a year from 1900 to 2099 that is on no calendar, such as 2026-02-30,
//     30.02.2026, 2026年2月30日 or ٢٠٢٦-٠٢-٣٠, where a tool has a date as an argument;
//   - NAME=VALUE and NAME: VALUE, where NAME is that of an argument and RefusesArgument
//     returns true.
func (s *Set) RefusesValueIn(text string) bool {
	text = plainText(text)
	if s.takesDates() && hasImpossibleDate(text) {
		return true
	}
	for _, m := range namedValue.FindAllStringSubmatch(text, -1) {
		value := strings.TrimRight(m[4]+m[5], ".!?")
		switch bare := strings.Trim(value, "“”„«»‹›「」『』‘’"); {
		case value == "":
			value = strings.Trim(m[2]+m[3], `"'`)
		case bare == value && strings.ContainsFunc(value, func(r rune) bool { return unicode.In(r, Unspaced...) }):
			continue // where it ends is not clear
		default:
			value = bare
		}
		tail := strings.TrimLeftFunc(m[1], func(r rune) bool { return unicode.In(r, Unspaced...) })
		if value != "" && (s.refusesAllReadings(m[1], value) || s.refusesAllReadings(tail, value)) {
			return true
		}
	}
	return false
}

// RefusesArgument reports whether every argument of that name, of any tool,
// refuses the value: by its schema, or as a date that is on no calendar. It is false
// where no tool has such an argument.
func (s *Set) RefusesArgument(name string, value json.RawMessage) bool {
	v, _, ok := ParseJSON(string(value))
	return ok && s.refuses(name, v.Decoded())
}

// refusesAllReadings reports whether an argument refuses a value of a text, read as a
// string in any case and as what it is in JSON.
func (s *Set) refusesAllReadings(name, value string) bool {
	if !s.refuses(name, value) || !s.refuses(name, strings.ToLower(value)) {
		return false
	}
	v, _, ok := ParseJSON(value)
	return !ok || s.refuses(name, v.Decoded())
}

func (s *Set) refuses(name string, value any) bool {
	refused := false
	text, isText := value.(string)
	for _, spec := range s.Specs() {
		t := s.tools[spec.Name]
		argument := t.schema.Properties[name]
		if argument == nil {
			continue
		}
		impossible := isText && t.isDate(name) && hasImpossibleDate(plainText(text))
		if !impossible && argument.Validate(value) == nil {
			return false
		}
		refused = true
	}
	return refused
}

// takesDates reports whether a tool has a date as an argument.
func (s *Set) takesDates() bool {
	for _, spec := range s.Specs() {
		if t := s.tools[spec.Name]; slices.ContainsFunc(t.fields, t.isDate) {
			return true
		}
	}
	return false
}

// isDate reports whether an argument is a date: its format says so, or it takes a day
// of the calendar and refuses a word and a number that are as long.
func (t compiled) isDate(field string) bool {
	properties, _ := t.tree.Get("properties")
	declared, _ := properties.Get(field)
	if format, _ := declared.Get("format"); format.Text() == "date" || format.Text() == "date-time" {
		return true
	}
	argument := t.schema.Properties[field]
	takes := func(text string) bool { return argument != nil && argument.Validate(text) == nil }
	return takes("2024-02-29") && !takes("abcdefghij") && !takes("99999-9999") ||
		takes("2024-02-29T00:00:00Z") && !takes("abcdefghijklmnopqrst") && !takes("99999-99999999999999")
}

// namedValue is NAME=VALUE, or NAME: VALUE where that is all up to the next separator.
// Its groups are the name, a value behind =, one in double and one in single quotes,
// and one behind a colon.
var namedValue = lazyregexp.New(`(?m)([\pL\pN_][\pL\pN_.-]*)["']?[ \t]?(?:[=:][ \t]?(?:("[^"\n]*")|('[^'\n]*'))|=[ \t]?([^\s,;、。&(){}\[\]"'=]+)|:[ \t]?([^\s,;、。&(){}\[\]"'=]+)[ \t]*(?:[,;、。)}\]]|$))`)

// plainText writes the digits of every script as 0 to 9, and the wide forms of the
// marks between them as the narrow ones.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return rune('0' + DigitValue(r))
		case r == '\u2010' || r == '\u2011' || r == '\u2212':
			return '-'
		case '\uff01' <= r && r <= '\uff5e':
			return r - '\uff01' + '!'
		case r == '\u00a0' || r == '\u3000' || r == '\u202f':
			return ' '
		}
		return r
	}, text)
}

// Unspaced are scripts that put no space between words, or between a number and its
// counting word.
var Unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// DigitValue is the value of a decimal digit of any script. Unicode lays the digits of
// a script out in order, and every range of Nd starts with a zero.
func DigitValue(r rune) byte {
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return byte((r - rune(t.Lo)) % 10)
		}
	}
	return 0
}

// The forms of a date in digits, with the places of year, month and day. In the
// second form the day or the month may come first: both are tried.
var dateForms = []struct {
	form             *lazyregexp.Regexp
	year, month, day int
}{
	{lazyregexp.New(`(\d{4})([-/.])(\d{1,2})([-/.])(\d{1,2})`), 1, 3, 5},
	{lazyregexp.New(`(\d{1,2})([-/.])(\d{1,2})([-/.])(\d{4})`), 5, 3, 1},
	{lazyregexp.New(`(\d{4})( ?[年년]) ?(\d{1,2})( ?[月월]) ?(\d{1,2})`), 1, 3, 5},
}

// hasImpossibleDate reports whether a text of plain digits has a date that is on no
// calendar.
func hasImpossibleDate(text string) bool {
	for i, f := range dateForms {
		for _, at := range f.form.FindAllStringSubmatchIndex(text, -1) {
			part := func(group int) string { return text[at[2*group]:at[2*group+1]] }
			if mark := part(2); attached(text, at[0], at[1], mark) || i < 2 && mark != part(4) {
				continue
			}
			year, month, day := part(f.year), part(f.month), part(f.day)
			possible := isDay(year, month, day) || f.day == 1 && isDay(year, day, month)
			if "1900" <= year && year <= "2099" && !possible {
				return true
			}
		}
	}
	return false
}

// attached reports whether what is around a date makes it part of something longer: a
// number, a name or a path.
func attached(text string, start, end int, mark string) bool {
	if start > 0 {
		if before := text[start-1]; isWordByte(before) || strings.IndexByte("-/._", before) >= 0 {
			return true
		}
	}
	rest := text[end:]
	if rest == "" || '0' <= rest[0] && rest[0] <= '9' {
		return rest != ""
	}
	return strings.HasPrefix(rest, mark) && len(rest) > len(mark) && isWordByte(rest[len(mark)])
}

func isWordByte(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// isDay reports whether the calendar has a day.
func isDay(year, month, day string) bool {
	y, _ := strconv.Atoi(year)
	m, _ := strconv.Atoi(month)
	d, _ := strconv.Atoi(day)
	t := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return t.Month() == time.Month(m) && t.Day() == d
}
