package sim

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What steps hand on has the shape of the tools' results, so that the next step reads
// it as such.
//
// A plan has to fit into one output: of several groups the titles are left out.
const (
	hitsSchema = `{"type":"object","properties":{"query":{"type":"string"},"results":{"type":"array","items":` +
		`{"type":"object","properties":{"id":{"type":"string"},"title":{"type":"string"}}}}}}`
	bareHitsSchema = `{"type":"object","properties":{"query":{"type":"string"},"results":{"type":"array","items":` +
		`{"type":"object","properties":{"id":{"type":"string"}}}}}}`
)

// datumSchema is of one field of one document; a note says why there is no value.
func datumSchema(field string) string {
	kind := `"string"`
	if slices.Contains(numeric, field) {
		kind = `"number"`
	}
	return `{"type":"object","properties":{"id":{"type":"string"},"` + field + `":{"type":[` + kind + `,"null"]},"note":{"type":"string"}}}`
}

// stepName matches what may be the id of a step.
var stepName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,40}$`)

// maxParallel bounds how many lights get a step of their own.
const maxParallel = 8

// steps breaks the request into searches, look-ups over what they find, and the
// answer. What one look-up answers is one step.
func (s *researchModel) steps() []planStep {
	whole := planStep{ID: "answer", Instructions: s.prompt.request, DependsOn: []string{}}
	if names := s.study.names; len(names) > 0 && len(s.prompt.earlier) > 0 && len(readStudy(s.prompt.request).names) == 0 {
		whole.Instructions += " It is about " + enumerate(names) + "." // who carries it out has heard nothing
	}
	st := s.study
	if _, unclear := s.missing(); unclear || st.meddling || st.op == opLook {
		return []planStep{whole}
	}
	d := &drafting{s: s}
	fields := st.needed()
	for i := range st.pools {
		schema := hitsSchema
		if len(st.pools) > 1 {
			schema = bareHitsSchema
		}
		d.find(&st.pools[i], schema, fields)
	}
	if len(st.pools) == 0 {
		d.read(st, fields)
	}
	for _, step := range d.steps {
		whole.DependsOn = append(whole.DependsOn, step.ID)
	}
	if len(d.steps) == 0 && st.given {
		for _, h := range s.prompt.given {
			whole.DependsOn = append(whole.DependsOn, h.name)
		}
	}
	return append(d.steps, whole)
}

// needed are the fields that the study reads of all its lights.
func (st researchQuery) needed() (out []string) {
	add := func(field string) {
		if field != "" && !slices.Contains(out, field) {
			out = append(out, field)
		}
	}
	for _, c := range st.tests {
		add(c.field)
	}
	if st.best != nil {
		add(st.best.field)
		return out
	}
	for _, f := range st.fields {
		add(f)
	}
	return out
}

// offered are those of the tools that are on offer.
func (s *researchModel) offered(tools ...string) []string {
	return slices.DeleteFunc(tools, func(name string) bool { return !s.prompt.tools[name] })
}

// drafting is a plan in the making.
type drafting struct {
	s     *researchModel
	steps []planStep
}

// add adds a step, by an id of its own.
func (d *drafting) add(step planStep) string {
	id := step.ID
	for n := 2; slices.ContainsFunc(d.steps, func(other planStep) bool { return other.ID == step.ID }); n++ {
		step.ID = fmt.Sprintf("%s_%d", id, n)
	}
	if step.DependsOn == nil {
		step.DependsOn = []string{}
	}
	d.steps = append(d.steps, step)
	return step.ID
}

// find plans the search for a pool, and a look-up of each field over its hits.
func (d *drafting) find(p *pool, schema string, fields []string) {
	step := planStep{ID: "find", Mode: "discover", OutputSchema: schema, Tools: d.s.offered(searchTool)}
	switch {
	case p.inner != nil:
		whose := d.add(planStep{ID: "whose", Instructions: p.inner.instruction(p.field), OutputSchema: datumSchema(p.field)})
		step.Instructions, step.DependsOn = "Search for the "+p.field+" given.", []string{whose}
	default:
		step.Instructions = fmt.Sprintf("Search for %q.", strings.ReplaceAll(p.queries[0], `"`, ""))
	}
	found := d.add(step)
	for _, field := range fields {
		d.each(found, "id", field)
	}
}

// instruction asks for a field of what an inner study is about.
func (st researchQuery) instruction(field string) string {
	if len(st.names) == 1 && st.best == nil {
		return extraction(field, st.names[0])
	}
	text := fmt.Sprintf("Extract the %s of the light", field)
	if st.best != nil {
		order := []string{"lowest", "highest"}
		if st.best.field == builtField || st.best.field == automatedField {
			order = []string{"earliest", "latest"} // a year is not high
		}
		at := 0
		if st.best.high {
			at = 1
		}
		text += fmt.Sprintf(" with the %s %s", order[at], st.best.field)
	}
	return text + st.described() + "."
}

func extraction(field, name string) string {
	return fmt.Sprintf(`Extract the %s of "%s".`, field, name)
}

// each plans the look-up of a field over a list.
func (d *drafting) each(list, item, field string) {
	d.add(planStep{
		ID: "read", Mode: "process", DependsOn: []string{list},
		Instructions:        "Look each of them up.",
		PerItemInstructions: extraction(field, "{"+item+"}"), PerItemSchema: datumSchema(field),
	})
}

// readers are the tools that read a field.
func (d *drafting) readers(field string) []string {
	if field == keeperField || field == textField {
		return d.s.offered(searchTool, openTool)
	}
	return d.s.offered(searchTool, extractTool)
}

// read plans the look-ups of lights that the request names or gives; one alone needs
// no plan.
func (d *drafting) read(st researchQuery, fields []string) {
	if st.given {
		for _, h := range d.s.prompt.given {
			if len(st.names) == 0 && strings.HasPrefix(strings.TrimSpace(h.value), "[") {
				for _, field := range fields {
					d.each(h.name, "item", field)
				}
			}
		}
		return
	}
	if n := len(st.names) * len(fields); n < 2 || n > maxParallel {
		return
	}
	for _, name := range st.names {
		for _, field := range fields {
			id := strings.ReplaceAll(folded(name), " ", "_")
			if !stepName.MatchString(id) {
				id = "light"
			}
			d.add(planStep{ID: id, Instructions: extraction(field, strings.ReplaceAll(name, `"`, "")), OutputSchema: datumSchema(field), Tools: d.readers(field)})
		}
	}
}
