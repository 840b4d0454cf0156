package sim

import (
	"slices"
	"strings"
)

// researchQuery is what a research request asks: of the lights that it names, that its pools
// hold, or that are given, those that pass the tests; of these the best, if there is
// an extreme; and of what remains, the operation.
type researchQuery struct {
	op     operation
	fields []string // asked for
	names  []string
	pools  []pool
	given  bool // the lights that came with the request
	tests  []test
	best   *extreme
	by     bool // compares the pools, rather than joining them
	high   bool // which pool wins
	margin bool // also by how much
	// meddling says that the request wants something done rather than known.
	meddling bool
	// several says that it speaks of lights, rather than of a light.
	several bool
	// refers says that it points back, plural that it points to several.
	refers, plural bool
}

// operation is what becomes of the lights found.
type operation string

const (
	opTell     operation = "tell"       // the fields of each
	opName     operation = "name"       // which they are
	opCount    operation = "count"      // how many
	opSum      operation = "sum"        // the total of the field
	opMean     operation = "mean"       // the average of the field
	opGap      operation = "difference" // of two lights in the field
	opContrast operation = "contrast"   // whether the first has more than the second
	opLook     operation = "search"     // the hits themselves
)

// pool is a group of lights that a search finds. At most one of the words and the
// inner study tells it; inner's field holds the words then.
type pool struct {
	label   string   // how to call it
	queries []string // the first that finds something
	inner   *researchQuery
	field   string
	// region and designer are what its lights have in their fields, where that is known.
	region, designer string
}

// test keeps the lights whose field compares so with n (and m), with that of another
// light, or that has any value or none.
type test struct {
	field string
	op    string // < <= > >= = between has none
	n, m  float64
	other string // a light's name
}

// extreme picks the n-th best, or the n best, by a field.
type extreme struct {
	field string
	high  bool
	rank  int // from 1
	top   int // how many
}

// numeric are the fields that can be compared and added.
var numeric = []string{heightField, builtField, rangeField, automatedField}

// reader reads a study out of terms.
type reader struct {
	ts   []term
	used []bool
	s    researchQuery
}

// readStudy reads a request.
func readStudy(text string) researchQuery { return studyOf(terms(dropForgeries(text))) }

func studyOf(ts []term) researchQuery {
	ts = dropAsides(ts)
	r := &reader{ts: ts, used: make([]bool, len(ts))}
	r.nested()
	r.subjects()
	r.bounds()
	r.presence()
	r.extremes()
	r.asked()
	return r.s
}

// dropAsides leaves out sentences that name, ask and bound nothing, and names that
// may be mere words where there are better ones.
func dropAsides(ts []term) []term {
	strong := slices.ContainsFunc(ts, func(t term) bool { return t.role == roleName && (t.upper || t.n == 2) })
	field := slices.ContainsFunc(ts, func(t term) bool { return t.role == roleField || t.role == roleLights })
	found := strong || !field || slices.ContainsFunc(ts, func(t term) bool {
		return t.role == roleCompass || t.role == roleInput || t.role == rolePronoun && t.n == 2
	})
	var out []term
	for i, t := range ts {
		switch {
		case t.role == roleName && !t.upper && t.n == 0 && strong:
			t.role = roleStrange
		case t.role == roleStrange && !found && len(out) > 0 && i > 0 && ts[i-1].role == roleStrange && out[len(out)-1].role == roleName:
			out[len(out)-1].text += " " + t.text
			continue
		case t.role == roleStrange && !found && len(t.text) > 1 && !slices.Contains([]string{"s", "t"}, t.text):
			t.role = roleName
		}
		out = append(out, t)
	}
	return out
}

// at is the term i, or an idle one outside.
func (r *reader) at(i int) term {
	if i < 0 || i >= len(r.ts) {
		return term{role: roleStop}
	}
	return r.ts[i]
}

