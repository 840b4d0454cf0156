package goldens

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// Helpers lists the models that take part in the task's episodes besides the candidate, each
// once, in the order of the task.
func (t Task) Helpers() (out []helper.Helper) {
	seen := map[string]bool{}
	if t.User != nil {
		out = append(out, t.User.Helper())
	}
	for _, e := range t.Expect {
		for _, c := range e.Judges {
			if c.Judge != nil && !seen[c.Name] {
				seen[c.Name] = true
				out = append(out, c.Helper())
			}
		}
	}
	return out
}

// UserFaults lists what the simulated user of the task did wrong in an episode: see
// persona.User.Faults. It is nil without one. How the task is scored plays no part.
func (t Task) UserFaults(o Outcome) []string {
	if t.User == nil {
		return nil
	}
	var expected []string
	for _, e := range t.Expect {
		expected = slices.Concat(expected, e.Numbers, e.ContainsAny, e.ContainsAll)
	}
	return t.User.Faults(t.Request, o.Talk, expected)
}

// Asking returns the candidate with another model: that of a helper.
func (c Candidate) Asking(m helper.Model) Candidate {
	return Candidate{
		Name: c.Name, Provider: m.Provider, Model: m.Model, Mode: m.Mode, BaseURL: m.BaseURL, KeyEnv: m.KeyEnv, Region: m.Region,
		Headers: m.Headers, Query: m.Query, Body: m.Body, MaxTokens: m.MaxTokens, Temperature: m.Temperature,
	}
}

var judgeFields = []string{"name", "with", "at_least"}

// judgeChecks is the field judge: the name of a judge, a mapping with it, or a list of these.
type judgeChecks struct{}

func (judgeChecks) set(e *Expect, p yamlfile.Place, _ bool) {
	e.Judges = nil
	items := []yamlfile.Place{p}
	if p.Kind() == "a list" {
		items = p.Items()
	}
	for _, item := range items {
		var c helper.Check
		if item.IsMapping() {
			o := item.Object(judgeFields)
			if name, ok := o.Need("name"); ok {
				c.Name = name.Filled()
			}
			yamlfile.Read(o, "with", &c.With, yamlfile.Place.JSON)
			yamlfile.Read(o, "at_least", &c.AtLeast, atLeast)
		} else {
			c.Name = item.Filled()
		}
		if slices.ContainsFunc(e.Judges, func(other helper.Check) bool { return other.Name == c.Name }) {
			item.Failf("the outcome names judge %q twice; remove one", c.Name)
		}
		e.Judges = append(e.Judges, c)
	}
}

func (judgeChecks) takeAway(e *Expect) bool { e.Judges = nil; return true }

func (judgeChecks) write(is, was *Expect) *yaml.Node {
	return changed(is.Judges, was.Judges, is.Judges == nil, func(list []helper.Check) *yaml.Node {
		out := yamlfile.Sequence(0)
		for _, c := range list {
			if c.With == nil && c.AtLeast == nil {
				out.Content = append(out.Content, yamlfile.Word(c.Name))
				continue
			}
			item := yamlfile.Fields(yaml.FlowStyle, "name", yamlfile.Name(c.Name))
			addScorer(item, c.With, c.AtLeast)
			out.Content = append(out.Content, item)
		}
		return out
	})
}

func (judgeChecks) parts(key string, e *Expect) []Part {
	if len(e.Judges) == 0 {
		return nil
	}
	return []Part{whole(key, func(to *Expect) { to.Judges = e.Judges })}
}

// judges checks what judges found. A judge without a verdict fails: absent data never passes.
func (s *scorer) judges(e *Expect) {
	for _, c := range e.Judges {
		s.scored(string(helper.Judge)+"."+c.Name, c.AtLeast, c.Passed)
	}
}
