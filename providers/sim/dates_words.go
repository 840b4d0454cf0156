package sim

// monthFirst reads "May 3rd, 2026", "May 1-7, 2026", "May 1, 2 and 3", "April
// 2026" and "April".
func monthFirst(items []item, _ language) ([]span, int) {
	if !concepts(items, month) {
		return nil, 0
	}
	m := items[0].n
	if y, n := yearAt(items, 1); n > 0 {
		return []span{monthSpan(y, m)}, 1 + n
	}
	days, ranged, n := dayNumbers(items[1:])
	if n == 0 {
		return []span{yearlessSpan(monthDay{month: m})}, 1
	}
	y, yn := yearAt(items, 1+n)
	return daySpans(y, m, days, ranged), 1 + n + yn
}

// dayFirst reads "3 May 2026", "3rd of May", "1 to 7 May 2026", "8, 9 and 10
// May".
func dayFirst(items []item, _ language) ([]span, int) {
	days, ranged, n := dayNumbers(items)
	if n == 0 {
		return nil, 0
	}
	i := n
	for i < len(items) && i < n+2 && (items[i].concept == of || items[i].concept == filler) {
		i++
	}
	if i >= len(items) || items[i].concept != month {
		return nil, 0
	}
	y, yn := yearAt(items, i+1)
	return daySpans(y, items[i].n, days, ranged), i + 1 + yn
}

// dayNumbers reads one or more days of a month: "3rd", "1 to 7", "1-7", "8, 9
// and 10". It says whether they are the two ends of a range.
func dayNumbers(items []item) (list []int, ranged bool, n int) {
	for i := 0; i < len(items); {
		for i < len(items) && len(list) > 0 && items[i].concept == filler && !ordinal(items, i) {
			i++
		}
		if d := numberAt(items, i); (d < 0 || d > 99 || len(items[i].text) > 2) && !concepts(items[i:], nth) {
			break
		}
		list = append(list, items[i].n)
		if i++; ordinal(items, i) {
			i++
		}
		n = i
		switch {
		case i >= len(items), ranged:
			return list, ranged, n
		case len(list) == 1 && (items[i].concept == to || items[i].concept == until || items[i].text == "-"):
			ranged = true
		case items[i].concept == and || items[i].text == ",":
			if is(items, i, ",") && i+1 < len(items) && items[i+1].concept == and {
				i++
			}
		default:
			return list, false, n
		}
		i++
	}
	return list, ranged && len(list) == 2, n
}

// ordinal reports whether items[i] is the ending of an ordinal number.
func ordinal(items []item, i int) bool {
	if i >= len(items) || !items[i].glued {
		return false
	}
	switch items[i].text {
	case "st", "nd", "rd", "th", "er", ".", "º":
		return true
	}
	return false
}

// daySpans puts days into a month; year 0 means that none was given.
func daySpans(year, m int, days []int, ranged bool) []span {
	spans := make([]span, len(days))
	for i, d := range days {
		if year == 0 {
			spans[i] = yearlessSpan(monthDay{m, d})
		} else {
			spans[i] = dateSpan(year, m, d)
		}
	}
	if ranged && len(spans) == 2 {
		return []span{join(spans[0], spans[1])}
	}
	return spans
}

// quarterOfYear reads "Q1 2026" and "first quarter of 2026"; without a year it
// is the latest such quarter that has begun.
func quarterOfYear(items []item, _ language) ([]span, int) {
	q, i := 0, 2
	switch {
	case is(items, 0, "q") && len(items) > 1 && items[1].glued:
		q = numberAt(items, 1)
	case concepts(items, nth, unit) && items[1].n == quarters:
		q = items[0].n
	}
	if q < 1 || q > 4 {
		return nil, 0
	}
	if y, n := yearAt(items, i); n > 0 {
		first, _ := dayOf(y, 3*q-2, 1)
		return []span{{fixed: frame{}.period(quarters, first, 0), year: y}}, i + n
	}
	return []span{relativeSpan(false, func(f frame) dateRange {
		first, _ := dayOf(f.today.year(), 3*q-2, 1)
		if f.today.before(first) {
			first = first.addMonths(-12)
		}
		return f.period(quarters, first, 0)
	})}, i
}