// near looks from i in the direction of step for an unused term of a role, past idle
// ones and at most reach others.
func (r *reader) near(i, step, reach int, roles ...role) int {
	for j := i + step; j >= 0 && j < len(r.ts); j += step {
		switch t := r.ts[j]; {
		case slices.Contains(roles, t.role) && !r.used[j]:
			return j
		case t.role == roleIdle || t.role == roleThan:
		case t.role == roleStop || reach == 0:
			return -1
		default:
			reach--
		}
	}
	return -1
}

// has reports whether any unused term has one of the roles.
func (r *reader) has(roles ...role) bool { return r.find(0, roles...) >= 0 }

// find is the first unused term of one of the roles from i on, or -1.
func (r *reader) find(i int, roles ...role) int {
	for ; i < len(r.ts); i++ {
		if !r.used[i] && slices.Contains(roles, r.ts[i].role) {
			return i
		}
	}
	return -1
}

// plural reports whether the request speaks of lights in the plural.
func (r *reader) plural() bool {
	return slices.ContainsFunc(r.ts, func(t term) bool { return (t.role == roleLights || t.role == rolePronoun) && t.n == 2 })
}

// nested reads a group told by the value of another light: "by the designer of A",
// "on the same coast as A", "the lights that the designer of A designed".
func (r *reader) nested() {
	for i, t := range r.ts {
		field := t.field
		if t.role == roleShore {
			field = regionField
		}
		if t.role != roleField && t.role != roleShore || field != designerField && field != regionField {
			continue
		}
		from := -1
		if j := r.near(i, -1, 1, roleBy, roleSame); j >= 0 && i-j <= 4 {
			from = j
		}
		whose := r.near(i, 1, 0, roleName, roleSuperlative, roleLights)
		again := r.near(whose, 1, 0, roleField)
		manyLights := slices.ContainsFunc(r.ts[:i], func(t term) bool { return t.role == roleLights && t.n == 2 })
		if from < 0 && whose >= 0 && again >= 0 && manyLights && slices.Contains([]string{designerField, builtField}, r.ts[again].field) && field == designerField {
			from = i
			r.used[again] = true
		}
		if from < 0 || whose < 0 {
			continue
		}
		end := r.find(i, roleStop)
		if end < 0 {
			end = len(r.ts)
		}
		if r.ts[whose].role == roleName {
			end = whose + 1
		}
		inner := studyOf(append([]term{{role: roleField, field: field, text: field}}, r.ts[i+1:end]...))
		inner.op, inner.fields = opTell, []string{field}
		for j := from; j < end; j++ {
			r.used[j] = true
		}
		r.s.pools = append(r.s.pools, pool{label: "the same " + field, inner: &inner, field: field})
		return
	}
}

// subjects sorts names into lights, designers and lamps, and joins the designers with
// the regions into pools.
func (r *reader) subjects() {
	var designers, others, regions []string
	more := r.find(0, roleSuperlative, roleComparative)
	byPeople := more >= 0 && (r.has(roleWho) && r.ts[more].field == "" && r.near(more, 1, 0, roleLights) >= 0 ||
		r.plural() && len(r.ts) > 0 && r.ts[0].text == "whose")
	for i, t := range r.ts {
		switch {
		case r.used[i]:
		case t.role == roleName && r.near(i, -1, 0, roleSeek) >= 0:
			r.s.op = opLook
			r.s.pools = append(r.s.pools, pool{label: t.text, queries: []string{t.text}})
		case t.role == roleName && (byPeople || r.isDesigner(i)):
			designers = append(designers, t.text)
			r.takeDesigner(i)
		case t.role == roleName && r.at(i+1).field == lampField:
			others = append(others, t.text)
			r.used[i+1] = true
		case t.role == roleName:
			r.s.names = append(r.s.names, t.text)
		case t.role == roleCompass:
			regions = append(regions, t.field)
		}
	}
	r.s.given = r.has(roleInput)
	if r.s.given && r.has(roleSeek) && r.s.op == "" && r.find(0, roleName) < 0 {
		r.s.op, r.s.pools = opLook, []pool{{}}
	}
	r.s.several = r.plural()
	r.s.meddling = r.has(roleMeddling)
	if i := r.find(0, rolePronoun); i >= 0 {
		r.s.refers, r.s.plural = true, r.ts[i].n == 2
	}
	r.pool(regions, designers, others)
	if r.coasts() && len(r.s.pools) == 0 && len(r.s.names) == 0 {
		r.pool([]string{"north", "south", "east", "west"}, nil, nil)
	}
}

