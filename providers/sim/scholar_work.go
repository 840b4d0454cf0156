package sim

import (
	"slices"
	"strings"
)

// work is one pass over a study: what it can tell, and what it still needs.
type work struct {
	s     *researchModel
	needs []action
	// final says that nothing can be looked up any more: what is not known is lost.
	final   bool
	lost    []string // what cannot be found out, in words
	unknown []string // names that no document has
	// partial says that a search found more than could be seen.
	partial bool
}

// need asks for a call, once; what keeps failing is lost instead.
func (w *work) need(a action, key, what string) {
	l := w.s.lib
	if w.final || l.dead[key] || l.failed[key] >= maxAttempts || !w.s.prompt.tools[a.name] {
		if !slices.Contains(w.lost, what) {
			w.lost = append(w.lost, what)
		}
		return
	}
	if !slices.ContainsFunc(w.needs, func(b action) bool { return alike(a, b) }) {
		w.needs = append(w.needs, a)
	}
}

// searchFor finds the hits of the first query that has any.
func (w *work) searchFor(queries []string, wide bool) (hits, bool) {
	var none hits
	for _, q := range queries {
		i := slices.IndexFunc(w.s.lib.found, func(h hits) bool { return h.query == folded(q) })
		if i < 0 {
			args := obj{"query": q}
			if wide {
				args["limit"] = 20
			}
			w.need(action{kind: useTool, name: searchTool, args: args}, callKey(searchTool, q, ""), "what a search for "+q+" finds")
			return none, false
		}
		if none = w.s.lib.found[i]; len(none.ids) > 0 {
			break
		}
	}
	return none, true
}

// value is a field of a document; ok is false if it is not known.
func (w *work) value(id, field string) (stated, bool) {
	d := valueKey{id, field}
	if f, ok := w.s.lib.facts[d]; ok {
		return f, true
	}
	if w.s.invent != nil {
		return w.s.invent(d), true
	}
	tool, args := extractTool, obj{"id": id, "field": field}
	if field == keeperField || field == textField {
		tool, args = openTool, obj{"id": id}
	}
	key := callKey(tool, id, field)
	if tool == openTool {
		key = callKey(tool, id, "")
	}
	w.need(action{kind: useTool, name: tool, args: args}, key, "the "+nounOf(field)+" of "+w.nameOf(id))
	return stated{}, false
}

// values looks fields of documents up, all that are needed at once.
func (w *work) values(ids []string, fields ...string) bool {
	all := true
	for _, id := range ids {
		for _, f := range fields {
			_, ok := w.value(id, f)
			all = all && ok
		}
	}
	return all
}

// ready reports whether nothing is to be waited for.
func (w *work) ready() bool { return len(w.needs) == 0 }

