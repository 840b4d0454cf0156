package goldens

import (
	"encoding/json"
)

// candidates reads a suite's default candidates.
func candidates(list place) []Candidate {
	var out []Candidate
	first := map[string]int{}
	for _, item := range list.items() {
		before := len(item.src.found.list)
		o := item.object(candidateFields)
		var c Candidate
		for _, f := range []struct {
			name string
			to   *string
		}{
			{"name", &c.Name}, {"agent", &c.Agent}, {"provider", &c.Provider}, {"model", &c.Model}, {"mode", &c.Mode},
			{"profile", &c.Profile},
		} {
			if p, ok := o.get(f.name); ok {
				*f.to = p.filled()
			}
		}
		o.settings(&c)
		if len(item.src.found.list) == before {
			o.report(c.faults())
		}
		if line, dup := first[c.Name]; dup && c.Name != "" {
			o.fieldAt("name").failf("candidate %s is defined already, on line %d", c.Name, line)
		} else {
			first[c.Name] = item.at()
		}
		out = append(out, c)
	}
	return out
}

// settings lays over a candidate what the object says beyond whom to ask for what.
func (o object) settings(c *Candidate) {
	o.dials(c)
	o.wireFields(c)
}

// dials are the settings that are no more than a word or a number.
func (o object) dials(c *Candidate) {
	for _, f := range []struct {
		name string
		to   *string
	}{{"rescue", &c.Rescue}, {"fallback", &c.Fallback}, {"base_url", &c.BaseURL}, {"key_env", &c.KeyEnv}, {"region", &c.Region}} {
		if p, ok := o.get(f.name); ok {
			*f.to = p.filled()
		}
	}
	for _, f := range []struct {
		name string
		to   *bool
	}{{"rescue_on_contradiction", &c.RescueOnContradiction}, {"compress", &c.Compress}, {"no_images", &c.NoImages}, {"stream", &c.Stream}} {
		if p, ok := o.get(f.name); ok {
			*f.to = p.flag()
		}
	}
	o.agentFields(c)
	if p, ok := o.get("max_tokens"); ok {
		n := int(p.integer(1, maxTokensCap))
		c.MaxTokens = &n
	}
	if p, ok := o.get("temperature"); ok {
		t := p.number(maxTemperature)
		c.Temperature = &t
	}
}

// wireFields reads what is passed through to the wire.
func (o object) wireFields(c *Candidate) {
	for _, f := range []struct {
		name string
		to   *map[string]string
	}{{"headers", &c.Headers}, {"query", &c.Query}} {
		p, ok := o.get(f.name)
		if !ok {
			continue
		}
		*f.to = map[string]string{}
		for _, e := range p.entries() {
			(*f.to)[e.key] = e.value.text()
		}
	}
	if p, ok := o.get("body"); ok {
		if !p.isMapping() {
			p.wants("an object")
			return
		}
		_ = json.Unmarshal(p.json(), &c.Body) // it has just been written
	}
}

// report records faults at their fields, or at the object where the field is absent.
func (o object) report(faults []fieldFault) {
	for _, f := range faults {
		o.fieldAt(f.field).failf("%s", f.detail)
	}
}
