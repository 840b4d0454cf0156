package sim

import (
	"fmt"
	"time"
)

// day is a calendar day, as midnight UTC. It comes from texts, never a clock.
type day struct{ t time.Time }

// dayOf makes a day and says whether the calendar has it.
func dayOf(year, month, d int) (day, bool) {
	if year < 1 || year > 9999 || month < 1 || month > 12 || d < 1 {
		return day{}, false
	}
	t := time.Date(year, time.Month(month), d, 0, 0, 0, 0, time.UTC)
	return day{t}, t.Day() == d
}

// parseDay reads YYYY-MM-DD.
func parseDay(s string) (day, bool) {
	t, err := time.Parse(time.DateOnly, s)
	return day{t}, err == nil
}

func (d day) String() string       { return d.t.Format(time.DateOnly) }
func (d day) add(n int) day        { return day{d.t.AddDate(0, 0, n)} }
func (d day) addMonths(n int) day  { return day{d.t.AddDate(0, n, 0)} }
func (d day) before(e day) bool    { return d.t.Before(e.t) }
func (d day) monthStart() day      { return d.add(1 - d.t.Day()) }
func (d day) until(e day) int      { return int(e.t.Sub(d.t).Hours()/24) + 1 }
func (d day) year() int            { return d.t.Year() }
func (d day) monthOf() int         { return int(d.t.Month()) }
func (d day) weekday() int         { return (int(d.t.Weekday())+6)%7 + 1 } // 1 Monday … 7 Sunday
func (d day) weekStart(by int) day { return d.add(-((d.weekday() - by + 7) % 7)) }

// dateRange is an inclusive range of days.
type dateRange struct{ from, to day }

func (s dateRange) days() int { return s.from.until(s.to) }

// String names the stretch: a day, or "from A to B".
func (s dateRange) String() string {
	if s.from == s.to {
		return "on " + s.from.String()
	}
	return fmt.Sprintf("from %s to %s", s.from, s.to)
}

// frame is what relative dates refer to.
type frame struct {
	today     day
	weekBegin int // 1 Monday … 7 Sunday
}

// period returns the calendar period around d, shifted by n periods, whole.
func (f frame) period(unit int, d day, n int) dateRange {
	switch unit {
	case weeks:
		start := d.weekStart(f.weekBegin).add(7 * n)
		return dateRange{start, start.add(6)}
	case months:
		start := d.monthStart().addMonths(n)
		return dateRange{start, start.addMonths(1).add(-1)}
	case quarters:
		start := d.monthStart().addMonths(-((d.monthOf() - 1) % 3)).addMonths(3 * n)
		return dateRange{start, start.addMonths(3).add(-1)}
	case years:
		start, _ := dayOf(d.year()+n, 1, 1)
		end, _ := dayOf(d.year()+n, 12, 31)
		return dateRange{start, end}
	case weekends:
		saturday := d.weekStart(1).add(5 + 7*n)
		return dateRange{saturday, saturday.add(1)}
	}
	return dateRange{d.add(n), d.add(n)}
}

// toDate is the current period up to today.
func (f frame) toDate(unit int) dateRange {
	p := f.period(unit, f.today, 0)
	if unit == weekends && f.today.before(p.from) {
		return p
	}
	return dateRange{p.from, earlier(p.to, f.today)}
}

// trailing is the last n units up to and including today.
func (f frame) trailing(unit, n int) dateRange {
	switch unit {
	case weeks:
		n *= 7
	case months:
		return dateRange{f.today.addMonths(-n).add(1), f.today}
	case quarters:
		return dateRange{f.today.addMonths(-3 * n).add(1), f.today}
	case years:
		return dateRange{f.today.addMonths(-12 * n).add(1), f.today}
	}
	return dateRange{f.today.add(1 - n), f.today}
}

// lastWeekday is the latest given weekday up to d, d included.
func lastWeekday(d day, weekday int) day { return d.add(-((d.weekday() - weekday + 7) % 7)) }

func earlier(a, b day) day {
	if b.before(a) {
		return b
	}
	return a
}
