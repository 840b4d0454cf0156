package load

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
)

// faultOnly has the fields of each kind besides tool, on_calls and kind; the first is needed.
var faultOnly = map[world.FaultKind][]string{
	world.FaultError:   {"code", "status", "message"},
	world.FaultTimeout: {"after"},
	world.FaultLatency: {"after"},
	world.FaultReplace: {"value"},
	world.FaultAugment: {"fields"},
	world.FaultAppend:  {"value"},
}

var faultKinds = []string{string(world.FaultError), string(world.FaultTimeout), string(world.FaultLatency), string(world.FaultReplace), string(world.FaultAugment), string(world.FaultAppend)}

// faults reads the faults of a task that offers these tools.
func faults(list yamlfile.Place, offered []string) []world.Fault {
	var out []world.Fault
	for _, item := range list.Items() {
		out = append(out, fault(item.Object(faultFields), offered))
	}
	return out
}

func fault(o yamlfile.Object, offered []string) world.Fault {
	var f world.Fault
	if p, ok := o.Need("tool"); ok {
		if f.Tool = p.Filled(); f.Tool != "" && !slices.Contains(offered, f.Tool) {
			p.Failf("the task offers no tool %q%s; it offers: %s", f.Tool, yamlfile.Suggest(f.Tool, offered), yamlfile.Listed(offered))
		}
	}
	yamlfile.Read(o, "on_calls", &f.OnCalls, onCalls)
	if p, ok := o.Need("kind"); ok {
		f.Kind = world.FaultKind(p.Choice(faultKinds...))
	}
	if f.Kind != "" {
		faultShape(o, f.Kind)
	}
	yamlfile.Read(o, "status", &f.Status, func(p yamlfile.Place) int { return int(p.Integer(100, 599)) })
	yamlfile.Read(o, "code", &f.Code, yamlfile.Place.Filled)
	yamlfile.Read(o, "message", &f.Message, yamlfile.Place.Filled)
	yamlfile.Read(o, "after", &f.After, yamlfile.Place.Duration)
	if p, ok := o.Get("fields"); ok {
		if p.Kind() != "a mapping" || len(p.Entries()) == 0 {
			p.Failf("must be a mapping of the fields to add")
		} else {
			f.Fields, _ = yamlfile.DecodeJSON(p.JSON()).(map[string]any)
		}
	}
	yamlfile.Read(o, "value", &f.Value, func(p yamlfile.Place) any {
		if f.Kind == world.FaultAppend {
			return p.Filled()
		}
		return yamlfile.DecodeJSON(p.JSON())
	})
	return f
}

// faultShape reports fields that the kind lacks or has no use for.
func faultShape(o yamlfile.Object, kind world.FaultKind) {
	if need := faultOnly[kind][0]; !o.Has(need) {
		o.FieldAt(need).Failf("is missing: a fault of kind %s needs it", kind)
	}
	for _, name := range faultFields {
		common := name == "tool" || name == "on_calls" || name == "kind"
		if !common && o.Has(name) && !slices.Contains(faultOnly[kind], name) {
			o.FieldAt(name).Failf("has no meaning for a fault of kind %s; it takes: %s", kind, strings.Join(faultOnly[kind], ", "))
		}
	}
}

func onCalls(p yamlfile.Place) []int {
	var out []int
	for _, item := range p.Items() {
		before := len(p.Src.Found.List)
		n := int(item.Integer(1, 10_000))
		switch {
		case len(p.Src.Found.List) > before: // no number
		case slices.Contains(out, n):
			item.Failf("call %d is in the list already", n)
		default:
			out = append(out, n)
		}
	}
	if len(p.Items()) == 0 && p.Kind() == "a list" {
		p.Failf("must contain at least one call number; leave it out for all calls")
	}
	return out
}
