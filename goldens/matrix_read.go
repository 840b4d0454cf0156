package goldens

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

var (
	matrixFields    = slices.Concat(axisNames[:], settingFields, []string{"exclude", "include"})
	settingFields   = candidateFields[6:] // what is neither a name nor an axis
	inclusionFields = slices.Concat([]string{"name"}, axisNames[:], settingFields)
)

// ReadMatrix reads the matrix of candidates that stands as node in a YAML file,
// and returns its candidates: every combination of its agents, providers, models,
// modes and profiles that is not excluded, in that order, then those it includes.
// None may be named like one of beside. The error joins every problem found, each
// a *Problem.
func ReadMatrix(file string, node *yaml.Node, beside []Candidate) ([]Candidate, error) {
	src := &source{file: file, found: &findings{}}
	size := measurer{size: map[*yaml.Node]int{}, open: map[*yaml.Node]bool{}}
	if size.count(node, 0); size.fault != "" {
		src.failf(size.line, "matrix", "%s", size.fault)
		return nil, src.found.join()
	}
	out := readMatrix(place{src: src, node: node, path: "matrix"}, beside)
	if err := src.found.join(); err != nil {
		return nil, err
	}
	return out, nil
}

func readMatrix(p place, beside []Candidate) []Candidate {
	found := p.src.found
	before := len(found.list)
	root := p.object(matrixFields)
	if !root.isMapping() {
		return nil
	}
	root.checkSettings()
	m := matrix{set: root.overlay()}
	m.readAxes(root)
	for _, item := range root.entriesOf("exclude") {
		o := item.object(axisNames[:])
		m.exclude = append(m.exclude, m.region(o))
	}
	for _, item := range root.entriesOf("include") {
		m.include = append(m.include, m.addition(item.object(inclusionFields)))
	}
	if len(found.list) > before {
		return nil
	}
	out, faults := m.expand()
	for _, f := range faults {
		if f.list == "" {
			root.fieldAt("provider").failf("%s", f.detail)
		} else {
			root.fieldAt(f.list).item(f.index).failf("%s", f.detail)
		}
	}
	for _, c := range out {
		if slices.ContainsFunc(beside, func(b Candidate) bool { return b.Name == c.Name }) {
			p.failf("candidate %s of the matrix is also one of candidates", c.Name)
		}
		if len(faults) == 0 {
			root.report(c.faults())
		}
	}
	return out
}

// entriesOf are the entries of exclude or include.
func (o object) entriesOf(name string) []place {
	list, ok := o.get(name)
	if !ok {
		return nil
	}
	items := list.items()
	if len(items) > maxCandidates {
		list.failf("may have at most %d entries", maxCandidates)
		return nil
	}
	return items
}

// readAxes reads the values of every axis. Models stand in a list, for every
// provider, or below their providers.
func (m *matrix) readAxes(root object) {
	for axis, name := range axisNames {
		if axis != axisProfile { // each agent has its own
			m.values[axis] = []string{axisDefault(axis, "")}
		}
		if p, ok := root.get(name); ok && (axis != axisProvider || !p.isMapping()) {
			m.values[axis] = p.oneOrMore()
		}
	}
	providers, ok := root.need("provider")
	if !ok || !providers.isMapping() {
		root.need("model")
		return
	}
	if p, ok := root.get("model"); ok {
		p.failf("the models stand below their providers already")
	}
	m.models = map[string][]string{}
	m.values[axisProvider], m.values[axisModel] = nil, nil
	for _, e := range providers.entries() {
		m.values[axisProvider] = append(m.values[axisProvider], e.key)
		m.models[e.key] = e.value.oneOrMore()
		m.values[axisModel] = append(m.values[axisModel], m.models[e.key]...)
	}
	if len(m.models) == 0 {
		providers.failf("must have at least one provider")
	}
}

// oneOrMore reads a string, or a list of them without repetitions.
func (p place) oneOrMore() []string {
	if p.value().Kind != yaml.SequenceNode {
		return []string{p.filled()}
	}
	if len(p.value().Content) > maxCandidates {
		p.failf("may have at most %d values", maxCandidates)
		return nil
	}
	words := p.words()
	if len(words) == 0 {
		p.failf("must have at least one value")
	}
	return words
}

// region reads the axes of an entry. They may have values of the matrix only.
func (m *matrix) region(o object) region {
	var out region
	some := false
	for axis, name := range axisNames {
		p, ok := o.get(name)
		if !ok {
			continue
		}
		some = true
		out[axis] = p.oneOrMore()
		for _, value := range out[axis] {
			if all := m.allOf(axis); value != "" && !slices.Contains(all, value) {
				p.failf("%q is no %s of the matrix%s; it has: %s", value, name, suggest(value, all), listed(all))
			}
		}
	}
	if !some && o.isMapping() {
		o.failf("must have at least one of: %s", listed(axisNames[:]))
	}
	return out
}

// allOf are the values of an axis in the matrix.
func (m *matrix) allOf(axis int) []string {
	if axis != axisProfile {
		return m.values[axis]
	}
	var all []string
	for _, agent := range m.values[axisAgent] {
		for _, profile := range m.profilesOf(agent) {
			if !slices.Contains(all, profile) {
				all = append(all, profile)
			}
		}
	}
	return all
}

// addition reads an entry of include.
func (m *matrix) addition(o object) addition {
	o.checkSettings()
	a := addition{set: o.overlay()}
	name, ok := o.get("name")
	if !ok {
		a.region = m.region(o)
		if !slices.ContainsFunc(settingFields, o.has) && o.isMapping() {
			o.failf("sets nothing; to add a candidate of its own, give it a name")
		}
		return a
	}
	a.name = name.filled()
	name.checkName(lowerName, a.name)
	for axis, field := range axisNames { // the agent first
		agent := ""
		if a.region[axisAgent] != nil {
			agent = a.region[axisAgent][0]
		}
		value := axisDefault(axis, agent)
		if value == "" {
			o.need(field)
		}
		if p, ok := o.get(field); ok {
			value = p.filled()
		}
		a.region[axis] = []string{value}
	}
	return a
}

// overlay lays the object's settings over candidates. What may be large is read
// once, and shared by them below its first level.
func (o object) overlay() func(*Candidate) {
	var wire Candidate
	o.wireFields(&wire)
	return func(c *Candidate) {
		o.dials(c)
		if wire.Headers != nil {
			c.Headers = maps.Clone(wire.Headers)
		}
		if wire.Query != nil {
			c.Query = maps.Clone(wire.Query)
		}
		if wire.Body != nil {
			c.Body = maps.Clone(wire.Body)
		}
	}
}

// checkSettings reports what is wrong with what an object sets, whatever
// candidate it is laid over.
func (o object) checkSettings() {
	before := len(o.src.found.list)
	const any = "x"
	c := Candidate{Name: any, Agent: any, Provider: any, Model: any, Rescue: any}
	o.settings(&c)
	if len(o.src.found.list) == before {
		o.report(c.faults())
	}
}
