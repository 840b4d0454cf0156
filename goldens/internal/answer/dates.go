package answer

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// Date is a day named in an answer; year is 0 when the answer leaves it out.
type Date struct {
	year  int
	month time.Month
	day   int
}

// Names reports whether d names the day of t.
func (d Date) Names(t time.Time) bool {
	return (d.year == 0 || d.year == t.Year()) && d.month == t.Month() && d.day == t.Day()
}

// The shapes of dates and times. Text is normalised first: see readAnswer.
const (
	monthShape = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?`
	dayShape   = `(\d{1,2})(?:st|nd|rd|th)?(?:[-–]\d{1,2}(?:st|nd|rd|th)?)?`
	yearShape  = `(?:,?[ \x1f]+(\d{4})\b)?`
)

var (
	isoDate   = lazyregexp.New(`\b(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})?)?\b`)
	cjkDate   = lazyregexp.New(`(?:(\d{4})[ \x1f]?[年년][ \x1f]?)?(\d{1,2})[ \x1f]?[月월](?:[ \x1f]?(\d{1,2})[ \x1f]?[日号號일])?`)
	monthDay  = lazyregexp.New(`(?i)\b` + monthShape + `[ \x1f]+` + dayShape + `\b` + yearShape)
	dayMonth  = lazyregexp.New(`(?i)\b` + dayShape + `(?:[ \x1f]+of)?[ \x1f]+` + monthShape + `\b` + yearShape)
	monthYear = lazyregexp.New(`(?i)\b` + monthShape + `[ \x1f]+(\d{4})\b`)
	yearMonth = lazyregexp.New(`\b(\d{4})-(?:0[1-9]|1[0-2])\b`)
	cjkYear   = lazyregexp.New(`\d{4}[ \x1f]?[年년]`)
	otherDate = lazyregexp.New(`\b\d{1,2}/\d{1,2}/(?:\d{4}|\d{2})\b`)
	clockTime = lazyregexp.New(`\b\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?\b`)
)

// yearSpan is how far from the task's own year a number after a month still is
// a year: in "May 13, 1208 messages" it is a count.
const yearSpan = 10

// dateReader finds dates and blanks them out, so that what is left are numbers.
type dateReader struct {
	text  []byte
	year  int // the task's own
	dates []Date
}

// blank is what takes the place of a date: neither a digit nor a letter.
const blank = 0

func (r *dateReader) read() {
	if !bytes.ContainsAny(r.text, "0123456789") {
		return // every date has a digit
	}
	hyphen, slash := r.holds("-"), r.holds("/")
	if hyphen || slash {
		r.each(isoDate, func(m []int) int { return r.add(m[1], r.number(m, 1), r.number(m, 2), r.number(m, 3)) })
	}
	if r.holds("月", "월") {
		r.each(cjkDate, func(m []int) int { return r.add(m[1], r.number(m, 1), r.number(m, 2), r.number(m, 3)) })
	}
	if r.holds("年", "년") {
		r.each(cjkYear, func(m []int) int { return m[1] })
	}
	if slash {
		r.each(otherDate, func(m []int) int { return m[1] })
	}
	if r.holdsMonth() {
		r.each(monthDay, func(m []int) int { return r.words(m, r.month(m, 1), r.number(m, 2)) })
		r.each(dayMonth, func(m []int) int { return r.words(m, r.month(m, 2), r.number(m, 1)) })
		r.each(monthYear, func(m []int) int { return r.plausible(m, 2) })
	}
	if hyphen {
		r.each(yearMonth, func(m []int) int { return r.plausible(m, 1) })
	}
	if r.holds(":") {
		r.each(clockTime, func(m []int) int { return m[1] })
	}
}

// holds reports whether one of marks is in the text: every match of an
// expression contains one, so most texts need no match of the expression.
func (r *dateReader) holds(marks ...string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.Contains(r.text, []byte(mark)) })
}

// holdsMonth reports whether the name of a month may be in the text. The
// expressions fold case beyond ASCII: an answer in another script may hold one.
func (r *dateReader) holdsMonth() bool {
	for i, b := range r.text {
		if b >= utf8.RuneSelf {
			return true
		}
		if i < 2 {
			continue
		}
		switch string([]byte{r.text[i-2] | 0x20, r.text[i-1] | 0x20, b | 0x20}) {
		case "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec":
			return true
		}
	}
	return false
}

// each blanks the start of every match, up to where blankTo says; 0 leaves it.
func (r *dateReader) each(shape *lazyregexp.Regexp, blankTo func([]int) int) {
	for _, m := range shape.FindAllSubmatchIndex(r.text, -1) {
		end := blankTo(m)
		for i := m[0]; i < end; i++ {
			r.text[i] = blank
		}
	}
}

// add notes a date written with a numeric month; day 0 is a whole month.
func (r *dateReader) add(end, year, month, day int) int {
	if month >= 1 && month <= 12 && day >= 1 && day <= 31 {
		r.dates = append(r.dates, Date{year, time.Month(month), day})
	}
	return end
}

// words notes a date written with a month's name, whose year is group 3.
func (r *dateReader) words(m []int, month, day int) int {
	end := m[1]
	year := r.number(m, 3)
	if year != 0 && (!r.near(year) || r.continues(end)) {
		year, end = 0, r.trimYear(m)
	}
	if day < 1 || day > 31 || year == 0 && r.continues(end) {
		return 0 // May 1,208: a number
	}
	r.dates = append(r.dates, Date{year, time.Month(month), day})
	return end
}

// trimYear is the end of the match without its year and the space before it.
func (r *dateReader) trimYear(m []int) int {
	end := m[6]
	for end > m[0] && strings.IndexByte(" ,\x1f", r.text[end-1]) >= 0 {
		end--
	}
	return end
}

// plausible blanks the match if its group is a year near the task's.
func (r *dateReader) plausible(m []int, group int) int {
	if !r.near(r.number(m, group)) || r.continues(m[1]) {
		return 0
	}
	return m[1]
}

func (r *dateReader) near(year int) bool {
	if r.year <= 1 { // a task without a clock
		return year >= 1900 && year < 2100
	}
	return year >= r.year-yearSpan && year <= r.year+yearSpan
}

// continues reports whether a number continues behind end: ",208" or ".5".
func (r *dateReader) continues(end int) bool {
	return end+1 < len(r.text) && (r.text[end] == ',' || r.text[end] == '.' || r.text[end] == groupMark) && isDigit(r.text[end+1])
}

// number is a submatch as a number, 0 when it took no part.
func (r *dateReader) number(m []int, group int) int {
	if m[2*group] < 0 {
		return 0
	}
	n, _ := strconv.Atoi(string(r.text[m[2*group]:m[2*group+1]])) // at most four digits
	return n
}

func (r *dateReader) month(m []int, group int) int {
	const first = "janfebmaraprmayjunjulaugsepoctnovdec"
	name := strings.ToLower(string(r.text[m[2*group] : m[2*group]+3]))
	return strings.Index(first, name)/3 + 1
}
