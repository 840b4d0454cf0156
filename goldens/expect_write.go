package goldens

import (
	"maps"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"
)

// expectNode writes an outcome as the fields that differ from base; one that base
// has and e lacks becomes null.
func expectNode(e, base Expect, style yaml.Style, words map[string]string) *yaml.Node {
	out := mapping(style)
	put := func(name string, differs, gone bool, value func() *yaml.Node) {
		switch {
		case differs && gone:
			add(out, name, plain("null"), words[name])
		case differs:
			add(out, name, value(), words[name])
		}
	}
	list := func(name string, is, was []string, node func(string) *yaml.Node) {
		put(name, !reflect.DeepEqual(is, was), is == nil, func() *yaml.Node { return each(is, node) })
	}
	text := func(name, is, was string) {
		put(name, is != was, is == "", func() *yaml.Node { return word(is) })
	}
	calls := func(name string, is, was []CallMatch) {
		put(name, !reflect.DeepEqual(is, was), is == nil, func() *yaml.Node { return callsNode(is) })
	}
	text("status", e.Status, base.Status)
	text("stop_reason", e.StopReason, base.StopReason)
	list("numbers", e.Numbers, base.Numbers, plain)
	list("not_numbers", e.NotNumbers, base.NotNumbers, plain)
	list("only_numbers", e.OnlyNumbers, base.OnlyNumbers, plain)
	put("near", !reflect.DeepEqual(e.Near, base.Near), e.Near == nil, func() *yaml.Node { return changesNode(e.Near, base.Near, plain) })
	list("contains_any", e.ContainsAny, base.ContainsAny, quotedNode)
	list("contains_all", e.ContainsAll, base.ContainsAll, quotedNode)
	list("not_contains", e.NotContains, base.NotContains, quotedNode)
	list("matches", e.Matches, base.Matches, quotedNode)
	list("not_matches", e.NotMatches, base.NotMatches, quotedNode)
	text("order", string(e.Trajectory.Order), string(base.Trajectory.Order))
	calls("calls", e.Trajectory.Required, base.Trajectory.Required)
	calls("forbidden", e.Trajectory.Forbidden, base.Trajectory.Forbidden)
	caps := capsNode(e, base)
	put("at_most", len(caps.Content) > 0, false, func() *yaml.Node { return caps })
	put("signals", !reflect.DeepEqual(e.Signals, base.Signals), e.Signals == nil, func() *yaml.Node { return changesNode(e.Signals, base.Signals, conditionNode) })
	text("table_label", e.TableLabel, base.TableLabel)
	if e.Note != "" {
		add(out, "note", quotedNode(e.Note), "")
	}
	return out
}

func callsNode(list []CallMatch) *yaml.Node {
	out := sequence(0)
	for _, c := range list {
		call := mapping(0)
		switch {
		case c.Executed:
			call.Style = yaml.FlowStyle
			add(call, "tool", word(c.Tool), "")
			if c.Args != nil {
				add(call, "args", valueNode(c.Args), "")
			}
			add(call, "executed", plain("true"), "")
		case c.Args == nil:
			call = word(c.Tool)
		default:
			add(call, c.Tool, valueNode(c.Args), "")
		}
		out.Content = append(out.Content, call)
	}
	return out
}

func capsNode(e, base Expect) *yaml.Node {
	out := mapping(yaml.FlowStyle)
	for i, pair := range [][2]*int{{e.MaxClarifies, base.MaxClarifies}, {e.MaxSteps, base.MaxSteps}, {e.MaxToolCalls, base.MaxToolCalls}} {
		switch is, was := pair[0], pair[1]; {
		case is != nil && (was == nil || *is != *was):
			add(out, atMostFields[i], number(int64(*is)), "")
		case is == nil && was != nil:
			add(out, atMostFields[i], plain("null"), "")
		}
	}
	return out
}

// changesNode writes what a mapping has beyond another; null takes away what only
// the other has.
func changesNode(is, was map[string]string, node func(string) *yaml.Node) *yaml.Node {
	out := mapping(yaml.FlowStyle)
	all := maps.Clone(was)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch value, ok := is[name]; {
		case !ok:
			add(out, name, plain("null"), "")
		case value != was[name]:
			add(out, name, node(value), "")
		}
	}
	return out
}

func conditionNode(condition string) *yaml.Node {
	if condition == "true" || condition == "false" {
		return plain(condition)
	}
	return quotedNode(condition)
}
