package goldens

import (
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"gopkg.in/yaml.v3"
)

var callFields = []string{"tool", "args", "role", "executed"}

// readCalls reads a list of tool calls. A name means any arguments, {name: {…}} exactly
// these; {tool: name, args: {…}, role: builder, executed: true} says all of it in words. The value of
// tool tells the last two apart: it is a name in one and arguments in the other.
func readCalls(p yamlfile.Place, forbidden bool) []CallMatch {
	var out []CallMatch
	for _, item := range p.Items() {
		if item.Kind() != "a mapping" {
			out = append(out, CallMatch{Tool: item.Filled()})
			continue
		}
		if slices.ContainsFunc(item.Entries(), func(e yamlfile.Entry) bool { return e.Key == "tool" && e.Value.Kind() != "a mapping" }) {
			out = append(out, callInWords(item, forbidden))
			continue
		}
		name, value, ok := item.Single()
		if !ok {
			continue
		}
		m := CallMatch{Tool: name}
		if value.Kind() != "a mapping" {
			value.Failf("must be a mapping of arguments, but is %s; write the tool's name alone for any arguments", value.Kind())
			continue
		}
		m.Args = callArgs(value, name)
		out = append(out, m)
	}
	return out
}

// callInWords reads {tool: name, args: {…}, executed: true}.
func callInWords(p yamlfile.Place, forbidden bool) (m CallMatch) {
	o := p.Object(callFields)
	name, _ := o.Get("tool")
	m.Tool = name.Filled()
	yamlfile.Read(o, "args", &m.Args, func(p yamlfile.Place) map[string]any { return callArgs(p, m.Tool) })
	yamlfile.Read(o, "role", &m.Role, yamlfile.Place.Filled)
	if executed, ok := o.Get("executed"); ok {
		m.Executed = executed.Flag()
		if !forbidden {
			executed.Failf("only a forbidden call has it; leave it out: a required call is one that was made")
		}
	}
	return m
}

// callArgs reads the arguments of a call.
func callArgs(p yamlfile.Place, name string) map[string]any {
	before := len(p.Src.Found.List)
	for _, arg := range p.Entries() {
		matcher(arg.Value)
	}
	args, _ := yamlfile.DecodeJSON(p.JSON()).(map[string]any)
	if _, err := match.NewCall(name, args); err != nil && len(p.Src.Found.List) == before {
		p.Faulty(err, "")
	}
	return args
}

// matcher checks a value that may be a matcher or contain matchers.
func matcher(p yamlfile.Place) {
	switch p.Kind() {
	case "a list":
		for _, item := range p.Items() {
			matcher(item)
		}
	case "a mapping":
		entries := p.Entries()
		for _, e := range entries {
			if !strings.HasPrefix(e.Key, "$") {
				matcher(e.Value)
				continue
			}
			if !slices.Contains(match.Names, e.Key) {
				e.KeyAt.Failf("unknown matcher%s; allowed: %s", yamlfile.Suggest(e.Key, match.Names), yamlfile.Listed(match.Names))
				continue
			}
			operand(e)
			if len(entries) > 1 {
				e.KeyAt.Failf("a mapping with a matcher has other keys; remove them")
			}
		}
	}
}

// operand checks what a matcher compares with.
func operand(e yamlfile.Entry) {
	switch e.Key {
	case "$regex":
		if _, err := regexp.Compile(e.Value.Filled()); err != nil {
			e.Value.Failf("is not a regular expression of RE2: %v", err)
		}
	case "$in":
		items := e.Value.Items()
		if len(items) == 0 && e.Value.Kind() == "a list" {
			e.Value.Failf("must contain at least one value")
		}
		for _, item := range items {
			matcher(item)
		}
	case "$optional":
		matcher(e.Value)
	case "$normalize": // see compileNormalize
	case "$any":
		if _, tag, _ := e.Value.Scalar(); !e.Value.Flag() && tag == "!!bool" {
			e.Value.Failf("must be true")
		}
	default:
		if _, tag, _ := e.Value.Scalar(); tag != "!!int" && tag != "!!float" {
			e.Value.Wants("a number")
		}
	}
}

// callsNode writes a list of tool calls.
func callsNode(list []CallMatch) *yaml.Node {
	out := yamlfile.Sequence(0)
	for _, c := range list {
		args, node := any(nil), yamlfile.Word(c.Tool)
		if c.Args != nil {
			args = yamlfile.ValueNode(c.Args)
			node = yamlfile.Fields(0, c.Tool, args)
		}
		if c.Executed || c.Role != "" {
			node = yamlfile.Fields(yaml.FlowStyle, "tool", yamlfile.Name(c.Tool), "args", args, "role", yamlfile.Given(c.Role), "executed", yamlfile.Given(c.Executed))
		}
		out.Content = append(out.Content, node)
	}
	return out
}