// weekAround reads "week of 2026-05-04".
func weekAround(items []item, lang language) ([]span, int) {
	if !concepts(items, weekOf) {
		return nil, 0
	}
	i := 1
	for i < len(items) && items[i].concept == filler {
		i++
	}
	if i >= len(items) {
		return nil, 0
	}
	spans, n := dateAt(items, i, lang)
	if n == 0 || !spans[0].single {
		return nil, 0
	}
	around := spans[0]
	if around.bad != "" {
		return spans[:1], i + n
	}
	return []span{relativeOrFixed(around, func(f frame, s dateRange) dateRange { return f.period(weeks, s.from, 0) })}, i + n
}

// relativeOrFixed derives a span from another. What a week is depends on the
// frame, so the outcome resolves late; but it asks for today only if s does.
func relativeOrFixed(s span, derive func(frame, dateRange) dateRange) span {
	if s.relative != nil {
		return relativeSpan(false, func(f frame) dateRange { return derive(f, s.relative(f)) })
	}
	return span{fixed: derive(frame{weekBegin: 1}, s.fixed), year: s.year}
}

// countedPeriod reads "last 7 days", "past week", "7 derniers jours".
func countedPeriod(items []item, _ language) ([]span, int) {
	n, i := 1, 0
	switch {
	case concepts(items, past, number, unit), concepts(items, last, number, unit), concepts(items, this, number, unit):
		n, i = items[1].n, 2
	case concepts(items, number, past, unit), concepts(items, number, last, unit):
		n, i = items[0].n, 2
	case concepts(items, past, unit):
		if items[1].n == quarters || items[1].n == years || items[1].n == weekends {
			return whole(items[1].n, -1), 2
		}
		i = 1
	default:
		return nil, 0
	}
	if n < 1 || n > 4000 {
		return nil, 0
	}
	u := items[i].n
	if u == weekends {
		return nil, 0
	}
	until, used := todayCounts(items[i+1:])
	return []span{relativeSpan(n == 1 && u == days, func(f frame) dateRange {
		f.today = f.today.add(until)
		return f.trailing(u, n)
	})}, i + 1 + used
}

// todayCounts reads what may follow a counted period: "including today", "today
// included", "not counting today". It returns the offset of the period's end
// from today and the items it took.
func todayCounts(items []item) (offset, n int) {
	if is(items, 0, ",") {
		n++
	}
	excluded := false
	for n < len(items) && (items[n].concept == filler || items[n].concept == except) {
		excluded = excluded || items[n].concept == except
		n++
	}
	if n >= len(items) || items[n].concept != named || items[n].n != 0 {
		return 0, 0
	}
	n++
	if n < len(items) && (items[n].concept == filler || items[n].concept == except) {
		excluded = excluded || items[n].concept == except
		n++
	}
	if excluded {
		return -1, n
	}
	return 0, n
}

// namedPeriod reads "this week", "last month", "semana pasada", "next quarter",
// "month to date", "mtd". The current period ends today.
func namedPeriod(items []item, _ language) ([]span, int) {
	switch {
	case concepts(items, this, unit), concepts(items, unit, toDate):
		u := items[0].n
		if items[0].concept == this {
			u = items[1].n
		}
		return current(u), 2
	case concepts(items, unitToDate):
		return current(items[0].n), 1
	case concepts(items, last, unit):
		return whole(items[1].n, -1), 2
	case concepts(items, unit, last):
		return whole(items[0].n, -1), 2
	case concepts(items, unit, past): // "la semana ultima"
		return whole(items[0].n, -1), 2
	case concepts(items, next, unit):
		return whole(items[1].n, 1), 2
	case concepts(items, unit, next):
		return whole(items[0].n, 1), 2
	case concepts(items, last, month), concepts(items, this, month):
		return []span{yearlessSpan(monthDay{month: items[1].n})}, 2
	}
	return nil, 0
}

func whole(u, n int) []span {
	return []span{relativeSpan(u == days, func(f frame) dateRange { return f.period(u, f.today, n) })}
}

func current(u int) []span {
	return []span{relativeSpan(u == days, func(f frame) dateRange { return f.toDate(u) })}
}

