package bfcl

import (
	"fmt"
	"slices"
)

// Defect is something in a question or its accepted answer that contradicts itself.
type Defect struct {
	// Kind is one of Kinds.
	Kind, Detail string
}

// Kinds are the kinds of defects, in the order in which Defects lists them.
var Kinds = []string{"keyword", "required_undeclared", "undeclared_function", "other_name", "undeclared_argument", "missing_required", "required_optional", "no_value", "type", "enum", "unreachable", "unanswerable"}

// Defects lists what is wrong with the question and its accepted answer. None of it keeps the
// rules from being applied.
func (a *Answer) Defects() (out []Defect) {
	say := func(kind, format string, args ...any) {
		if d := (Defect{kind, fmt.Sprintf(format, args...)}); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	for _, f := range a.functions {
		for _, word := range f.ignored {
			say("keyword", "%s: models do not see %s, which is not a keyword", f.Name, label(word))
		}
		for _, name := range f.required {
			if _, ok := f.params[name]; !ok {
				say("required_undeclared", "%s requires %s, which it does not declare", f.Name, label(name))
			}
		}
	}
	for _, c := range a.accepted {
		c.defects(say)
	}
	if why := a.Wrong(a.Reference()); why != "" {
		say("unanswerable", "no answer is right: %s", why)
	}
	slices.SortStableFunc(out, func(a, b Defect) int { return slices.Index(Kinds, a.Kind) - slices.Index(Kinds, b.Kind) })
	return out
}

func (c accepted) defects(say func(kind, format string, args ...any)) {
	if c.of == nil {
		say("undeclared_function", "%s of the accepted answer is not a call of a declared function", shownName(c.name))
		return
	}
	if !startsWith(c.name, c.of.Name) {
		say("other_name", "the accepted call is %s, the function %s", shownName(c.name), c.of.Name)
	}
	for _, name := range c.of.required {
		i := slices.IndexFunc(c.args, func(a argument) bool { return a.name == name })
		switch {
		case i < 0:
			say("missing_required", "the accepted call %s lacks the required argument %s", shownName(c.name), label(name))
		case c.args[i].optional:
			say("required_optional", "the accepted call %s may leave out %s, which is required", shownName(c.name), label(name))
		}
	}
	for _, arg := range c.args {
		p, ok := c.of.params[arg.name]
		if !ok {
			say("undeclared_argument", "the accepted call %s has %s, which is not declared", shownName(c.name), label(arg.name))
			continue
		}
		p.defects(arg, say)
	}
}

// startsWith reports whether the name of an accepted call is that of a function, with or
// without a suffix.
func startsWith(call, function string) bool {
	return len(call) >= len(function) && call[:len(function)] == function
}

func (p param) defects(arg argument, say func(kind, format string, args ...any)) {
	name := label(arg.name)
	if len(arg.values) == 0 {
		say("no_value", "no value of %s is accepted: it must be left out", name)
	}
	for _, accepted := range arg.values {
		v := sample(accepted)
		class, why := p.wrong(v, arg.values)
		switch got := kindOf(v); {
		case why != "":
			say("unreachable", "%s: the accepted value %s is wrong by the rules: %s%s", name, shown(v), class, why)
		case got != p.kind && (got != anInt || p.kind != aFloat):
			say("type", "%s: the accepted value %s does not have the declared type %s", name, shown(v), p.kind)
		case got == aList && !(param{kind: aList, items: p.items}).takesItems(v.([]any), []any{}):
			say("type", "%s: an item of the accepted value %s does not have the declared type %s", name, shown(v), p.items)
		case p.enum != nil && !slices.ContainsFunc(p.enum, func(e any) bool { return equal(v, e, false) }):
			say("enum", "%s: the accepted value %s is not one of the declared ones", name, shown(v))
		}
	}
}

// sample is a value that an accepted value stands for: objects have a list of values for
// each key, of which it takes the first.
func sample(accepted any) any {
	switch v := accepted.(type) {
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = item
			if object, ok := item.(map[string]any); ok {
				out[i] = sample(object)
			}
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, values := range v {
			switch values := values.(type) {
			case []any:
				if len(values) > 0 {
					out[key] = values[0]
					if object, ok := values[0].(map[string]any); ok {
						out[key] = sample(object)
					}
				}
			default:
				out[key] = sample(values)
			}
		}
		return out
	}
	return accepted
}

// Reference is an answer with the first value of each argument that the rules accept, and
// without the arguments of which they accept none.
func (a *Answer) Reference() (out []Call) {
	for _, c := range a.accepted {
		call, args := Call{Name: c.name}, map[string]any{}
		if c.of != nil {
			call.Name = c.of.Offered
		}
		for _, arg := range c.args {
			if c.of == nil {
				break
			}
			p, declared := c.of.params[arg.name]
			for _, accepted := range arg.values {
				v := sample(accepted)
				if _, why := p.wrong(v, arg.values); declared && why == "" {
					args[arg.name] = v
					break
				}
			}
		}
		call.Args = plain(args)
		out = append(out, call)
	}
	return out
}
