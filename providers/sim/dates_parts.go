package sim

// Dates that are told by another date: a part of a period, or a day beside one.

// reference reads the date that the items from i on refer to, after "of", "the"
// and their like, and says where it ends; n = 0 means none is there.
func reference(items []item, i int, lang language) (s span, n int) {
	for i < len(items) && (items[i].concept == of || items[i].concept == filler) {
		i++
	}
	if i >= len(items) {
		return span{}, 0
	}
	spans, used := dateAt(items, i, lang)
	if used == 0 || len(spans) != 1 || spans[0].unclear {
		return span{}, 0
	}
	return spans[0], i + used
}

// derived is a span told by another; a date that does not exist stays so.
func derived(s span, single bool, derive func(dateRange) dateRange) span {
	if s.bad != "" {
		return s
	}
	out := relativeOrFixed(s, func(_ frame, at dateRange) dateRange { return derive(at) })
	out.single = single
	return out
}

// partOfPeriod reads "first week of May", "last 3 days of April 2026", "second
// half of May", "last day of the month" and 5月第一周.
func partOfPeriod(items []item, lang language) ([]span, int) {
	nthPart, count, unitOf, i := 0, 1, 0, 0
	switch {
	case concepts(items, half):
		nthPart, unitOf, i = items[0].n, weekends, 1 // any unit that has no days
	case concepts(items, nth, number, unit), concepts(items, last, number, unit) && ofFollows(items, 3):
		nthPart, count, unitOf, i = items[0].n, items[1].n, items[2].n, 3
	case concepts(items, nth, unit), concepts(items, last, unit) && ofFollows(items, 2):
		nthPart, unitOf, i = items[0].n, items[1].n, 2
	case (concepts(items, nth, weekOf) || concepts(items, last, weekOf)) && items[1].text == "week of":
		nthPart, unitOf, i = items[0].n, weeks, 2
	case concepts(items, unit, of) && items[0].n == weekends:
		return weekendOf(items, lang)
	default:
		if lang == chinese {
			return chinesePart(items)
		}
		return nil, 0
	}
	if items[0].concept == nth && i == 3 && nthPart != 1 { // "second 3 days"
		return nil, 0
	}
	if items[0].concept != half && unitOf != days && unitOf != weeks || count < 1 || count > 31 {
		return nil, 0
	}
	whole, end := reference(items, i, lang)
	if end == 0 || whole.single || whole.joined {
		return nil, 0
	}
	if items[0].concept == half {
		return []span{derived(whole, false, func(s dateRange) dateRange { return s.half(nthPart) })}, end
	}
	if unitOf == weeks {
		count *= 7
	}
	single := count == 1
	if items[0].concept == last {
		return []span{derived(whole, single, func(s dateRange) dateRange { return dateRange{s.to.add(1 - count), s.to} })}, end
	}
	return []span{derived(whole, single, func(s dateRange) dateRange { return s.part(nthPart, count) })}, end
}

// ofFollows reports whether "of" stands at i: "last week of May" is no last week.
func ofFollows(items []item, i int) bool { return i < len(items) && items[i].concept == of }

// chinesePart reads 5月第一周: the period comes first.
func chinesePart(items []item) ([]span, int) {
	spans, n := chineseDate(items, chinese)
	if n == 0 || spans[0].single || !concepts(items[n:], nth, unit) || items[n+1].n != weeks {
		return nil, 0
	}
	which := items[n].n
	return []span{derived(spans[0], false, func(s dateRange) dateRange { return s.part(which, 7) })}, n + 2
}

// part is the n-th run of days of a stretch, cut off at its end.
func (s dateRange) part(n, days int) dateRange {
	from := s.from.add((n - 1) * days)
	return dateRange{from, earlier(s.to, from.add(days-1))}
}

