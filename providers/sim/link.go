package sim

// dateReading is all a request says about dates.
type dateReading struct {
	spans []span
	// open is set when a range has a beginning and no end: the last span is the
	// beginning.
	open bool
}

// unclear is the first date that can be read in two ways, nil if there is none.
func (r dateReading) unclear() *span {
	for i := range r.spans {
		if r.spans[i].unclear {
			return &r.spans[i]
		}
	}
	return nil
}

// linkDates reads the dates of a request and joins those that are the two ends
// of a range. contrast says that the request contrasts two dates, so that
// "between April and May" and "from April to May" name two months.
func linkDates(items []item, lang language, contrast bool) dateReading {
	groups := findDates(items, lang)
	for _, g := range groups {
		for i := range g.spans {
			g.spans[i].at = g.start
		}
	}
	contrast = contrast && len(groups) <= 2
	var out dateReading
	for i := 0; i < len(groups); i++ {
		g := groups[i]
		before := opening(items, g.start)
		if before == since || before == from && endsToday(items, g.end) {
			out.spans = append(out.spans, join(g.spans[0], sinceEnd()))
			continue
		}
		if before == between && len(g.spans) == 2 && !contrast {
			out.spans = append(out.spans, join(g.spans[0], g.spans[1]))
			continue
		}
		if before == until {
			out.spans, out.open = append(out.spans, g.spans...), true
			continue
		}
		if i+1 < len(groups) && linked(items[g.end:groups[i+1].start], before, contrast) {
			next := groups[i+1]
			a, b := g.spans[len(g.spans)-1], next.spans[0]
			if !a.joined && !b.joined {
				out.spans = append(append(append(out.spans, g.spans[:len(g.spans)-1]...), join(a, b)), next.spans[1:]...)
				i++
				continue
			}
		}
		if s := &g.spans[len(g.spans)-1]; endsToday(items, g.end) && !s.single && s.bad == "" {
			*s = soFar(*s)
		}
		if before == from && len(g.spans) == 1 && opensRange(g.spans[0]) && (!contrast || len(groups) == 1) {
			out.open = true
		}
		out.spans = append(out.spans, g.spans...)
	}
	out.shareYears()
	return out
}

// sinceEnd is today, as the end of "since".
func sinceEnd() span { return relativeDay(func(f frame) day { return f.today }) }

// soFar is a period up to today.
func soFar(s span) span {
	until := relativeSpan(false, func(f frame) dateRange {
		at := s.resolve(f)
		return dateRange{at.from, earlier(at.to, f.today)}
	})
	until.at = s.at
	return until
}

// opensRange reports whether "from s" lacks an end: "from 1 May" does, "from
// yesterday" and "from last week" do not.
func opensRange(s span) bool {
	return s.single && !s.joined && (s.relative == nil || s.yearless != nil)
}

// opening is the concept that leads into the date at i: since, from, between or
// until; unknown if none of them does.
func opening(items []item, i int) concept {
	for i--; i >= 0; i-- {
		switch c := items[i].concept; c {
		case since, from, between, until:
			return c
		case filler, of, symbol:
		default:
			return unknown
		}
	}
	return unknown
}

// endsToday reports whether "so far" or its like follows.
func endsToday(items []item, i int) bool {
	return i < len(items) && items[i].concept == toDate
}

// linked reports whether what stands between two dates makes them a range.
func linked(middle []item, before concept, contrast bool) bool {
	link := unknown
	for i, it := range middle {
		switch {
		case it.text == "." && it.glued && is(middle, i+1, "."):
			link = to
		case it.concept == filler, it.concept == of, it.concept == from && link != unknown:
		case it.concept == to, it.concept == until, it.concept == symbol && (it.text == "-" || it.text == "~" || it.text == "/" && it.glued):
			link = to
		case it.concept == symbol && it.text == "." || it.text == ",":
		case it.concept == and && link == unknown:
			link = and
		case it.concept == and && link == to: // "through and including"
		default:
			return false
		}
	}
	switch link {
	case to:
		return !contrast || before == between
	case and:
		return before == between && !contrast
	}
	return false
}

// shareYears gives yearless dates of a list the year of the nearest neighbour
// that has one: "28 April and 2 May 2026".
func (r *dateReading) shareYears() {
	for i := len(r.spans) - 2; i >= 0; i-- {
		r.spans[i], r.spans[i+1] = shareYear(r.spans[i], r.spans[i+1], false)
	}
	for i := 1; i < len(r.spans); i++ {
		r.spans[i-1], r.spans[i] = shareYear(r.spans[i-1], r.spans[i], false)
	}
}
