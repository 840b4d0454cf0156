package providers

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"
)

// Bounds of a policy's numbers.
const (
	maxPolicyCount       = 10_000_000
	maxPolicyTemperature = 2
)

// ParsePolicy reads a policy file, YAML or JSON, and lays it over the default
// policy. Fields under defaults and under a provider replace those of the same
// name, one by one. A task class is taken as a whole: what it leaves out falls
// back to defaults. The error joins every problem, each with its line; the
// policy is then not usable.
func ParsePolicy(data []byte) (Policy, error) { return parsePolicy(DefaultPolicy(), data) }

// ReadPolicy is ParsePolicy of a part of another file. Its error joins a *FieldError for
// each problem.
func ReadPolicy(node *yaml.Node) (Policy, error) {
	return readPolicy(DefaultPolicy(), &document{what: "policy"}, node)
}

func parsePolicy(p Policy, data []byte) (Policy, error) {
	d := &document{what: "policy"}
	return readPolicy(p, d, d.root(data))
}

// readPolicy lays a mapping over p; nil has no fields.
func readPolicy(p Policy, d *document, node *yaml.Node) (Policy, error) {
	p.Providers, p.Classes = cloned(p.Providers), cloned(p.Classes)
	given := map[string]*yaml.Node{}
	d.fields(node, "policy", func(name string, v *yaml.Node) bool {
		given[name] = v
		switch name {
		case "default_provider":
			d.text(v, name, &p.DefaultProvider)
		case "default_class":
			d.text(v, name, &p.DefaultClass)
		case "defaults":
			p.Defaults.read(d, v)
		case "providers":
			d.fields(v, name, func(name string, v *yaml.Node) bool {
				entry := p.Providers[name]
				entry.read(d, v, "providers."+name)
				p.Providers[name] = entry
				return true
			})
		case "task_classes":
			d.fields(v, name, func(name string, v *yaml.Node) bool {
				var entry PolicyClass
				entry.read(d, v, "task_classes."+name)
				p.Classes[name] = entry
				return true
			})
		default:
			return false
		}
		return true
	})
	if len(d.problems) == 0 { // what contradicts itself shows best on its own
		p.contradictions(d, given)
	}
	return p, d.err()
}

// contradictions finds defaults that name nothing.
func (p *Policy) contradictions(d *document, given map[string]*yaml.Node) {
	if _, ok := p.Providers[p.DefaultProvider]; !ok {
		d.problem(given["default_provider"], "default_provider", "%v", &UnknownError{What: "provider", Name: p.DefaultProvider, Known: slices.Sorted(maps.Keys(p.Providers))})
	}
	if _, ok := p.Classes[p.DefaultClass]; !ok {
		d.problem(given["default_class"], "default_class", "%v", &UnknownError{What: "task class", Name: p.DefaultClass, Known: slices.Sorted(maps.Keys(p.Classes))})
	}
}

// cloned returns a copy of m that can be written to.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

func (p *PolicyDefaults) read(d *document, n *yaml.Node) {
	d.fields(n, "defaults", func(name string, v *yaml.Node) bool {
		where := "defaults." + name
		switch name {
		case "temp_action":
			d.number(v, where, maxPolicyTemperature, &p.TempAction)
		case "temp_reply":
			d.number(v, where, maxPolicyTemperature, &p.TempReply)
		case "max_tokens":
			d.count(v, where, maxPolicyCount, &p.MaxTokens)
		case "max_steps":
			d.count(v, where, maxPolicyCount, &p.MaxSteps)
		case "max_tool_calls":
			d.count(v, where, maxPolicyCount, &p.MaxToolCalls)
		case "max_seconds":
			d.count(v, where, maxPolicyCount, &p.MaxSeconds)
		default:
			return false
		}
		return true
	})
}

func (p *PolicyProvider) read(d *document, n *yaml.Node, where string) {
	d.fields(n, where, func(name string, v *yaml.Node) bool {
		switch name {
		case "model":
			d.text(v, where+".model", &p.Model)
		case "max_tokens":
			p.MaxTokens = new(int)
			d.count(v, where+".max_tokens", maxPolicyCount, p.MaxTokens)
		default:
			return false
		}
		return true
	})
}

func (p *PolicyClass) read(d *document, n *yaml.Node, where string) {
	d.fields(n, where, func(name string, v *yaml.Node) bool {
		switch name {
		case "temp":
			p.Temperature = new(float64)
			d.number(v, where+".temp", maxPolicyTemperature, p.Temperature)
		case "max_tokens":
			p.MaxTokens = new(int)
			d.count(v, where+".max_tokens", maxPolicyCount, p.MaxTokens)
		default:
			return false
		}
		return true
	})
}
