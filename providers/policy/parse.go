package policy

import (
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/providers/internal/document"
)

// Bounds of a policy's numbers.
const (
	maxCount       = 10_000_000
	maxTemperature = 2
)

// Parse reads a policy file, YAML or JSON, and lays it over the default
// policy. Fields under defaults and under a provider replace those of the same
// name, one by one. A task class is taken as a whole: what it leaves out falls
// back to defaults. The error joins every problem, each with its line; the
// policy is then not usable.
func Parse(data []byte) (Policy, error) { return parse(Default(), data) }

// FieldError is what is wrong with one field of a policy: its Line, counted from 1, the
// way to the Field and the Detail.
type FieldError = document.FieldError

// Read is Parse of a part of another file. Its error joins a *FieldError for each problem.
func Read(node *yaml.Node) (Policy, error) {
	return read(Default(), &document.Document{What: "policy"}, node)
}

func parse(p Policy, data []byte) (Policy, error) {
	d := &document.Document{What: "policy"}
	return read(p, d, d.Root(data))
}

// read lays a mapping over p; nil has no fields.
func read(p Policy, d *document.Document, node *yaml.Node) (Policy, error) {
	p.Providers, p.Classes = cloned(p.Providers), cloned(p.Classes)
	given := map[string]*yaml.Node{}
	d.Fields(node, "policy", func(name string, v *yaml.Node) bool {
		given[name] = v
		switch name {
		case "default_provider":
			d.Text(v, name, &p.DefaultProvider)
		case "default_class":
			d.Text(v, name, &p.DefaultClass)
		case "defaults":
			p.Defaults.read(d, v)
		case "providers":
			d.Fields(v, name, func(name string, v *yaml.Node) bool {
				entry := p.Providers[name]
				entry.read(d, v, "providers."+name)
				p.Providers[name] = entry
				return true
			})
		case "task_classes":
			d.Fields(v, name, func(name string, v *yaml.Node) bool {
				var entry Class
				entry.read(d, v, "task_classes."+name)
				p.Classes[name] = entry
				return true
			})
		default:
			return false
		}
		return true
	})
	if len(d.Problems) == 0 { // what contradicts itself shows best on its own
		p.contradictions(d, given)
	}
	return p, d.Err()
}

// contradictions finds defaults that name nothing.
func (p *Policy) contradictions(d *document.Document, given map[string]*yaml.Node) {
	if _, ok := p.Providers[p.DefaultProvider]; !ok {
		d.Problem(given["default_provider"], "default_provider", "%v", &UnknownError{What: "provider", Name: p.DefaultProvider, Known: slices.Sorted(maps.Keys(p.Providers))})
	}
	if _, ok := p.Classes[p.DefaultClass]; !ok {
		d.Problem(given["default_class"], "default_class", "%v", &UnknownError{What: "task class", Name: p.DefaultClass, Known: slices.Sorted(maps.Keys(p.Classes))})
	}
}

// cloned returns a copy of m that can be written to.
func cloned[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return maps.Clone(m)
}

func (p *Defaults) read(d *document.Document, n *yaml.Node) {
	d.Fields(n, "defaults", func(name string, v *yaml.Node) bool {
		where := "defaults." + name
		switch name {
		case "temp_action":
			d.Number(v, where, maxTemperature, &p.TempAction)
		case "temp_reply":
			d.Number(v, where, maxTemperature, &p.TempReply)
		case "max_tokens":
			d.Count(v, where, maxCount, &p.MaxTokens)
		case "max_steps":
			d.Count(v, where, maxCount, &p.MaxSteps)
		case "max_tool_calls":
			d.Count(v, where, maxCount, &p.MaxToolCalls)
		case "max_seconds":
			d.Count(v, where, maxCount, &p.MaxSeconds)
		default:
			return false
		}
		return true
	})
}

func (p *Provider) read(d *document.Document, n *yaml.Node, where string) {
	d.Fields(n, where, func(name string, v *yaml.Node) bool {
		switch name {
		case "model":
			d.Text(v, where+".model", &p.Model)
		case "max_tokens":
			p.MaxTokens = new(int)
			d.Count(v, where+".max_tokens", maxCount, p.MaxTokens)
		default:
			return false
		}
		return true
	})
}

func (p *Class) read(d *document.Document, n *yaml.Node, where string) {
	d.Fields(n, where, func(name string, v *yaml.Node) bool {
		switch name {
		case "temp":
			p.Temperature = new(float64)
			d.Number(v, where+".temp", maxTemperature, p.Temperature)
		case "max_tokens":
			p.MaxTokens = new(int)
			d.Count(v, where+".max_tokens", maxCount, p.MaxTokens)
		default:
			return false
		}
		return true
	})
}
