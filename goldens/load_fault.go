package goldens

import (
	"slices"
	"strings"
)

// faultOnly says which fields belong to which kind, besides tool, on_calls and kind.
var faultOnly = map[FaultKind][]string{
	FaultError:   {"status", "code", "message"},
	FaultTimeout: {"after"},
	FaultLatency: {"after"},
	FaultReplace: {"value"},
	FaultAugment: {"fields"},
}

// faultNeeds says which of them must be there.
var faultNeeds = map[FaultKind]string{
	FaultError:   "code",
	FaultTimeout: "after",
	FaultLatency: "after",
	FaultReplace: "value",
	FaultAugment: "fields",
}

var faultKinds = []string{string(FaultError), string(FaultTimeout), string(FaultLatency), string(FaultReplace), string(FaultAugment)}

// faults reads the faults of a task that offers these tools.
func faults(list place, offered []string) []Fault {
	var out []Fault
	for _, item := range list.items() {
		out = append(out, fault(item.object(faultFields), offered))
	}
	return out
}

func fault(o object, offered []string) Fault {
	var f Fault
	if p, ok := o.need("tool"); ok {
		if f.Tool = p.filled(); f.Tool != "" && !slices.Contains(offered, f.Tool) {
			p.failf("the task offers no tool %q%s; it offers: %s", f.Tool, suggest(f.Tool, offered), listed(offered))
		}
	}
	if p, ok := o.get("on_calls"); ok {
		f.OnCalls = onCalls(p)
	}
	if p, ok := o.need("kind"); ok {
		f.Kind = FaultKind(p.choice(faultKinds...))
	}
	if f.Kind != "" {
		faultShape(o, f.Kind)
	}
	if p, ok := o.get("status"); ok {
		f.Status = int(p.integer(100, 599))
	}
	if p, ok := o.get("code"); ok {
		f.Code = p.filled()
	}
	if p, ok := o.get("message"); ok {
		f.Message = p.filled()
	}
	if p, ok := o.get("after"); ok {
		f.After = p.duration()
	}
	if p, ok := o.get("fields"); ok {
		if p.kind() != "a mapping" || len(p.entries()) == 0 {
			p.failf("must be a mapping of the fields to add")
		} else {
			f.Fields, _ = decodeJSON(p.json()).(map[string]any)
		}
	}
	if p, ok := o.get("value"); ok {
		f.Value = decodeJSON(p.json())
	}
	return f
}

// faultShape reports fields that the kind lacks or has no use for.
func faultShape(o object, kind FaultKind) {
	if need := faultNeeds[kind]; !o.has(need) {
		o.fieldAt(need).failf("is missing: a fault of kind %s needs it", kind)
	}
	for _, name := range faultFields {
		common := name == "tool" || name == "on_calls" || name == "kind"
		if !common && o.has(name) && !slices.Contains(faultOnly[kind], name) {
			o.fieldAt(name).failf("has no meaning for a fault of kind %s; it takes: %s", kind, strings.Join(faultOnly[kind], ", "))
		}
	}
}

func onCalls(p place) []int {
	var out []int
	for _, item := range p.items() {
		before := len(p.src.found.list)
		n := int(item.integer(1, 10_000))
		switch {
		case len(p.src.found.list) > before: // no number
		case slices.Contains(out, n):
			item.failf("call %d is in the list already", n)
		default:
			out = append(out, n)
		}
	}
	if len(p.items()) == 0 && p.kind() == "a list" {
		p.failf("must hold at least one call number; leave it out for all calls")
	}
	return out
}
