package goldens

import (
	"maps"
	"reflect"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

// ExpectNode writes an outcome as the fields that differ from base; one that base
// has and e lacks becomes null.
func ExpectNode(e, base Expect, style yaml.Style, words map[string]string) *yaml.Node {
	out := yamlfile.Mapping(style)
	put := func(name string, differs, gone bool, value func() *yaml.Node) {
		switch {
		case differs && gone:
			yamlfile.Add(out, name, yamlfile.Plain("null"), words[name])
		case differs:
			yamlfile.Add(out, name, value(), words[name])
		}
	}
	list := func(name string, is, was []string, node func(string) *yaml.Node) {
		put(name, !reflect.DeepEqual(is, was), is == nil, func() *yaml.Node { return yamlfile.Each(is, node) })
	}
	text := func(name, is, was string) {
		put(name, is != was, is == "", func() *yaml.Node { return yamlfile.Word(is) })
	}
	calls := func(name string, is, was []CallMatch) {
		put(name, !reflect.DeepEqual(is, was), is == nil, func() *yaml.Node { return callsNode(is) })
	}
	text("status", e.Status, base.Status)
	text("stop_reason", e.StopReason, base.StopReason)
	list("numbers", e.Numbers, base.Numbers, yamlfile.Plain)
	list("not_numbers", e.NotNumbers, base.NotNumbers, yamlfile.Plain)
	list("only_numbers", e.OnlyNumbers, base.OnlyNumbers, yamlfile.Plain)
	put("near", !reflect.DeepEqual(e.Near, base.Near), e.Near == nil, func() *yaml.Node { return changesNode(e.Near, base.Near, yamlfile.Plain) })
	list("contains_any", e.ContainsAny, base.ContainsAny, yamlfile.QuotedNode)
	list("contains_all", e.ContainsAll, base.ContainsAll, yamlfile.QuotedNode)
	list("not_contains", e.NotContains, base.NotContains, yamlfile.QuotedNode)
	list("matches", e.Matches, base.Matches, yamlfile.QuotedNode)
	list("not_matches", e.NotMatches, base.NotMatches, yamlfile.QuotedNode)
	text("order", string(e.Trajectory.Order), string(base.Trajectory.Order))
	calls("calls", e.Trajectory.Required, base.Trajectory.Required)
	calls("forbidden", e.Trajectory.Forbidden, base.Trajectory.Forbidden)
	caps := capsNode(e, base)
	put("at_most", len(caps.Content) > 0, false, func() *yaml.Node { return caps })
	put("signals", !reflect.DeepEqual(e.Signals, base.Signals), e.Signals == nil, func() *yaml.Node { return changesNode(e.Signals, base.Signals, conditionNode) })
	text("table_label", e.TableLabel, base.TableLabel)
	if e.Note != "" {
		yamlfile.Add(out, "note", yamlfile.QuotedNode(e.Note), "")
	}
	return out
}

func callsNode(list []CallMatch) *yaml.Node {
	out := yamlfile.Sequence(0)
	for _, c := range list {
		call := yamlfile.Mapping(0)
		switch {
		case c.Executed:
			call.Style = yaml.FlowStyle
			yamlfile.Add(call, "tool", yamlfile.Word(c.Tool), "")
			if c.Args != nil {
				yamlfile.Add(call, "args", yamlfile.ValueNode(c.Args), "")
			}
			yamlfile.Add(call, "executed", yamlfile.Plain("true"), "")
		case c.Args == nil:
			call = yamlfile.Word(c.Tool)
		default:
			yamlfile.Add(call, c.Tool, yamlfile.ValueNode(c.Args), "")
		}
		out.Content = append(out.Content, call)
	}
	return out
}

func capsNode(e, base Expect) *yaml.Node {
	out := yamlfile.Mapping(yaml.FlowStyle)
	for i, pair := range [][2]*int{{e.MaxClarifies, base.MaxClarifies}, {e.MaxSteps, base.MaxSteps}, {e.MaxToolCalls, base.MaxToolCalls}} {
		switch is, was := pair[0], pair[1]; {
		case is != nil && (was == nil || *is != *was):
			yamlfile.Add(out, AtMostFields[i], yamlfile.Number(int64(*is)), "")
		case is == nil && was != nil:
			yamlfile.Add(out, AtMostFields[i], yamlfile.Plain("null"), "")
		}
	}
	return out
}

// changesNode writes what a mapping has beyond another; null takes away what only
// the other has.
func changesNode(is, was map[string]string, node func(string) *yaml.Node) *yaml.Node {
	out := yamlfile.Mapping(yaml.FlowStyle)
	all := maps.Clone(was)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, is)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		switch value, ok := is[name]; {
		case !ok:
			yamlfile.Add(out, name, yamlfile.Plain("null"), "")
		case value != was[name]:
			yamlfile.Add(out, name, node(value), "")
		}
	}
	return out
}

func conditionNode(condition string) *yaml.Node {
	if condition == "true" || condition == "false" {
		return yamlfile.Plain(condition)
	}
	return yamlfile.QuotedNode(condition)
}
