package goldens

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// file writes the draft as a task file.
func (d Draft) file() ([]byte, error) {
	var out strings.Builder
	for _, line := range d.Comments {
		out.WriteString(comment(line) + "\n")
	}
	doc := mapping(0)
	add(doc, "tasks", sequence(0, d.taskNode()), "")
	text, err := write(doc)
	return append([]byte(out.String()), text...), err
}

func (d Draft) taskNode() *yaml.Node {
	t, out := d.Task, mapping(0)
	add(out, "id", word(t.ID), "")
	if t.Title != "" {
		add(out, "title", quotedNode(t.Title), "")
	}
	add(out, "tier", word(t.Tier), "")
	if t.Tags != nil {
		add(out, "tags", each(t.Tags, word), "")
	}
	if t.Probes != nil {
		add(out, "probes", each(t.Probes, quotedNode), "")
	}
	add(out, "request", quotedNode(t.Request), "")
	add(out, "constraints", quotedNode(t.Constraints), "")
	addGiven(out, t)
	add(out, "tools", each(t.Tools, word), "")
	add(out, "world", worldNode(t.World), "")
	if len(t.World.Faults) > 0 {
		list := sequence(0)
		for _, f := range t.World.Faults {
			list.Content = append(list.Content, faultNode(f))
		}
		add(out, "faults", list, "")
	}
	add(out, "budgets", budgetsNode(t), "")
	if t.Replies != nil {
		add(out, "replies", each(t.Replies, quotedNode), "")
	}
	if len(t.Approvals) > 0 {
		list := sequence(yaml.FlowStyle)
		for _, yes := range t.Approvals {
			list.Content = append(list.Content, word(approvalWord(yes)))
		}
		add(out, "approvals", list, "")
	}
	d.addExpect(out)
	return out
}

func approvalWord(yes bool) string {
	if yes {
		return "approve"
	}
	return "deny"
}

func budgetsNode(t Task) *yaml.Node {
	b, out := t.Budgets, mapping(yaml.FlowStyle)
	for _, f := range []struct {
		name  string
		value *yaml.Node
	}{
		{"max_steps", number(int64(b.MaxSteps))}, {"max_tool_calls", number(int64(b.MaxToolCalls))},
		{"max_seconds", number(int64(b.MaxTime / time.Second))}, {"max_tokens_total", number(b.MaxTokens)},
		{"max_cost_usd", plain(strconv.FormatFloat(float64(b.MaxCostNanoUSD)/nanoUSD, 'f', -1, 64))},
	} {
		add(out, f.name, f.value, "")
	}
	return out
}

func worldNode(w WorldSpec) *yaml.Node {
	out := mapping(0)
	add(out, "now", quotedNode(w.Now.In(w.Zone).Format(time.RFC3339Nano)), "")
	add(out, "zone", word(w.Zone.String()), "")
	if w.Counts != nil {
		days := mapping(0)
		for _, date := range slices.Sorted(maps.Keys(w.Counts)) {
			day := mapping(yaml.FlowStyle)
			for _, label := range slices.Sorted(maps.Keys(w.Counts[date])) {
				add(day, label, number(w.Counts[date][label]), "")
			}
			days.Content = append(days.Content, plain(date), day)
		}
		if len(w.Counts) == 0 {
			days.Style = yaml.FlowStyle
		}
		add(out, "counts", days, "")
	}
	if w.Documents != nil {
		add(out, "documents", documentsNode(w.Documents), "")
	}
	if w.Env != nil {
		env := mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Env)) {
			add(env, name, quotedNode(w.Env[name]), "")
		}
		add(out, "env", env, "")
	}
	if w.ClockStep > 0 {
		add(out, "clock_step", plain(w.ClockStep.String()), "")
	}
	if w.Latency != nil {
		latency := mapping(yaml.FlowStyle)
		for _, name := range slices.Sorted(maps.Keys(w.Latency)) {
			add(latency, name, plain(w.Latency[name].String()), "")
		}
		add(out, "latency", latency, "")
	}
	if w.JobStatus != nil {
		add(out, "job_status", each(w.JobStatus, quotedNode), "")
	}
	return out
}

func faultNode(f Fault) *yaml.Node {
	out := mapping(yaml.FlowStyle)
	add(out, "tool", word(f.Tool), "")
	if len(f.OnCalls) > 0 {
		calls := sequence(yaml.FlowStyle)
		for _, n := range f.OnCalls {
			calls.Content = append(calls.Content, number(int64(n)))
		}
		add(out, "on_calls", calls, "")
	}
	add(out, "kind", word(string(f.Kind)), "")
	if f.Status > 0 {
		add(out, "status", number(int64(f.Status)), "")
	}
	if f.Code != "" {
		add(out, "code", quotedNode(f.Code), "")
	}
	if f.Message != "" {
		add(out, "message", quotedNode(f.Message), "")
	}
	if f.After > 0 {
		add(out, "after", plain(f.After.String()), "")
	}
	if f.Fields != nil {
		add(out, "fields", valueNode(f.Fields), "")
	}
	if f.Kind == FaultReplace {
		add(out, "value", valueNode(f.Value), "")
	}
	return out
}

// pinnedWords say, above each check that Pin made, what it pins down.
var pinnedWords = map[string]string{
	"status":       "# edit: how the episode ended",
	"stop_reason":  "# edit: why it was stopped",
	"numbers":      "# edit: every number of the answer; keep those that matter",
	"not_numbers":  "# edit: kept from the task it comes from",
	"only_numbers": "# edit: kept from the task it comes from",
	"near":         "# edit: kept from the task it comes from",
	"matches":      "# edit: kept from the task it comes from",
	"not_matches":  "# edit: kept from the task it comes from",
	"contains_any": "# edit: one of these is in the answer",
	"contains_all": "# edit: the answer's words; keep those that matter",
	"not_contains": "# edit: what the answer did well not to say",
	"order":        "# edit: exactly these calls in this order; in_order lets others stand between",
	"calls":        "# edit: what was called; leave arguments that do not matter to {$any: true}",
	"forbidden":    "# edit: what must not be asked for",
	"at_most":      "# edit: what this episode took; leave room if another way is as good",
	"signals":      "# edit: kept from the task it comes from",
	"table_label":  "# edit: kept from the task it comes from",
}

// addExpect writes the accepted outcomes: the first in full, the others by what
// sets them apart from it.
func (d Draft) addExpect(to *yaml.Node) {
	if len(d.Task.Expect) == 0 {
		return
	}
	first := d.Task.Expect[0]
	words := pinnedWords
	switch {
	case !d.Pinned:
		words = nil
	case first.Trajectory.Order == AnyOrder:
		words = maps.Clone(pinnedWords)
		words["order"] = "# edit: these calls, in whatever order: several things were under way at once"
	}
	add(to, "expect", expectNode(first, Expect{}, 0, words), "")
	if len(d.Task.Expect) == 1 {
		return
	}
	base := first
	base.StopReason, base.Note = "", ""
	list := sequence(0)
	for _, e := range d.Task.Expect[1:] {
		list.Content = append(list.Content, expectNode(e, base, yaml.FlowStyle, nil))
	}
	add(to, "also_accept", list, "")
}

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