// daysAgo reads "3 days ago", "a week ago", "hace 3 dias", "il y a 3 jours".
func daysAgo(items []item, _ language) ([]span, int) {
	n, u, used := 1, 0, 0
	switch {
	case concepts(items, number, unit, ago):
		n, u, used = items[0].n, items[1].n, 3
	case concepts(items, ago, number, unit):
		n, u, used = items[1].n, items[2].n, 3
	case concepts(items, unit, ago):
		u, used = items[0].n, 2
	default:
		return nil, 0
	}
	if n < 0 || n > 4000 {
		return nil, 0
	}
	return []span{relativeDay(func(f frame) day {
		switch u {
		case weeks:
			return f.today.add(-7 * n)
		case months:
			return f.today.addMonths(-n)
		case years:
			return f.today.addMonths(-12 * n)
		}
		return f.today.add(-n)
	})}, used
}

// lastWeekdayForm reads "last Friday", "viernes pasado", "Friday last week" and
// 上周五, which is the Friday of last week.
func lastWeekdayForm(items []item, lang language) ([]span, int) {
	w := 0
	switch {
	case concepts(items, weekday, last, unit) && items[2].n == weeks:
		return weekdayOf(items[0].n, -1), 3
	case concepts(items, weekday, of, last, unit) && items[3].n == weeks:
		return weekdayOf(items[0].n, -1), 4
	case concepts(items, last, unit, weekday) && items[1].n == weeks:
		return weekdayOf(items[2].n, -1), 3
	case concepts(items, last, weekday) && lang == chinese:
		return weekdayOf(items[1].n, -1), 2
	case concepts(items, this, weekday) && lang == chinese:
		return weekdayOf(items[1].n, 0), 2
	case concepts(items, last, weekday), concepts(items, past, weekday):
		w = items[1].n
	case concepts(items, weekday, last):
		w = items[0].n
	case concepts(items, next, weekday):
		w = items[1].n
		return []span{relativeDay(func(f frame) day { return lastWeekday(f.today.add(7), w) })}, 2
	default:
		return nil, 0
	}
	s := relativeDay(func(f frame) day { return lastWeekday(f.today.add(-1), w) })
	s.isWeekday = true
	return []span{s}, 2
}

func weekdayOf(w, n int) []span {
	return []span{relativeDay(func(f frame) day { return f.period(weeks, f.today, n).from.add((w - f.weekBegin + 7) % 7) })}
}

// bareWeekday reads "Friday", "this Friday": the latest one, today included.
func bareWeekday(items []item, _ language) ([]span, int) {
	n := 0
	if concepts(items, this, weekday) {
		n = 1
	}
	if !concepts(items[n:], weekday) {
		return nil, 0
	}
	w := items[n].n
	s := relativeDay(func(f frame) day { return lastWeekday(f.today, w) })
	s.isWeekday = true
	return []span{s}, n + 1
}

// namedDay reads "today" and its like.
func namedDay(items []item, _ language) ([]span, int) {
	if !concepts(items, named) {
		return nil, 0
	}
	n := items[0].n
	return []span{relativeDay(func(f frame) day { return f.today.add(n) })}, 1
}

// dayOfThisMonth reads "the 3rd" and "the 1st to the 7th": the latest such day.
func dayOfThisMonth(items []item, _ language) ([]span, int) {
	d := numberAt(items, 0)
	if d < 1 || d > 31 || !ordinal(items, 1) || is(items, 1, ".") || is(items, 1, "er") {
		return nil, 0
	}
	return []span{relativeDay(func(f frame) day {
		for back := 0; ; back++ { // ends: January and December have 31 days
			start := f.today.monthStart().addMonths(-back)
			if at, ok := dayOf(start.year(), start.monthOf(), d); ok && !f.today.before(at) {
				return at
			}
		}
	})}, 2
}

// plainYear reads "2025", which doubtful holds to places where a year can be.
func plainYear(items []item, _ language) ([]span, int) {
	y := numberAt(items, 0)
	if y < 1900 || y > 2999 || len(items[0].text) != 4 || is(items, 1, "-") && len(items) > 2 && items[1].glued {
		return nil, 0
	}
	first, _ := dayOf(y, 1, 1)
	return []span{{fixed: frame{}.period(years, first, 0), year: y}}, 1
}
