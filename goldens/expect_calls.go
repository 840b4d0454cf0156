package goldens

import (
	"regexp"
	"slices"
	"strings"
)

var callFields = []string{"tool", "args", "executed"}

// calls reads a list of tool calls. A name means any arguments, {name: {…}} exactly
// these; {tool: name, args: {…}, executed: true} says all of it in words. The value of
// tool tells the last two apart: it is a name in one and arguments in the other.
func calls(p place, forbidden bool) []CallMatch {
	var out []CallMatch
	for _, item := range p.items() {
		if item.kind() != "a mapping" {
			out = append(out, CallMatch{Tool: item.filled()})
			continue
		}
		if slices.ContainsFunc(item.entries(), func(e entry) bool { return e.key == "tool" && e.value.kind() != "a mapping" }) {
			out = append(out, item.callInWords(forbidden))
			continue
		}
		name, value, ok := item.single()
		if !ok {
			continue
		}
		m := CallMatch{Tool: name}
		if value.kind() != "a mapping" {
			value.failf("must be a mapping of arguments, but is %s; write the tool's name alone for any arguments", value.kind())
			continue
		}
		m.Args = value.callArgs(name)
		out = append(out, m)
	}
	return out
}

// callInWords reads {tool: name, args: {…}, executed: true}.
func (p place) callInWords(forbidden bool) (m CallMatch) {
	o := p.object(callFields)
	name, _ := o.get("tool")
	m.Tool = name.filled()
	if args, ok := o.get("args"); ok {
		m.Args = args.callArgs(m.Tool)
	}
	if executed, ok := o.get("executed"); ok {
		m.Executed = executed.flag()
		if !forbidden {
			executed.failf("only a forbidden call has it; leave it out: a required call is one that was made")
		}
	}
	return m
}

// callArgs reads the arguments of a call.
func (p place) callArgs(name string) map[string]any {
	before := len(p.src.found.list)
	for _, arg := range p.entries() {
		arg.value.matcher()
	}
	args, _ := decodeJSON(p.json()).(map[string]any)
	if _, err := compileCall(name, args); err != nil && len(p.src.found.list) == before {
		p.faulty(err, "")
	}
	return args
}

// matcher checks a value that may be a matcher or hold some.
func (p place) matcher() {
	switch p.kind() {
	case "a list":
		for _, item := range p.items() {
			item.matcher()
		}
	case "a mapping":
		entries := p.entries()
		for _, e := range entries {
			if !strings.HasPrefix(e.key, "$") {
				e.value.matcher()
				continue
			}
			if !slices.Contains(matcherNames, e.key) {
				e.keyAt.failf("unknown matcher%s; allowed: %s", suggest(e.key, matcherNames), listed(matcherNames))
				continue
			}
			e.operand()
			if len(entries) > 1 {
				e.keyAt.failf("a matcher stands alone in its mapping")
			}
		}
	}
}

// operand checks what a matcher compares with.
func (e entry) operand() {
	switch e.key {
	case "$regex":
		if _, err := regexp.Compile(e.value.filled()); err != nil {
			e.value.failf("is not a regular expression of RE2: %v", err)
		}
	case "$in":
		items := e.value.items()
		if len(items) == 0 && e.value.kind() == "a list" {
			e.value.failf("must hold at least one value")
		}
		for _, item := range items {
			item.matcher()
		}
	case "$optional":
		e.value.matcher()
	case "$normalize": // see compileNormalize
	case "$any":
		if _, tag, _ := e.value.scalar(); !e.value.flag() && tag == "!!bool" {
			e.value.failf("must be true")
		}
	default:
		if _, tag, _ := e.value.scalar(); tag != "!!int" && tag != "!!float" {
			e.value.wants("a number")
		}
	}
}
