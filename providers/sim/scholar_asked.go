package sim

import "slices"

// bounds reads the tests of the request: a comparison with a number or with another
// light.
func (r *reader) bounds() {
	for i, t := range r.ts {
		switch {
		case r.used[i]:
		case t.role == roleNumber && t.field != "":
			r.period(i)
		case t.role == roleNumber:
			r.bound(i)
		}
	}
	if len(r.s.names) > 0 && (len(r.s.pools) > 0 || r.s.given || r.plural() && len(r.s.names) == 1) {
		r.thanLight()
	}
}

// period reads "in the 1880s" and "in the 19th century".
func (r *reader) period(i int) {
	length := 9.0
	if r.ts[i].field == "century" {
		length = 99
	}
	n := r.ts[i].n
	field := r.fieldFor(i, "", n)
	c := test{field: field, op: "between", n: n, m: n + length}
	if op := r.near(i, -1, 0, roleBefore, roleAfter); op >= 0 {
		r.used[op] = true
		c = test{field: field, op: comparison(r.ts[op]), n: n}
		if c.op == ">" {
			c.n += length
		}
	}
	r.used[i] = true
	r.s.tests = append(r.s.tests, c)
}

// bound reads the test around the number at i.
func (r *reader) bound(i int) {
	n := r.ts[i].n
	if r.ts[i].n <= 12 && r.near(i, 1, 0, roleSuperlative, roleOrdinal, roleLights) == i+1 {
		return // "the two tallest", "the three lights"
	}
	c := test{n: n}
	fixed := ""
	if op := r.near(i, -1, 0, roleComparative, roleBefore, roleAfter, roleAtLeast, roleAtMost, roleWithin); op >= 0 {
		t := r.ts[op]
		c.op, fixed = comparison(t), t.field
		if t.role == roleComparative && fixed == "" && t.text != "more" && t.text != "less" && t.text != "fewer" && t.text != "greater" {
			fixed = r.qualified(op)
		}
		r.used[op] = true
		if not := r.near(op, -1, 1, roleNegated); not >= 0 && opposite[c.op] != "" {
			c.op, r.used[not] = opposite[c.op], true
		}
	}
	end := max(i, r.near(i, 1, 0, roleUnit))
	c.field = r.fieldFor(i, fixed, n)
	if next := r.near(end, 1, 0, roleAtLeast, roleAtMost); next >= 0 && c.op == "" {
		c.op = comparison(r.ts[next])
		r.used[next] = true
	}
	if second := r.near(end, 1, 1, roleNumber); second >= 0 && (c.op == "between" || c.op == "" && r.at(i-1).text == "from") {
		c.op, c.m = "between", r.ts[second].n
		r.used[second] = true
	}
	switch {
	case c.op == "between" && c.m == 0:
		c.op = ">="
	case c.op == "" && slices.Contains([]string{"in", "during", "of", "in the year", "exactly", "is", "year"}, r.at(i-1).text) || c.op == "" && r.at(end).role == roleUnit:
		c.op = "="
	}
	r.used[i] = true
	if c.op != "" && c.field != "" {
		r.s.tests = append(r.s.tests, c)
	}
}

// opposite is what holds where a comparison does not.
var opposite = map[string]string{"<": ">=", ">": "<="}

// comparison is how a term compares what comes before it with what comes behind.
func comparison(t term) string {
	switch {
	case t.role == roleAtLeast:
		return ">="
	case t.role == roleAtMost:
		return "<="
	case t.role == roleWithin:
		return "between"
	case t.role == roleAfter || t.role == roleComparative && t.high:
		return ">"
	}
	return "<"
}

