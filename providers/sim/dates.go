package sim

// group is one date expression found in a request: the items [start,end) and
// the spans they name; a list such as "8, 9 and 10 May" names several.
type group struct {
	start, end int
	spans      []span
}

// form reads a date expression at the start of items; n = 0 means none is there.
type form func(items []item, lang language) (spans []span, n int)

// forms are tried in this order.
func forms() []form {
	return []form{
		isoDate, isoMonth, slashedDate, dottedDate, partOfPeriod, chineseDate, monthFirst, dayFirst,
		quarterOfYear, weekAround, weekEndingOn, besideDay, countedPeriod, namedPeriod, daysAgo,
		lastWeekdayForm, bareWeekday, namedDay, dayOfThisMonth, plainYear,
	}
}

// findDates reads all date expressions, left to right.
func findDates(items []item, lang language) []group {
	var out []group
	for i := 0; i < len(items); {
		spans, n := dateAt(items, i, lang)
		if n == 0 {
			i++
			continue
		}
		out = append(out, group{start: i, end: i + n, spans: spans})
		i += n
	}
	return absorbWeekdays(items, out)
}

func dateAt(items []item, i int, lang language) ([]span, int) {
	if spans, n := awayFrom(items, i, lang); n > 0 {
		return spans, n
	}
	for _, read := range forms() {
		// "may" and a bare year need a word before them to be dates.
		if spans, n := read(items[i:], lang); n > 0 && (n > 1 || !doubtful(items, i)) {
			return spans, n
		}
	}
	return nil, 0
}

// doubtful reports whether the single item at i is a date only in company: the
// words may and march, and numbers.
func doubtful(items []item, i int) bool {
	it := items[i]
	if it.concept != number && it.text != "may" && it.text != "march" || len(it.text) == 8 {
		return false
	}
	if i == 0 {
		return it.concept == number
	}
	before := items[i-1]
	switch before.concept {
	case of, weekOf, half, from, to, between, since, and, compare, last, this, until, symbol:
		return false
	}
	return before.text != "in" && before.text != "for" && before.text != "during" && before.text != "all" && before.text != "en" && before.text != "im"
}

// is reports whether items[i] is the symbol s (or word s) there.
func is(items []item, i int, s string) bool { return i < len(items) && items[i].text == s }

// numberAt returns the number at i; negative if there is none.
func numberAt(items []item, i int) int {
	if i < len(items) && items[i].concept == number {
		return items[i].n
	}
	return -1
}

func concepts(items []item, want ...concept) bool {
	if len(items) < len(want) {
		return false
	}
	for i, c := range want {
		if items[i].concept != c {
			return false
		}
	}
	return true
}

// yearAt reads a four-digit year at i, after a comma or "of" if there is one,
// and says how many items it took.
func yearAt(items []item, i int) (year, n int) {
	skip := 0
	for i+skip < len(items) && skip < 2 && (is(items, i+skip, ",") || items[i+skip].concept == of) {
		skip++
	}
	if i+skip < len(items) && len(items[i+skip].text) == 4 {
		if y := numberAt(items, i+skip); y >= 1900 && y <= 2999 && !gluedMark(items, i+skip+1) {
			return y, skip + 1
		}
	}
	return 0, 0
}

// gluedMark reports whether the number before i goes on as a numeric date.
func gluedMark(items []item, i int) bool {
	return (is(items, i, "-") || is(items, i, "/")) && items[i].glued
}

// triple reads three numbers glued by a separator.
func triple(items []item, sep string) (a, b, c int, ok bool) {
	if len(items) < 5 || !is(items, 1, sep) || !is(items, 3, sep) {
		return 0, 0, 0, false
	}
	for _, it := range items[1:5] {
		if !it.glued {
			return 0, 0, 0, false
		}
	}
	a, b, c = numberAt(items, 0), numberAt(items, 2), numberAt(items, 4)
	return a, b, c, a >= 0 && b >= 0 && c >= 0
}

// isoDate reads 2026-05-03 and 20260503.
func isoDate(items []item, _ language) ([]span, int) {
	if y, m, d, ok := triple(items, "-"); ok && len(items[0].text) == 4 {
		return []span{dateSpan(y, m, d)}, 5
	}
	if n := numberAt(items, 0); n >= 1900_01_01 && n <= 2999_12_31 && len(items[0].text) == 8 {
		return []span{dateSpan(n/10000, n/100%100, n%100)}, 1
	}
	return nil, 0
}

// isoMonth reads 2026-05 and 05/2026.
func isoMonth(items []item, _ language) ([]span, int) {
	if len(items) < 3 || !items[1].glued || !items[2].glued {
		return nil, 0
	}
	a, b := numberAt(items, 0), numberAt(items, 2)
	switch {
	case is(items, 1, "-") && len(items[0].text) == 4 && b >= 0 && len(items[2].text) == 2:
		return []span{monthSpan(a, b)}, 3
	case is(items, 1, "/") && len(items[2].text) == 4 && a >= 0 && b >= 0 && len(items[0].text) <= 2:
		return []span{monthSpan(b, a)}, 3
	}
	return nil, 0
}

// slashedDate reads 2026/05/03 and 5/13/2026; 5/3 has no year. Of 05/06/2026
// nobody knows which is the month, except where days always come first.
func slashedDate(items []item, lang language) ([]span, int) {
	dayFirst := lang == spanish || lang == french || lang == german
	a, b, c, ok := triple(items, "/")
	switch {
	case ok && len(items[0].text) == 4:
		return []span{dateSpan(a, b, c)}, 5
	case ok && (len(items[4].text) == 4 || len(items[4].text) == 2) && a <= 99 && b <= 99:
		if len(items[4].text) == 2 {
			c += 2000
		}
		if dayFirst {
			return []span{dateSpan(c, b, a)}, 5
		}
		return []span{eitherSpan(c, a, b)}, 5
	case !ok && len(items) >= 3 && is(items, 1, "/") && items[1].glued && items[2].glued:
		m, d := numberAt(items, 0), numberAt(items, 2)
		if m > 12 || dayFirst {
			m, d = d, m
		}
		if m >= 1 && m <= 12 && d >= 1 && d <= 31 && !is(items, 3, "/") {
			return []span{yearlessSpan(monthDay{m, d})}, 3
		}
	}
	return nil, 0
}

// dottedDate reads 3.5.2026, day first.
func dottedDate(items []item, _ language) ([]span, int) {
	if d, m, y, ok := triple(items, "."); ok && len(items[4].text) == 4 {
		return []span{dateSpan(y, m, d)}, 5
	}
	return nil, 0
}

// chineseDate reads 2026年5月3日, 5月3日, 2026年5月 and 5月.
func chineseDate(items []item, _ language) ([]span, int) {
	year, i := 0, 0
	if numberAt(items, 0) >= 1900 && is(items, 1, "年") {
		year, i = numberAt(items, 0), 2
	}
	m := numberAt(items, i)
	if m < 0 || !is(items, i+1, "月") || i == 0 && m > 12 {
		return nil, 0
	}
	i += 2
	md := monthDay{month: m}
	if d := numberAt(items, i); d > 0 && (is(items, i+1, "日") || is(items, i+1, "号") || !is(items, i+1, "月")) {
		md.day = d
		if i++; is(items, i, "日") || is(items, i, "号") {
			i++
		}
	}
	if year > 0 {
		return []span{md.in(year)}, i
	}
	return []span{yearlessSpan(md)}, i
}
