package load

import (
	"encoding/json"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// candidates reads a suite's default candidates.
func candidates(list yamlfile.Place) []goldens.Candidate {
	var out []goldens.Candidate
	first := map[string]int{}
	for _, item := range list.Items() {
		before := len(item.Src.Found.List)
		o := item.Object(candidateFields)
		var c goldens.Candidate
		for _, f := range []struct {
			name string
			to   *string
		}{
			{"name", &c.Name}, {"agent", &c.Agent}, {"provider", &c.Provider}, {"model", &c.Model}, {"mode", &c.Mode},
			{"profile", &c.Profile},
		} {
			if p, ok := o.Get(f.name); ok {
				*f.to = p.Filled()
			}
		}
		settings(o, &c)
		if len(item.Src.Found.List) == before {
			c.Faults(faultsAt(o))
		}
		if line, dup := first[c.Name]; dup && c.Name != "" {
			o.FieldAt("name").Failf("candidate %s is defined already, on line %d", c.Name, line)
		} else {
			first[c.Name] = item.At()
		}
		out = append(out, c)
	}
	return out
}

// settings lays over a candidate what the object says beyond whom to ask for what.
func settings(o yamlfile.Object, c *goldens.Candidate) {
	scalars(o, c)
	wireFields(o, c)
}

// scalars sets the settings that are a single word or number.
func scalars(o yamlfile.Object, c *goldens.Candidate) {
	for _, f := range []struct {
		name string
		to   *string
	}{{"rescue", &c.Rescue}, {"fallback", &c.Fallback}, {"base_url", &c.BaseURL}, {"key_env", &c.KeyEnv}, {"region", &c.Region}} {
		if p, ok := o.Get(f.name); ok {
			*f.to = p.Filled()
		}
	}
	for _, f := range []struct {
		name string
		to   *bool
	}{{"rescue_on_contradiction", &c.RescueOnContradiction}, {"compress", &c.Compress}, {"no_images", &c.NoImages}, {"stream", &c.Stream}} {
		if p, ok := o.Get(f.name); ok {
			*f.to = p.Flag()
		}
	}
	agentFields(o, c)
	if p, ok := o.Get("max_tokens"); ok {
		n := int(p.Integer(1, goldens.MaxTokensCap))
		c.MaxTokens = &n
	}
	if p, ok := o.Get("temperature"); ok {
		t := p.Number(goldens.MaxTemperature)
		c.Temperature = &t
	}
}

// wireFields reads what is passed through to the wire.
func wireFields(o yamlfile.Object, c *goldens.Candidate) {
	for _, f := range []struct {
		name string
		to   *map[string]string
	}{{"headers", &c.Headers}, {"query", &c.Query}} {
		p, ok := o.Get(f.name)
		if !ok {
			continue
		}
		*f.to = map[string]string{}
		for _, e := range p.Entries() {
			(*f.to)[e.Key] = e.Value.Text()
		}
	}
	if p, ok := o.Get("body"); ok {
		if !p.IsMapping() {
			p.Wants("an object")
			return
		}
		_ = json.Unmarshal(p.JSON(), &c.Body) // it has just been written
	}
}

// faultsAt records a fault at its field, or at the object where the field is absent.
func faultsAt(o yamlfile.Object) func(field, detail string) {
	return func(field, detail string) { o.FieldAt(field).Failf("%s", detail) }
}