// half is the first or the second half of a stretch; of a year, six months.
func (s dateRange) half(n int) dateRange {
	middle := s.from.add(s.days() / 2)
	if s.days() > 360 {
		middle = s.from.addMonths(6)
	}
	if n == 1 {
		return dateRange{s.from, middle.add(-1)}
	}
	return dateRange{middle, s.to}
}

// weekendOf reads "weekend of May 2".
func weekendOf(items []item, lang language) ([]span, int) {
	around, end := reference(items, 1, lang)
	if end == 0 || !around.single {
		return nil, 0
	}
	return []span{derived(around, false, func(s dateRange) dateRange { return frame{}.period(weekends, s.from, 0) })}, end
}

// weekEndingOn reads "week ending 2026-05-10".
func weekEndingOn(items []item, lang language) ([]span, int) {
	if !concepts(items, weekEnding) {
		return nil, 0
	}
	end, n := reference(items, 1, lang)
	if n == 0 || !end.single {
		return nil, 0
	}
	return []span{derived(end, false, func(s dateRange) dateRange { return dateRange{s.to.add(-6), s.to} })}, n
}

// besideDay reads "the day after 2026-05-03" and "the day before May 3".
func besideDay(items []item, lang language) ([]span, int) {
	if !concepts(items, adjacent) && (!concepts(items, named) || items[0].text != "the day before") {
		return nil, 0
	}
	step := items[0].n
	at, n := reference(items, 1, lang)
	if n == 0 || !at.single {
		return nil, 0
	}
	return []span{shifted(at, step)}, n
}

// shifted is a day some days later.
func shifted(s span, days int) span {
	return derived(s, true, func(at dateRange) dateRange { return dateRange{at.from.add(days), at.from.add(days)} })
}

// awayFrom reads "two days after 2026-05-03" and "a week before May 10" at i.
// "The two days before" are both of them: that is not read.
func awayFrom(items []item, i int, lang language) ([]span, int) {
	n, at := 1, i+1
	switch {
	case i > 0 && items[i-1].text == "the":
		return nil, 0
	case concepts(items[i:], number, unit):
		n = items[i].n
	case items[i].text != "a" || !concepts(items[i+1:], unit):
		return nil, 0
	}
	if n < 1 || n > 400 || at+1 >= len(items) {
		return nil, 0
	}
	switch items[at].n {
	case days:
	case weeks:
		n *= 7
	default:
		return nil, 0
	}
	switch items[at+1].text {
	case "before":
		n = -n
	case "after":
	default:
		return nil, 0
	}
	from, end := reference(items, at+2, lang)
	if end == 0 || !from.single {
		return nil, 0
	}
	return []span{shifted(from, n)}, end - i
}

// absorbWeekdays makes weekdays that only decorate a date a part of it: "Sunday,
// May 3", "Sunday the 3rd", "May 3 (Sunday)".
func absorbWeekdays(items []item, groups []group) []group {
	var out []group
	for i, g := range groups {
		switch {
		case bareWeekdayGroup(g) && i+1 < len(groups) && decorates(items, g.end, groups[i+1], false):
			groups[i+1].start = g.start
		case bareWeekdayGroup(g) && i > 0 && decorates(items, g.start, groups[i-1], true):
			out[len(out)-1].end = g.end
		default:
			out = append(out, g)
		}
	}
	return out
}

func bareWeekdayGroup(g group) bool { return g.end == g.start+1 && g.spans[0].isWeekday }

// decorates reports whether nothing but a comma, an article or a bracket stands
// between a weekday that ends or begins at i and a date.
func decorates(items []item, i int, date group, behind bool) bool {
	if bareWeekdayGroup(date) || !date.spans[0].single || items[date.start].concept == named {
		return false
	}
	if behind {
		return i == date.end+1 && is(items, date.end, "(")
	}
	for ; i < date.start; i++ {
		if !is(items, i, ",") && !is(items, i, "the") && !is(items, i, "(") {
			return false
		}
	}
	return true
}