// fieldFor is the field that a number at i is of, and takes the word that says so.
func (r *reader) fieldFor(i int, fixed string, n float64) string {
	if u := r.near(i, 1, 0, roleUnit); u >= 0 && fixed == "" {
		fixed = r.ts[u].field
		r.used[u] = true
		i = u
	} else if u >= 0 {
		r.used[u] = true
		i = u
	}
	back := r.near(i, -1, 3, roleField)
	next := r.near(i, 1, 0, roleField)
	switch {
	case fixed != "" && next >= 0 && r.ts[next].field == fixed:
		r.used[next] = true
	case fixed != "" && back >= 0 && r.ts[back].field == fixed:
		r.used[back] = true
	case fixed != "":
	case back >= 0 && slices.Contains(numeric, r.ts[back].field):
		r.used[back] = true
		return r.ts[back].field
	case next >= 0 && slices.Contains(numeric, r.ts[next].field):
		r.used[next] = true
		return r.ts[next].field
	case n >= 1500 && n < 2100:
		return builtField
	default:
		return heightField
	}
	return fixed
}

// thanLight reads "taller than A" and "built before A" as a test of others.
func (r *reader) thanLight() {
	for i, t := range r.ts {
		if t.role != roleComparative && t.role != roleBefore && t.role != roleAfter || r.used[i] {
			continue
		}
		j := r.near(i, 1, 2, roleName)
		if j < 0 || t.role == roleComparative && r.near(i, 1, 1, roleThan) < 0 || !slices.Contains(r.s.names, r.ts[j].text) {
			continue
		}
		field := t.field
		if field == "" {
			field = r.qualified(i)
		}
		r.used[i] = true
		r.s.tests = append(r.s.tests, test{field: field, op: comparison(t), other: r.ts[j].text})
		r.s.names = slices.DeleteFunc(r.s.names, func(n string) bool { return n == r.ts[j].text })
		return
	}
}

// presence reads "have been automated" and "whose height is not recorded".
func (r *reader) presence() {
	if !r.plural() || r.has(roleSuperlative, roleComparative) {
		return
	}
	missing := r.has(roleNegated)
	for i, t := range r.ts {
		if t.role != roleField || r.used[i] || !missing && (t.field != automatedField || t.text == "automation" || !r.picks()) {
			continue
		}
		c := test{field: t.field, op: "has"}
		if missing {
			c.op = "none"
		}
		r.used[i] = true
		r.s.tests = append(r.s.tests, c)
		return
	}
}

// picks reports whether the request asks which or how many lights, so that a verb is
// a condition.
func (r *reader) picks() bool {
	i := r.find(0, roleWhich, roleHowMany, roleListing)
	return i >= 0 && r.near(i, 1, 0, roleLights) >= 0
}

// qualified is the field that a comparison without its own is about; it takes the
// word that says so.
func (r *reader) qualified(i int) string {
	t := r.ts[i]
	where := []int{r.near(i, 1, 0, roleField), r.skip(i), r.near(i, -1, 1, roleField), r.find(0, roleField)}
	if (t.text == "highest" || t.text == "lowest") && r.near(i, 1, 0, roleLights) >= 0 {
		where = where[:2] // "the highest lighthouse" is the tallest
	}
	for _, j := range where {
		if j >= 0 && slices.Contains(numeric, r.ts[j].field) && suits(t.text, r.ts[j].field) {
			r.used[j] = true
			return r.ts[j].field
		}
	}
	switch t.text {
	case "longest", "longer":
		return rangeField
	case "first", "last", "earliest", "latest", "earlier", "later", "sooner", "soonest", "before", "after":
		return builtField
	case "highest", "higher", "lowest", "lower", "shortest", "shorter", "smallest", "biggest", "largest", "smaller", "bigger", "larger":
		return heightField
	}
	return ""
}

// skip is the field behind "average" or "total" behind i, or -1.
func (r *reader) skip(i int) int {
	if j := r.near(i, 1, 0, roleMean, roleSum); j >= 0 {
		return r.near(j, 1, 0, roleField)
	}
	return -1
}

// suits reports whether a word can be about a field: nothing is first in height.
func suits(word, field string) bool {
	year := field == builtField || field == automatedField
	switch word {
	case "first", "last", "earliest", "latest", "earlier", "later", "sooner", "soonest", "before", "after":
		return year
	case "highest", "higher", "lowest", "lower", "longest", "longer", "shortest", "shorter":
		return !year
	}
	return true
}
