package goldens

import (
	"bytes"
	"fmt"
	"strings"
)

var emitFields = []string{"text", "json", "call", "respond", "clarify", "rescue", "reflect"}

// emitForms are the fields of which an output has exactly one.
var emitForms = emitFields[:5]

// script reads the outputs of a scripted model.
func script(list place) []Emit {
	var out []Emit
	for _, item := range list.items() {
		out = append(out, emit(item.object(emitFields)))
	}
	return out
}

func emit(o object) Emit {
	var e Emit
	var given []string
	for _, form := range emitForms {
		if p, ok := o.get(form); ok {
			given = append(given, form)
			e.Text = emitText(form, p)
		}
	}
	if len(given) != 1 && o.isMapping() {
		o.failf("must have exactly one of %s", strings.Join(emitForms, ", "))
	}
	if p, ok := o.get("rescue"); ok {
		e.Rescue = p.flag()
	}
	if p, ok := o.get("reflect"); ok {
		e.Reflect = p.flag()
	}
	return e
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

// single reads a mapping with one key: a tool's name and its arguments.
func (p place) single() (key string, value place, ok bool) {
	before := len(p.src.found.list)
	entries := p.entries()
	if len(p.src.found.list) > before {
		return "", place{}, false
	}
	if len(entries) != 1 {
		p.failf("must have exactly one key, the tool's name, with its arguments as value")
		return "", place{}, false
	}
	return entries[0].key, entries[0].value, true
}
