package load

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

var emitFields = []string{"text", "json", "call", "respond", "clarify", "calls", "rescue", "reflect", "cut", "tokens", "cost_usd"}

// The fields of which an output has exactly one. Agent contract has no native
// calls, and the others have no contract objects.
var (
	contractForms = emitFields[:5]
	nativeForms   = []string{"text", "json", "calls"}
)

// script reads the outputs of a scripted model of an agent.
func script(list yamlfile.Place, agent string) []goldens.Emit {
	forms := contractForms
	if strategy.Of(agent).Native {
		forms = nativeForms
	}
	var out []goldens.Emit
	for _, item := range list.Items() {
		out = append(out, emit(item.Object(emitFields), forms))
	}
	return out
}

func emit(o yamlfile.Object, forms []string) goldens.Emit {
	var e goldens.Emit
	var given []string
	for _, form := range emitFields[:6] {
		p, ok := o.Get(form)
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
	if o.IsMapping() && (len(given) != 1 || !slices.Contains(forms, given[0])) {
		o.Failf("must have exactly one of %s", strings.Join(forms, ", "))
	}
	yamlfile.Read(o, "rescue", &e.Rescue, yamlfile.Place.Flag)
	yamlfile.Read(o, "reflect", &e.Reflect, yamlfile.Place.Flag)
	yamlfile.Read(o, "cut", &e.Cut, yamlfile.Place.Flag)
	yamlfile.Read(o, "tokens", &e.Tokens, func(p yamlfile.Place) *int64 { return new(p.Integer(0, maxTokensTotal)) })
	yamlfile.Read(o, "cost_usd", &e.CostNanoUSD, func(p yamlfile.Place) *int64 { return new(int64(math.Round(p.Number(maxCostUSD) * NanoUSD))) })
	return e
}

// emitCalls reads native calls. Arguments that are a string are raw text, which
// may not be valid JSON.
func emitCalls(p yamlfile.Place) []goldens.EmitCall {
	out := []goldens.EmitCall{}
	for _, item := range p.Items() {
		name, args, ok := item.Single()
		switch {
		case !ok:
		case args.Kind() == "a string":
			out = append(out, goldens.EmitCall{Name: name, Args: args.Text()})
		default:
			out = append(out, goldens.EmitCall{Name: name, Args: string(args.JSON())})
		}
	}
	return out
}

// emitText returns the model's raw output: text and json as given, the others
// as a complete contract object around one action.
func emitText(form string, p yamlfile.Place) string {
	switch form {
	case "text":
		return p.Text()
	case "json":
		return string(p.JSON())
	case "call":
		name, args, ok := p.Single()
		if !ok {
			return ""
		}
		return contractText("false", "ok", fmt.Sprintf(`"type":"tool","name":%s,"args":%s`, plainjson.Text(name), args.JSON()))
	case "respond":
		return contractText("true", "ok", `"type":"respond","message":`+plainjson.Text(p.Filled()))
	default:
		return contractText("false", "need_clarification", `"type":"clarify","message":`+plainjson.Text(p.Filled()))
	}
}

// contractText is an output that honours the whole contract.
func contractText(done, reason, action string) string {
	return `{"control":{"done":` + done + `,"reason":"` + reason + `"},"next_action":{` + action +
		`},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
}
