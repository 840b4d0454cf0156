package sim

import "slices"

// extremes reads superlatives and comparatives: the best of the lights, or of the
// pools; or how far two lights are apart.
func (r *reader) extremes() {
	i := r.find(0, roleSuperlative)
	if i < 0 {
		i = r.find(0, roleComparative, roleBefore, roleAfter)
	}
	if i < 0 {
		if g := r.find(0, roleGap); g >= 0 && len(r.s.names) == 2 {
			r.s.op = opGap
		}
		return
	}
	t := r.ts[i]
	r.used[i] = true
	r.s.margin = r.has(roleGap)
	field := t.field
	ofLights := r.near(i, 1, 0, roleLights)
	switch {
	case field != "" && r.near(i, 1, 0, roleField) >= 0 && t.text == "shorter":
		field = r.qualified(i)
	case field != "":
		if j := r.near(i, 1, 1, roleField); j >= 0 && (r.ts[j].field == field || field == heightField && !t.high && r.ts[j].field == rangeField && j == i+1) {
			field = r.ts[j].field
			r.used[j] = true
		}
	case ofLights < 0 || !slices.Contains([]string{"most", "more", "fewest", "fewer", "less"}, t.text):
		field = r.qualified(i)
	}
	switch {
	case r.pair(t) && (r.s.margin || r.at(0).field == heightField && r.ts[0].role == roleField):
		r.s.op, r.s.fields = opGap, []string{field}
	case r.pair(t):
		r.s.op, r.s.fields, r.s.high = opContrast, []string{field}, t.high || t.role == roleAfter
	case r.between(field):
		r.s.by, r.s.high, r.s.fields = true, t.high, []string{field}
		r.measure(field, t)
	default:
		r.s.best = &extreme{field: field, high: t.high || t.role == roleAfter, rank: 1, top: 1}
		r.places(i)
	}
}

// pair reports whether the comparison is of one light with another: "is A taller than
// B", "how much older is A than B".
func (r *reader) pair(t term) bool {
	if len(r.s.names) != 2 || len(r.s.pools) > 0 || t.role == roleSuperlative {
		return false
	}
	return !r.has(roleEither) && (r.has(roleThan) || t.role == roleBefore || t.role == roleAfter) && !r.has(roleWhich, roleWho)
}

// between reports whether the pools are compared with each other.
func (r *reader) between(field string) bool {
	if len(r.s.pools) < 2 {
		return false
	}
	return field == "" || r.has(roleMean, roleSum) || r.has(roleThan)
}

// measure is what of each pool is compared.
func (r *reader) measure(field string, t term) {
	switch {
	case r.has(roleMean):
		r.s.op = opMean
	case field == "":
		r.s.op, r.s.fields = opCount, nil
	case r.has(roleSum):
		r.s.op = opSum
	default:
		r.s.op = opName
		r.s.best = &extreme{field: field, high: t.high, rank: 1, top: 1}
	}
}

// places reads "second" and "two" before a superlative, and "which two".
func (r *reader) places(i int) {
	if j := r.near(i, -1, 0, roleOrdinal); j >= 0 {
		r.s.best.rank = int(r.ts[j].n)
	}
	if j := r.near(i, -1, 0, roleNumber); j >= 0 && r.ts[j].n <= 12 {
		r.s.best.top = max(1, int(r.ts[j].n))
	}
	if j := r.find(0, roleNumber); j > 0 && r.ts[j].n <= 12 && r.ts[j-1].role == roleWhich && r.at(j+1).role == roleLights {
		r.s.best.top = max(1, int(r.ts[j].n)) // "which two lights are the oldest"
	}
}

// asked reads the operation and the fields asked for, from what nothing else took.
func (r *reader) asked() {
	fields := r.left()
	if r.s.by {
		return
	}
	switch {
	case r.s.op == opLook:
	case r.s.op == opGap || r.s.op == opContrast:
		if len(r.s.fields) == 0 || r.s.fields[0] == "" {
			r.s.fields = only(fields, heightField)
		}
	case r.counts():
		r.s.op = opCount
	case r.has(roleMean) && r.s.best == nil:
		r.s.op, r.s.fields = opMean, only(fields, heightField)
	case r.has(roleSum) && r.s.best == nil:
		r.s.op, r.s.fields = opSum, only(fields, "")
		if r.s.fields[0] == "" {
			r.s.op, r.s.fields = opCount, nil
		}
	case len(fields) > 0 && (r.s.best == nil || len(fields) > 1 || fields[0] != r.s.best.field):
		r.s.op, r.s.fields = opTell, fields
	default:
		r.s.op = opName
	}
	if r.has(roleOpenText) && len(fields) == 0 {
		r.s.op, r.s.fields = opTell, []string{textField}
	}
}

// counts reports whether the request asks for how many lights.
func (r *reader) counts() bool {
	i := r.find(0, roleHowMany)
	if i < 0 || r.s.best != nil && r.s.best.top == 1 && len(r.s.pools) == 0 {
		return false
	}
	return r.near(i, 1, 2, roleLights, rolePronoun) >= 0 || r.plural()
}

// left are the fields that nothing took; a who alone asks for the designer.
func (r *reader) left() []string {
	var out []string
	for i, t := range r.ts {
		if t.role != roleField || r.used[i] {
			continue
		}
		field := t.field
		if field == builtField && (t.text == "built" || t.text == "build" || t.text == "constructed") && r.has(roleWho) && !r.has(roleSuperlative) {
			field = designerField
		}
		if !slices.Contains(out, field) {
			out = append(out, field)
		}
	}
	return out
}

// only is the first numeric field, or the default.
func only(fields []string, otherwise string) []string {
	for _, f := range fields {
		if slices.Contains(numeric, f) {
			return []string{f}
		}
	}
	return []string{otherwise}
}
