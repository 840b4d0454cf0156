package goldens

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
)

var emitFields = []string{"text", "json", "call", "respond", "clarify", "calls", "rescue", "reflect", "cut", "tokens", "cost_usd"}

// The fields of which an output has exactly one. Agent contract has no native
// calls, and the others have no contract objects.
var (
	contractForms = emitFields[:5]
	nativeForms   = []string{"text", "json", "calls"}
)

// script reads the outputs of a scripted model of an agent.
func script(list place, agent string) []Emit {
	forms := contractForms
	if strategy.Of(agent).Native {
		forms = nativeForms
	}
	var out []Emit
	for _, item := range list.items() {
		out = append(out, emit(item.object(emitFields), forms))
	}
	return out
}

func emit(o object, forms []string) Emit {
	var e Emit
	var given []string
	for _, form := range emitFields[:6] {
		p, ok := o.get(form)
		switch {
		case !ok:
			continue
		case form == "calls":
			e.Calls = emitCalls(p)
		default:
			e.Text = emitText(form, p)
		}
		given = append(given, form)
	}
	if o.isMapping() && (len(given) != 1 || !slices.Contains(forms, given[0])) {
		o.failf("must have exactly one of %s", strings.Join(forms, ", "))
	}
	if p, ok := o.get("rescue"); ok {
		e.Rescue = p.flag()
	}
	if p, ok := o.get("reflect"); ok {
		e.Reflect = p.flag()
	}
	if p, ok := o.get("cut"); ok {
		e.Cut = p.flag()
	}
	if p, ok := o.get("tokens"); ok {
		e.Tokens = new(p.integer(0, maxTokensTotal))
	}
	if p, ok := o.get("cost_usd"); ok {
		e.CostNanoUSD = new(int64(math.Round(p.number(maxCostUSD) * nanoUSD)))
	}
	return e
}

// emitCalls reads native calls. Arguments that are a string are raw text, which
// may not be valid JSON.
func emitCalls(p place) []EmitCall {
	out := []EmitCall{}
	for _, item := range p.items() {
		name, args, ok := item.single()
		switch {
		case !ok:
		case args.kind() == "a string":
			out = append(out, EmitCall{name, args.text()})
		default:
			out = append(out, EmitCall{name, string(args.json())})
		}
	}
	return out
}

// emitText returns the model's raw output: text and json as given, the others
// as a complete contract object around one action.
func emitText(form string, p place) string {
	switch form {
	case "text":
		return p.text()
	case "json":
		return string(p.json())
	case "call":
		name, args, ok := p.single()
		if !ok {
			return ""
		}
		return contractText("false", "ok", fmt.Sprintf(`"type":"tool","name":%s,"args":%s`, jsonString(name), args.json()))
	case "respond":
		return contractText("true", "ok", `"type":"respond","message":`+jsonString(p.filled()))
	default:
		return contractText("false", "need_clarification", `"type":"clarify","message":`+jsonString(p.filled()))
	}
}

// contractText is an output that honours the whole contract.
func contractText(done, reason, action string) string {
	return `{"control":{"done":` + done + `,"reason":"` + reason + `"},"next_action":{` + action +
		`},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
}

func jsonString(s string) string {
	var out bytes.Buffer
	appendJSONString(&out, s)
	return out.String()
}
