package goldens

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxTokensCap and maxTemperature bound what a candidate may ask for.
const (
	maxTokensCap   = 1_000_000
	maxTemperature = 2
)

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// Validate reports everything that is wrong with a candidate, by field name: a
// name that cannot be a folder, a missing provider or model, a base URL that is
// none, a number out of range.
func (c Candidate) Validate() error {
	var errs []error
	for _, f := range c.faults() {
		errs = append(errs, fmt.Errorf("%s: %s", f.field, f.detail))
	}
	return errors.Join(errs...)
}

type fieldFault struct{ field, detail string }

// faults lists what is wrong, in field order.
func (c Candidate) faults() []fieldFault {
	var out []fieldFault
	add := func(field, detail string) {
		if detail != "" {
			out = append(out, fieldFault{field, detail})
		}
	}
	for _, f := range []struct{ name, value string }{{"name", c.Name}, {"provider", c.Provider}, {"model", c.Model}} {
		if strings.TrimSpace(f.value) == "" {
			add(f.name, "is missing")
		}
	}
	add("name", lowerName.fault(c.Name))
	if c.BaseURL != "" {
		u, err := url.Parse(c.BaseURL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
			add("base_url", "must be an http or https address without a user name")
		}
	}
	if c.KeyEnv != "" && !envName.MatchString(c.KeyEnv) {
		add("key_env", "must be the name of an environment variable, never the key itself")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		switch {
		case !headerName.MatchString(name):
			add("headers", fmt.Sprintf("%.80q is no name of a header", name))
		case secretName.MatchString(name):
			add("headers", name+" would hold a credential: name its environment variable with key_env instead")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Query)) {
		if secretName.MatchString(name) {
			add("query", name+" would hold a credential: name its environment variable with key_env instead")
		}
	}
	if _, err := json.Marshal(c.Body); err != nil {
		add("body", "cannot be written as JSON")
	}
	if c.RescueOnContradiction && c.Rescue == "" {
		add("rescue_on_contradiction", "needs a rescue model to ask")
	}
	if c.MaxTokens != nil && (*c.MaxTokens < 1 || *c.MaxTokens > maxTokensCap) {
		add("max_tokens", fmt.Sprintf("must be from 1 to %d, but is %d", maxTokensCap, *c.MaxTokens))
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= maxTemperature) {
		add("temperature", fmt.Sprintf("must be a number from 0 to %d, but is %v", maxTemperature, *t))
	}
	c.agentFaults(add)
	return out
}

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
