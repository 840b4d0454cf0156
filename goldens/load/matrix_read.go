package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

var (
	matrixFields    = slices.Concat(axisNames[:], settingFields, []string{"exclude", "include"})
	settingFields   = candidateFields[6:] // what is neither a name nor an axis
	inclusionFields = slices.Concat([]string{"name"}, axisNames[:], settingFields)
)

// Matrix reads the matrix of candidates at node in a YAML file,
// and returns its candidates: every combination of its agents, providers, models,
// modes and profiles that is not excluded, in that order, then those it includes.
// None may be named like one of beside. The error joins every problem found, each
// a *Problem.
func Matrix(file string, node *yaml.Node, beside []goldens.Candidate) ([]goldens.Candidate, error) {
	src := &yamlfile.Source{File: file, Found: &yamlfile.Findings{}}
	size := yamlfile.Measurer{Size: map[*yaml.Node]int{}, Open: map[*yaml.Node]bool{}}
	if size.Count(node, 0); size.Fault != "" {
		src.Failf(size.Line, "matrix", "%s", size.Fault)
		return nil, src.Found.Join()
	}
	out := readMatrix(yamlfile.Place{Src: src, Node: node, Path: "matrix"}, beside)
	if err := src.Found.Join(); err != nil {
		return nil, err
	}
	return out, nil
}

func readMatrix(p yamlfile.Place, beside []goldens.Candidate) []goldens.Candidate {
	found := p.Src.Found
	before := len(found.List)
	root := p.Object(matrixFields)
	if !root.IsMapping() {
		return nil
	}
	m := matrix{set: readSettings(root)}
	m.readAxes(root)
	for _, item := range entriesOf(root, "exclude") {
		o := item.Object(axisNames[:])
		m.exclude = append(m.exclude, m.region(o))
	}
	for _, item := range entriesOf(root, "include") {
		m.include = append(m.include, m.addition(item.Object(inclusionFields)))
	}
	if len(found.List) > before {
		return nil
	}
	out, faults := m.expand()
	for _, f := range faults {
		if f.list == "" {
			root.FieldAt("provider").Failf("%s", f.detail)
		} else {
			root.FieldAt(f.list).Item(f.index).Failf("%s", f.detail)
		}
	}
	for _, c := range out {
		if slices.ContainsFunc(beside, func(b goldens.Candidate) bool { return b.Name == c.Name }) {
			p.Failf("candidate %s of the matrix is also one of candidates", c.Name)
		}
		if len(faults) == 0 {
			c.Faults(faultsAt(root))
		}
	}
	return out
}

// entriesOf are the entries of exclude or include.
func entriesOf(o yamlfile.Object, name string) []yamlfile.Place {
	list, ok := o.Get(name)
	if !ok {
		return nil
	}
	items := list.Items()
	if len(items) > maxCandidates {
		list.Failf("may have at most %d entries", maxCandidates)
		return nil
	}
	return items
}

// readAxes reads the values of every axis. Models are in a list, for every
// provider, or below their providers.
func (m *matrix) readAxes(root yamlfile.Object) {
	for axis, name := range axisNames {
		if axis != axisProfile { // each agent has its own
			m.values[axis] = []string{axisDefault(axis, "")}
		}
		if p, ok := root.Get(name); ok && (axis != axisProvider || !p.IsMapping()) {
			m.values[axis] = oneOrMore(p)
		}
	}
	providers, ok := root.Need("provider")
	if !ok || !providers.IsMapping() {
		root.Need("model")
		return
	}
	if p, ok := root.Get("model"); ok {
		p.Failf("the models are already listed below their providers; remove model")
	}
	m.models = map[string][]string{}
	m.values[axisProvider], m.values[axisModel] = nil, nil
	for _, e := range providers.Entries() {
		m.values[axisProvider] = append(m.values[axisProvider], e.Key)
		m.models[e.Key] = oneOrMore(e.Value)
		m.values[axisModel] = append(m.values[axisModel], m.models[e.Key]...)
	}
	if len(m.models) == 0 {
		providers.Failf("must have at least one provider")
	}
}

// oneOrMore reads a string, or a list of them without repetitions.
func oneOrMore(p yamlfile.Place) []string {
	if p.Value().Kind != yaml.SequenceNode {
		return []string{p.Filled()}
	}
	if len(p.Value().Content) > maxCandidates {
		p.Failf("may have at most %d values", maxCandidates)
		return nil
	}
	words := p.Words()
	if len(words) == 0 {
		p.Failf("must have at least one value")
	}
	return words
}

// region reads the axes of an entry. They may have values of the matrix only.
func (m *matrix) region(o yamlfile.Object) region {
	var out region
	some := false
	for axis, name := range axisNames {
		p, ok := o.Get(name)
		if !ok {
			continue
		}
		some = true
		out[axis] = oneOrMore(p)
		for _, value := range out[axis] {
			if all := m.allOf(axis); value != "" && !slices.Contains(all, value) {
				p.Failf("%q is not in the %s axis of the matrix%s; it has: %s", value, name, yamlfile.Suggest(value, all), yamlfile.Listed(all))
			}
		}
	}
	if !some && o.IsMapping() {
		o.Failf("must have at least one of: %s", yamlfile.Listed(axisNames[:]))
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
func (m *matrix) addition(o yamlfile.Object) addition {
	a := addition{set: readSettings(o)}
	name, ok := o.Get("name")
	if !ok {
		a.region = m.region(o)
		if !slices.ContainsFunc(settingFields, o.Has) && o.IsMapping() {
			o.Failf("sets nothing; to add a separate candidate, give it a name")
		}
		return a
	}
	a.name = name.Filled()
	name.CheckName(yamlfile.LowerName, a.name)
	for axis, field := range axisNames { // the agent first
		agent := ""
		if a.region[axisAgent] != nil {
			agent = a.region[axisAgent][0]
		}
		value := axisDefault(axis, agent)
		if value == "" {
			o.Need(field)
		}
		if p, ok := o.Get(field); ok {
			value = p.Filled()
		}
		a.region[axis] = []string{value}
	}
	return a
}

// readSettings reads what an object lays over candidates, and reports what is wrong with it
// for any candidate.
func readSettings(o yamlfile.Object) func(*goldens.Candidate) {
	before := len(o.Src.Found.List)
	set := settings.Read[goldens.Candidate](o, settingFields)
	const any = "x"
	c := goldens.Candidate{Name: any, Agent: any, Provider: any, Model: any, Rescue: any}
	if set(&c); len(o.Src.Found.List) == before {
		c.Faults(faultsAt(o))
	}
	return set
}
