package sim

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// solve answers a study as far as it can; it needs nothing more if needs is empty.
func (w *work) solve(st researchQuery) action {
	a := w.answer(st)
	if len(w.unknown) > 0 && w.ready() {
		missed := fmt.Sprintf("No lighthouse called %s was found in the library.", enumerate(w.unknown))
		if a.message == "" || len(w.unknown) >= len(st.names) && len(st.pools) == 0 {
			a.message, a.stuck = missed, true
		} else {
			a.message += " " + missed
		}
		a.unsure = true
	}
	if w.partial && w.ready() && a.message != "" {
		a.message += " The search found more than it showed, so this may be incomplete."
		a.unsure = true
	}
	if len(w.lost) > 0 && w.ready() && !w.final {
		a.message = strings.TrimSpace(fmt.Sprintf("%s I could not find out %s: the tool keeps failing.", a.message, enumerate(w.lost[:min(len(w.lost), 5)])))
		a.stuck = true
	}
	return a
}

func (w *work) answer(st researchQuery) action {
	switch {
	case st.op == opLook:
		return w.look(st)
	case st.by:
		return w.contest(st)
	}
	ids, ok := w.chosen(st)
	if !ok {
		return action{kind: respond}
	}
	switch st.op {
	case opCount:
		return w.count(st, ids)
	case opSum, opMean:
		n, short, ok := w.measure(st, ids)
		if !ok {
			return action{kind: respond}
		}
		return w.amount(st, n, short, len(ids))
	case opGap, opContrast:
		return w.apart(st, ids)
	case opTell:
		return w.tellAll(st, ids)
	}
	return w.name(st, ids)
}

// look answers with hits, as they are.
func (w *work) look(st researchQuery) action {
	p := w.s.lib.handedQuery()
	switch {
	case len(st.pools) > 0 && len(st.pools[0].queries) > 0:
		p = st.pools[0]
	case len(st.names) > 0: // "And A?" after a search for another
		p = pool{label: st.names[0], queries: st.names[:1]}
	}
	h, ok := w.searchFor(p.queries, true)
	if !ok || len(p.queries) == 0 {
		return action{kind: respond}
	}
	results := []any{}
	var names []string
	for _, id := range h.ids {
		results = append(results, obj{"id": id, "title": w.title(id)})
		names = append(names, w.nameOf(id))
	}
	a := answer("Found for %q: %s.", p.label, w.orNone(names))
	a.said = obj{"query": p.label, "results": results, "items": results, "total": len(h.ids), "count": len(h.ids)}
	return a
}

// handedQuery looks for the word that an earlier step found.
func (l *library) handedQuery() pool {
	for _, d := range slices.Backward(l.learnt) {
		if f := l.facts[d]; f.recorded && !f.number {
			return pool{label: f.text, queries: []string{f.text}}
		}
	}
	return pool{}
}

func (w *work) orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return enumerate(names)
}

func (w *work) title(id string) string {
	if t := w.s.lib.titles[id]; t != "" {
		return t
	}
	return w.nameOf(id)
}

// count says how many there are, and which.
func (w *work) count(st researchQuery, ids []string) action {
	var names []string
	for _, id := range ids {
		names = append(names, w.nameOf(id))
	}
	a := answer("The number of lighthouses%s is %d.", st.described(), len(ids))
	if len(names) > 0 && len(st.tests) > 0 {
		a.message = strings.TrimSuffix(a.message, ".") + ": " + enumerate(names) + "."
	}
	a.said = obj{"value": len(ids), "count": len(ids), "items": w.items(ids, nil)}
	return a
}

// measure is the total or the average of a field; short are those without a value.
func (w *work) measure(st researchQuery, ids []string) (n float64, short []string, ok bool) {
	field := st.fields[0]
	if !w.values(ids, field) && !w.final {
		return 0, nil, false
	}
	with := 0
	for _, id := range ids {
		if f, known := w.s.known(id, field); known && f.number {
			n += f.n
			with++
		} else if known {
			short = append(short, w.nameOf(id))
		}
	}
	if st.op == opMean && with > 0 {
		n /= float64(with)
	}
	return round(n), short, true
}

