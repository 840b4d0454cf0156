package sim

import (
	"cmp"
	"slices"
)

// passing are the lights that pass a test.
func (w *work) passing(ids []string, c test) (out []string, ok bool) {
	if c.other != "" {
		id, found := w.named(c.other)
		if !found || id == "" {
			return nil, found
		}
		f, found := w.value(id, c.field)
		if !found {
			return nil, false
		}
		c.n = f.n
		ids = slices.DeleteFunc(slices.Clone(ids), func(s string) bool { return s == id })
	}
	if w.s.fromNames {
		return ids, true
	}
	ok = w.values(ids, c.field)
	for _, id := range ids {
		if f, known := w.s.known(id, c.field); known && c.passes(f) {
			out = append(out, id)
		}
	}
	return out, ok && w.ready()
}

// known is a figure that needs no look-up.
func (s *researchModel) known(id, field string) (stated, bool) {
	f, ok := s.lib.facts[valueKey{id, field}]
	if !ok && s.invent != nil {
		return s.invent(valueKey{id, field}), true
	}
	return f, ok
}

// passes reports whether a figure passes.
func (c test) passes(f stated) bool {
	switch c.op {
	case "has":
		return f.recorded
	case "none":
		return !f.recorded
	}
	if !f.number {
		return false
	}
	switch c.op {
	case "<":
		return f.n < c.n
	case "<=":
		return f.n <= c.n
	case ">":
		return f.n > c.n
	case ">=":
		return f.n >= c.n
	case "between":
		return f.n >= c.n && f.n <= c.m
	}
	return f.n == c.n
}

// enough is how many values are put in order by the tool rather than by the head.
const enough = 5

// bestOf are the best lights by a field, all that share the place.
func (w *work) bestOf(ids []string, e extreme) ([]string, bool) {
	if w.s.fromNames {
		return ids[:min(len(ids), e.top)], true
	}
	if !w.values(ids, e.field) && !w.final {
		return nil, false
	}
	var items []any
	var have []string
	for _, id := range ids {
		if f, ok := w.s.known(id, e.field); ok && f.number {
			have = append(have, id)
			items = append(items, obj{"id": id, "value": f.n})
		}
	}
	order := "lowest"
	if e.high {
		order = "highest"
	}
	l := w.s.lib
	key := callKey(compareTool, "", "")
	if w.s.checks() && len(items) >= enough && len(items) <= maxHits && !l.compared && l.failed[key] == 0 && !l.noCalls && !w.final && w.s.prompt.tools[compareTool] && w.s.invent == nil {
		w.need(action{kind: useTool, name: compareTool, args: obj{"items": items, "order": order}}, key, "the order")
		return nil, false
	}
	n := func(id string) float64 { f, _ := w.s.known(id, e.field); return f.n }
	slices.SortStableFunc(have, func(a, b string) int {
		if e.high {
			return cmp.Compare(n(b), n(a))
		}
		return cmp.Compare(n(a), n(b))
	})
	first := e.rank - 1
	if first >= len(have) {
		return nil, true
	}
	last := min(len(have), first+e.top)
	for last < len(have) && n(have[last]) == n(have[last-1]) {
		last++
	}
	return have[first:last], true
}