// lights are the ids that a study is about; ok is false if they are not known yet.
func (w *work) lights(st researchQuery) (ids []string, ok bool) {
	ok = true
	add := func(more []string) {
		for _, id := range more {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	for _, name := range st.names {
		id, found := w.named(name)
		ok = ok && found
		if id != "" {
			add([]string{id})
		}
	}
	for _, p := range st.pools {
		more, found := w.pool(p)
		ok = ok && found
		add(more)
	}
	if given := w.handed(st); len(given) > 0 {
		for _, name := range given {
			id, found := w.named(name)
			ok = ok && found
			if id != "" {
				add([]string{id})
			}
		}
	} else if len(st.names)+len(st.pools) == 0 {
		more, found := w.everything()
		ok = ok && found
		add(more)
	}
	return slices.DeleteFunc(ids, func(id string) bool { return id == w.s.skip }), ok
}

// everything are the ids of all lights: of one search, or if that shows too few of
// one for each coast.
func (w *work) everything() (ids []string, ok bool) {
	h, ok := w.searchFor([]string{"lighthouse"}, true)
	if !ok || h.whole() {
		return h.ids, ok
	}
	ids = slices.Clone(h.ids)
	for _, side := range []string{"north", "south", "east", "west"} {
		part, found := w.searchFor([]string{side + " coast"}, true)
		ok = ok && found
		w.partial = w.partial || found && !part.whole()
		ids = append(ids, part.ids...)
	}
	return ids, ok
}

// handed are the ids that came with the request, if the study is about them.
func (w *work) handed(st researchQuery) []string {
	l := w.s.lib
	switch {
	case len(st.names)+len(st.pools) > 0 && !st.given:
		return nil
	case l.item != "" && len(st.names) == 0:
		return []string{l.item}
	case st.given || len(st.names)+len(st.pools) == 0:
		return l.given
	}
	return nil
}

// pool are the ids of a group.
func (w *work) pool(p pool) ([]string, bool) {
	queries := p.queries
	if p.inner != nil {
		inner := &work{s: w.s, final: w.final}
		ids, ok := inner.chosen(*p.inner)
		if ok = ok && len(ids) > 0; ok {
			var f stated
			if f, ok = inner.value(ids[0], p.field); ok {
				queries = []string{f.text}
			}
		}
		w.needs, w.lost, w.unknown = append(w.needs, inner.needs...), append(w.lost, inner.lost...), append(w.unknown, inner.unknown...)
		w.partial = w.partial || inner.partial
		if !ok {
			return nil, false
		}
	}
	h, ok := w.searchFor(queries, true)
	w.partial = w.partial || ok && !h.whole()
	return h.ids, ok
}

// named finds the id of a light by its name; it is empty if no document has it.
func (w *work) named(name string) (string, bool) {
	l := w.s.lib
	if idShape.MatchString(name) && (strings.Contains(name, "-") || slices.Contains(l.given, name)) && !l.absent[name] {
		return name, true
	}
	if id := w.titled(name, nil); id != "" {
		return id, true
	}
	h, ok := w.searchFor([]string{name}, false)
	if !ok {
		return "", false
	}
	if id := w.titled(name, h.ids); id != "" {
		return id, true
	}
	if !slices.Contains(w.unknown, name) {
		w.unknown = append(w.unknown, name)
	}
	return "", true
}

// titled is the document whose title is the name; among hits also the only one
// whose title has all its words.
func (w *work) titled(name string, among []string) string {
	l := w.s.lib
	var near []string
	for _, d := range l.learnt {
		if folded(w.nameOf(d.id)) == folded(name) {
			return d.id
		}
	}
	for _, h := range l.found {
		for _, id := range h.ids {
			title := folded(w.nameOf(id))
			if title == folded(name) {
				return id
			}
			if slices.Contains(among, id) && !slices.Contains(near, id) && hasWords(title, folded(name)) {
				near = append(near, id)
			}
		}
	}
	if len(near) == 1 {
		return near[0]
	}
	return ""
}

// hasWords reports whether a text has every word of another.
func hasWords(text, words string) bool {
	have := strings.Fields(text)
	return !slices.ContainsFunc(strings.Fields(words), func(s string) bool { return !slices.Contains(have, s) })
}

// nameOf is how a document is called: by its title without "lighthouse", or by its id.
func (w *work) nameOf(id string) string {
	title := w.s.lib.titles[id]
	for _, noun := range []string{" lighthouse", " light", " Lighthouse", " Light"} {
		title = strings.TrimSuffix(title, noun)
	}
	if title != "" {
		return title
	}
	var words []string
	for part := range strings.SplitSeq(id, "-") {
		if part != "" {
			words = append(words, strings.ToUpper(part[:1])+part[1:])
		}
	}
	return strings.Join(words, " ")
}

// chosen are the lights of a study that pass its tests and are the best. A search may
// find a document that only mentions the group: what is left of a choice is checked.
func (w *work) chosen(st researchQuery) ([]string, bool) {
	all, ok := w.lights(st)
	if !w.ready() || !ok && !w.final {
		return nil, false
	}
	for range maxHits {
		ids, ok := w.picked(st, all)
		if !ok || st.best == nil && len(st.tests) == 0 || len(ids) > few {
			return ids, ok
		}
		strangers, ok := w.strangers(st, ids)
		if !ok && !w.final {
			if st.op == opTell {
				w.values(ids, st.fields...)
			}
			return nil, false
		}
		if len(strangers) == 0 {
			return ids, true
		}
		all = slices.DeleteFunc(all, func(id string) bool { return slices.Contains(strangers, id) })
	}
	return nil, true
}

const (
	maxHits = 20 // of one search
	few     = 4  // hits are checked one by one
)

// picked are those of the lights that pass the tests and are the best.
func (w *work) picked(st researchQuery, ids []string) ([]string, bool) {
	ok := true
	for _, c := range st.tests {
		if ids, ok = w.passing(ids, c); !ok && !w.final {
			return nil, false
		}
	}
	if st.best != nil {
		ids, ok = w.bestOf(ids, *st.best)
	}
	return ids, ok || w.final
}

// strangers are the lights that belong to none of the study's pools.
func (w *work) strangers(st researchQuery, ids []string) (out []string, ok bool) {
	if !w.s.checks() || len(st.pools) == 0 || len(st.names) > 0 || st.given || w.s.fromNames || w.s.invent != nil {
		return nil, true
	}
	ok = true
	for _, id := range ids {
		belongs := false
		for _, p := range st.pools {
			in, known := w.belongs(id, p)
			belongs, ok = belongs || in, ok && known
		}
		if !belongs {
			out = append(out, id)
		}
	}
	return out, ok
}

// belongs reports whether a light is of a pool, as far as its fields tell.
func (w *work) belongs(id string, p pool) (in, known bool) {
	in, known = true, true
	for _, c := range []struct{ field, want string }{{regionField, p.region}, {designerField, p.designer}} {
		if c.want == "" {
			continue
		}
		f, ok := w.value(id, c.field)
		known = known && ok
		said := strings.TrimSuffix(folded(f.text), " coast")
		in = in && (!ok || !f.recorded || said == folded(c.want))
	}
	return in, known
}