// round is n to two decimals: what people say of metres.
func round(n float64) float64 { return math.Round(n*100) / 100 }

// spell writes a number plainly.
func spell(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// amount is what the operation comes to.
func (st researchQuery) amount() string {
	switch st.op {
	case opMean:
		return "average"
	case opCount:
		return "count"
	}
	return "total"
}

// amount says a total or an average.
func (w *work) amount(st researchQuery, n float64, short []string, of int) action {
	field := st.fields[0]
	what := st.amount()
	if of == 0 {
		return answer("%s", w.none(st))
	}
	if of == len(short) {
		a := answer("There is no %s %s%s to tell: it is recorded of none.", what, nounOf(field), st.described())
		return a
	}
	a := answer("The %s %s of the lighthouses%s is %s%s.", what, nounOf(field), st.described(), spell(n), unitOf(field))
	if len(short) > 0 {
		a.message += fmt.Sprintf(" Not included: %s, whose %s is not recorded.", enumerate(short), nounOf(field))
	}
	a.said = obj{"value": n, what: n, what + "_" + field: n, field: n, "unit": strings.TrimSpace(unitOf(field)), "field": field, "count": of - len(short)}
	return a
}

// contest compares the pools with each other.
func (w *work) contest(st researchQuery) action {
	best, tied, runner := -1, false, math.NaN()
	var amounts []float64
	for i := range st.pools {
		one := st
		one.by, one.pools = false, st.pools[i:i+1]
		ids, ok := w.chosen(one)
		if !ok {
			amounts = append(amounts, math.NaN())
			continue
		}
		n := float64(len(ids))
		switch {
		case st.op == opCount:
		case st.op == opName && len(ids) == 0:
			n = math.NaN()
		case st.op == opName:
			f, _ := w.s.known(ids[0], st.best.field)
			n = f.n
		default:
			if n, _, _ = w.measure(one, ids); len(ids) == 0 {
				n = math.NaN()
			}
		}
		amounts = append(amounts, n)
	}
	for i, n := range amounts {
		switch {
		case math.IsNaN(n):
		case best < 0 || (n > amounts[best]) == st.high && n != amounts[best]:
			if best >= 0 {
				runner = amounts[best]
			}
			best, tied = i, false
		default:
			tied = tied || n == amounts[best]
			if math.IsNaN(runner) || (n > runner) == st.high {
				runner = n
			}
		}
	}
	if best < 0 {
		return action{kind: respond, message: "Nothing is known to compare."}
	}
	label, value := st.pools[best].label, amounts[best]
	a := answer("%s, with %s.", upperFirst(label), spell(value)+w.measured(st))
	if tied {
		a = answer("They are equal: %s%s each.", spell(value), w.measured(st))
	} else if st.margin {
		a.message += fmt.Sprintf(" The difference is %s.", spell(round(math.Abs(value-runner))))
	}
	a.said = obj{"value": value, "name": label, "region": label, "coast": label, "winner": label, "designer": label, st.amount(): value}
	return a
}

// measured words what the pools are compared in.
func (w *work) measured(st researchQuery) string {
	switch st.op {
	case opCount:
		return " lighthouses"
	case opMean:
		return unitOf(st.fields[0]) + " on average"
	case opSum:
		return unitOf(st.fields[0]) + " in total"
	}
	return unitOf(st.fields[0])
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// apart says how far two lights are apart, or whether the first has more.
func (w *work) apart(st researchQuery, ids []string) action {
	field := st.fields[0]
	if len(ids) != 2 {
		return action{kind: respond, message: fmt.Sprintf("That takes two lighthouses; I found %d.", len(ids))}
	}
	if !w.values(ids, field) {
		return action{kind: respond}
	}
	a, _ := w.s.known(ids[0], field)
	b, _ := w.s.known(ids[1], field)
	if !a.number || !b.number {
		short := ids[0]
		if a.number {
			short = ids[1]
		}
		return answer("They cannot be compared: %s", w.sentence(short, field, stated{}))
	}
	gap := round(math.Abs(a.n - b.n))
	yes := "No"
	if a.n != b.n && (a.n > b.n) == st.high {
		yes = "Yes"
	}
	both := w.sentence(ids[0], field, a) + " " + w.sentence(ids[1], field, b)
	out := answer("The difference in %s is %s%s. %s", nounOf(field), spell(gap), gapUnit(field), both)
	if st.op == opContrast {
		out = answer("%s. %s", yes, both)
	}
	out.said = obj{"value": gap, "difference": gap, "unit": strings.TrimSpace(gapUnit(field)), "answer": out.message, "yes": yes == "Yes", "items": w.items(ids, []string{field})}
	return out
}

// tellAll says the fields of each light.
func (w *work) tellAll(st researchQuery, ids []string) action {
	if !w.values(ids, st.fields...) && !w.final {
		return action{kind: respond}
	}
	var said []string
	for _, id := range ids {
		if st.best != nil {
			if f, ok := w.s.known(id, st.best.field); ok && !slices.Contains(st.fields, st.best.field) {
				said = append(said, w.sentence(id, st.best.field, f))
			}
		}
		for _, field := range st.fields {
			if f, ok := w.s.known(id, field); ok {
				said = append(said, w.sentence(id, field, f))
			}
		}
	}
	if len(ids) == 0 {
		said = []string{w.none(st)}
	}
	a := answer("%s", strings.Join(said, " "))
	a.said = w.saidOf(ids, st.fields)
	return a
}

// name says which lights they are.
func (w *work) name(st researchQuery, ids []string) action {
	var names []string
	for _, id := range ids {
		names = append(names, w.nameOf(id))
	}
	var a action
	var fields []string
	switch {
	case len(ids) == 0:
		a = answer("%s", w.none(st))
	case st.best != nil:
		f, _ := w.s.known(ids[0], st.best.field)
		fields = []string{st.best.field}
		equal := ""
		if len(ids) > 1 && st.best.top == 1 {
			equal = " are equal"
		}
		a = answer("%s%s: %s %s%s.", enumerate(names), equal, nounOf(st.best.field), f.text, unitOf(st.best.field))
		if st.best.top > 1 {
			a = answer("%s.", enumerate(names))
		}
		if st.margin && len(ids) == 1 {
			a.message += w.lead(st, ids[0])
		}
	default:
		a = answer("%s.", enumerate(names))
	}
	a.said = w.saidOf(ids, fields)
	a.said["best"] = a.said["name"]
	return a
}

// lead says by how much the best is ahead.
func (w *work) lead(st researchQuery, best string) string {
	all, _ := w.lights(st)
	rest := slices.DeleteFunc(all, func(id string) bool { return id == best })
	second, ok := w.bestOf(rest, extreme{field: st.best.field, high: st.best.high, rank: 1, top: 1})
	if !ok || len(second) == 0 {
		return ""
	}
	a, _ := w.s.known(best, st.best.field)
	b, _ := w.s.known(second[0], st.best.field)
	return fmt.Sprintf(" The difference is %s%s.", spell(round(math.Abs(a.n-b.n))), gapUnit(st.best.field))
}

// none says that nothing is left, or that what would tell is not recorded.
func (w *work) none(st researchQuery) string {
	if st.best != nil {
		if all, ok := w.lights(st); ok && len(all) > 0 && len(st.tests) == 0 {
			var names []string
			for _, id := range all {
				names = append(names, w.nameOf(id))
			}
			return fmt.Sprintf("I cannot tell: the %s of %s is not recorded.", nounOf(st.best.field), enumerate(names))
		}
	}
	return fmt.Sprintf("None: I found no lighthouse%s.", st.described())
}