// takeDesigner takes the words that make the name at i a designer's.
func (r *reader) takeDesigner(i int) {
	for _, step := range []int{-1, 1} {
		reach := 0
		if r.near(i, step, 0, roleBy) >= 0 {
			reach = 1
		}
		if j := r.near(i, step, reach, roleField); j >= 0 && (r.ts[j].field == designerField || r.ts[j].field == builtField && (step < 0 || r.actor(i))) {
			r.used[j] = true
		}
	}
}

// coasts reports whether the request asks which of the coasts has the most.
func (r *reader) coasts() bool {
	i := r.find(0, roleSuperlative, roleMean, roleSum)
	j := r.find(0, roleField)
	return i >= 0 && j >= 0 && r.ts[j].field == regionField && (r.has(roleMean, roleSum) || r.ts[i].field == "" && r.near(i, 1, 0, roleLights) >= 0)
}

// pool makes pools of regions and of other words that a document must have.
func (r *reader) pool(regions, designers, others []string) {
	regions, designers = distinct(regions), distinct(designers)
	if len(designers)+len(others) > 0 && len(regions) <= 1 {
		for _, name := range append(designers, others...) {
			p := pool{label: name, queries: []string{name}}
			if len(regions) == 1 {
				p = regionPool(regions[0], name)
			}
			if slices.Contains(designers, name) {
				p.designer = name
			}
			r.s.pools = append(r.s.pools, p)
		}
		return
	}
	for _, region := range regions {
		r.s.pools = append(r.s.pools, regionPool(region, strings.Join(append(designers, others...), " ")))
	}
}

func distinct(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// regionPool are the lights of a coast, perhaps only those with other words.
func regionPool(region, words string) pool {
	p := pool{label: region + " coast", region: region}
	for _, q := range []string{region + " coast " + words, region + " " + words} {
		p.queries = append(p.queries, strings.TrimSpace(q))
	}
	if words != "" {
		p.label = words + ", " + p.label
	}
	return p
}

// isDesigner reports whether the name at i is a person's.
func (r *reader) isDesigner(i int) bool {
	head, tail := r.at(i-1), r.at(i+1)
	for j := i - 1; head.role == roleBoth || head.role == roleEither; j-- {
		if prior := r.at(j - 1); prior.role == roleName {
			return r.isDesigner(j - 1)
		} else if prior.role != roleBoth && prior.role != roleEither {
			head = prior
			break
		}
		head = r.at(j - 1)
	}
	named := slices.Contains([]string{"designer", "designers", "architect", "architects", "engineer"}, head.text)
	works := head.text == "of" && r.at(i-2).role == roleLights && r.at(i-2).n == 2 && tail.role != roleBoth
	owns := r.ts[i].n == 1 && tail.role == roleLights && tail.n == 2
	active := tail.role == roleField && slices.Contains([]string{"design", "designed", "build", "built", "construct", "constructed", "drew"}, tail.text) && r.actor(i)
	return head.role == roleBy || named || works || owns || active
}

// actor reports whether the name at i does what the verb behind it says: "did A
// design", "A designed", but not "was A designed" or "who designed A".
func (r *reader) actor(i int) bool {
	for j := i - 1; j >= max(0, i-3); j-- {
		switch r.ts[j].text {
		case "was", "were", "is", "when":
			return false
		case "did", "that", "which", "whom", "has", "have":
			return true
		}
	}
	return r.ts[i+1].text == "designed" && r.at(i-1).role == roleLights
}
