package sim

import "fmt"

// span is a date expression of a request. It is absolute, relative to today, or
// impossible.
type span struct {
	// fixed is the stretch of an absolute expression.
	fixed dateRange
	// relative resolves an expression that needs to know today; nil otherwise.
	relative func(frame) dateRange
	// bad is a date that no calendar has, as YYYY-MM-DD; empty otherwise.
	bad string
	// unclear says that the day and the month could be either way round; fixed is
	// then one reading and other the second.
	unclear bool
	other   day
	// badEnd says that bad is the end of a range.
	badEnd bool
	// yearless is set while the year may still come from a neighbour.
	yearless *monthDay
	// isWeekday is set for a bare weekday.
	isWeekday bool
	// single says that the expression names one day.
	single bool
	// joined says that it was written as a range of two dates.
	joined bool
	// at is where in the request the expression begins.
	at int
	// known is the year of an absolute expression, 0 otherwise.
	year int
}

// monthDay is a day of a month, or with day 0 the whole month.
type monthDay struct{ month, day int }

// dateSpan is one day, which may turn out not to exist.
func dateSpan(year, month, d int) span {
	at, ok := dayOf(year, month, d)
	if !ok {
		return span{bad: fmt.Sprintf("%04d-%02d-%02d", year, month, d), single: true, year: year}
	}
	return span{fixed: dateRange{at, at}, single: true, year: year}
}

// eitherSpan is a date in numbers whose first two may be month and day or day
// and month. The month-first reading is taken where only it makes a date, the
// other one where only that does.
func eitherSpan(year, a, b int) span {
	monthFirst, dayFirst := dateSpan(year, a, b), dateSpan(year, b, a)
	switch {
	case monthFirst.bad != "" && dayFirst.bad == "":
		return dayFirst
	case monthFirst.bad == "" && dayFirst.bad == "" && a != b:
		monthFirst.unclear, monthFirst.other = true, dayFirst.fixed.from
	}
	return monthFirst
}

// monthSpan is a whole month.
func monthSpan(year, month int) span {
	first, ok := dayOf(year, month, 1)
	if !ok {
		return span{bad: fmt.Sprintf("%04d-%02d", year, month), year: year}
	}
	return span{fixed: frame{}.period(months, first, 0), year: year}
}

func relativeSpan(single bool, at func(frame) dateRange) span {
	return span{relative: at, single: single}
}

func relativeDay(at func(frame) day) span {
	return relativeSpan(true, func(f frame) dateRange { return dateRange{at(f), at(f)} })
}

// yearlessSpan is a month or a day of one, in the latest year in which it is not
// in the future.
func yearlessSpan(md monthDay) span {
	s := relativeSpan(md.day > 0, func(f frame) dateRange {
		year := f.today.year()
		at := md.in(year)
		if at.bad != "" || f.today.before(at.fixed.from) {
			at = md.in(year - 1)
		}
		return at.fixed
	})
	if md.day > 0 && md.in(2024).bad != "" { // not even in a leap year
		s = md.in(2024)
		s.bad = s.bad[len("2024-"):]
	}
	s.yearless = &md
	return s
}

// in puts a monthDay into a year.
func (md monthDay) in(year int) span {
	if md.day == 0 {
		return monthSpan(year, md.month)
	}
	return dateSpan(year, md.month, md.day)
}

// resolve gives the stretch, once today is known.
func (s span) resolve(f frame) dateRange {
	if s.relative != nil {
		return s.relative(f)
	}
	return s.fixed
}

// shareYear gives a yearless span its neighbour's year. Of a range, the end may
// lie in the next year, and the beginning in the previous one.
func shareYear(a, b span, isRange bool) (span, span) {
	switch {
	case a.yearless != nil && b.yearless == nil && b.year != 0:
		in := a.yearless.in(b.year)
		if isRange && in.bad == "" && b.bad == "" && b.fixed.from.before(in.fixed.from) {
			in = a.yearless.in(b.year - 1)
		}
		in.at = a.at
		return in, b
	case b.yearless != nil && a.yearless == nil && a.year != 0:
		in := b.yearless.in(a.year)
		if isRange && in.bad == "" && a.bad == "" && in.fixed.to.before(a.fixed.from) {
			in = b.yearless.in(a.year + 1)
		}
		in.at = b.at
		return a, in
	}
	return a, b
}

// join makes the range from the beginning of a to the end of b.
func join(a, b span) span {
	out := joined(a, b)
	out.at = a.at
	return out
}

func joined(a, b span) span {
	a, b = shareYear(a, b, true)
	switch {
	case a.bad != "":
		return span{bad: a.bad, joined: true}
	case b.bad != "":
		return span{bad: b.bad, badEnd: true, joined: true}
	case a.unclear || b.unclear:
		if !a.unclear {
			a = b
		}
		a.joined = true
		return a
	case a.relative == nil && b.relative == nil:
		return span{fixed: dateRange{a.fixed.from, b.fixed.to}, joined: true, year: b.year}
	}
	return span{joined: true, relative: func(f frame) dateRange {
		from, to := a.resolve(f).from, b.resolve(f).to
		if to.before(from) && (a.isWeekday || a.yearless != nil) {
			// "Friday to Tuesday", "28 December to 3 January": the beginning
			// comes before the end.
			if a.isWeekday {
				from = from.add(-7)
			} else {
				from = a.yearless.in(to.year() - 1).fixed.from
			}
		}
		return dateRange{from, to}
	}}
}
