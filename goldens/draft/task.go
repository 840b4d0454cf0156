package draft

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/process"
	"github.com/cupel-eval/cupel/internal/clip"
)

// maxComment bounds a line of a comment, in bytes.
const maxComment = 400

// comment is text of unknown origin as one line of a comment, bounded.
func comment(s string) string {
	q := strconv.Quote(clip.Bytes(s, maxComment))
	return strings.TrimRight("# "+strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1:len(q)-1]), " ")
}

// file writes the draft as a task file.
func (d Draft) file() ([]byte, error) {
	var out strings.Builder
	for _, line := range d.Comments {
		out.WriteString(comment(line) + "\n")
	}
	text, err := yamlfile.Write(yamlfile.Fields(0, "tasks", yamlfile.Sequence(0, d.taskNode())))
	return append([]byte(out.String()), text...), err
}

func (d Draft) taskNode() *yaml.Node {
	t, b := d.Task, d.Task.Budgets
	var inputs []any
	for _, in := range t.Inputs {
		inputs = append(inputs, in.Name, in.Value)
	}
	var images []string
	for _, img := range t.Images {
		images = append(images, img.File)
	}
	var approvals []yamlfile.Name
	for _, yes := range t.Approvals {
		approvals = append(approvals, map[bool]yamlfile.Name{true: "approve", false: "deny"}[yes])
	}
	tools := append([]yamlfile.Name{}, names(t.Tools)...)
	if t.Functions != nil {
		tools = nil
	}
	var expect, others *yaml.Node
	if len(t.Expect) > 0 { // the first in full, the others by what sets them apart from it
		base := t.Expect[0]
		expect = goldens.WriteExpect(base, goldens.Expect{}, 0, d.Pinned)
		base.StopReason, base.Note = "", ""
		others = sequence(t.Expect[1:], func(e goldens.Expect) *yaml.Node { return goldens.WriteExpect(e, base, yaml.FlowStyle, false) })
	}
	return yamlfile.Fields(0,
		"id", yamlfile.Name(t.ID), "title", yamlfile.Given(t.Title), "tier", yamlfile.Name(t.Tier), "tags", names(t.Tags), "probes", t.Probes,
		"request", t.Request, "constraints", t.Constraints, "inputs", filled(yamlfile.Fields(0, inputs...)), "each", yamlfile.Given(yamlfile.Name(t.Each)), "images", images,
		"answer_schema", t.AnswerSchema, "session", yamlfile.Given(yamlfile.Name(t.Session)),
		"tools", tools, "functions", t.Functions, "world", worldNode(t.World), "faults", filled(sequence(t.World.Faults, faultNode)),
		"budgets", yamlfile.Fields(yaml.FlowStyle, "max_steps", b.MaxSteps, "max_tool_calls", b.MaxToolCalls, "max_seconds", int64(b.MaxTime/time.Second),
			"max_tokens_total", b.MaxTokens, "max_cost_usd", yamlfile.Plain(strconv.FormatFloat(float64(b.MaxCostNanoUSD)/load.NanoUSD, 'f', -1, 64))),
		"replies", t.Replies, "approvals", approvals, "expect", expect, "also_accept", filled(others))
}

func names(words []string) (out []yamlfile.Name) {
	if words != nil {
		out = []yamlfile.Name{}
	}
	for _, w := range words {
		out = append(out, yamlfile.Name(w))
	}
	return out
}

// sequence is a list in lines; nil of nil.
func sequence[T any](items []T, node func(T) *yaml.Node) *yaml.Node {
	if items == nil {
		return nil
	}
	out := yamlfile.Sequence(0)
	for _, item := range items {
		out.Content = append(out.Content, node(item))
	}
	return out
}

// mapping is a map by its keys in order; nil of nil.
func mapping[V any](style yaml.Style, m map[string]V, key func(string) *yaml.Node) *yaml.Node {
	if m == nil {
		return nil
	}
	out := yamlfile.Mapping(style)
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out.Content = append(out.Content, key(k), yamlfile.Node(m[k]))
	}
	return out
}

// filled is a list or a mapping, or nil where it is empty.
func filled(n *yaml.Node) *yaml.Node {
	if n == nil || len(n.Content) == 0 {
		return nil
	}
	return n
}

func worldNode(w world.Spec) *yaml.Node {
	return yamlfile.Fields(0, "kind", yamlfile.Given(yamlfile.Name(w.Kind)), "now", w.Now.In(w.Zone).Format(time.RFC3339Nano), "zone", yamlfile.Name(w.Zone.String()),
		"state", stateNode(w.State), "process", processNode(w.Maker), "env", w.Env,
		"clock_step", yamlfile.Given(w.ClockStep), "latency", mapping(yaml.FlowStyle, w.Latency, yamlfile.Word))
}

// processNode writes the command of a process world; nil of any other.
func processNode(kind world.Kind) *yaml.Node {
	k, ok := kind.(process.Kind)
	if !ok {
		return nil
	}
	return yamlfile.Fields(yaml.FlowStyle, "command", k.Command, "timeout", k.Timeout, "mcp", yamlfile.Given(k.MCP), "env", k.Env)
}

// stateNode writes a state, with a line for each member of its parts; nil of nil.
func stateNode(state json.RawMessage) *yaml.Node {
	if state == nil {
		return nil
	}
	out := yamlfile.JSONNode(state)
	out.Style = 0
	for _, part := range out.Content {
		part.Style &^= yaml.FlowStyle
	}
	return out
}

func faultNode(f world.Fault) *yaml.Node {
	var value *yaml.Node
	if f.Kind == world.FaultReplace || f.Kind == world.FaultAppend {
		value = yamlfile.ValueNode(f.Value)
	}
	return yamlfile.Fields(yaml.FlowStyle, "tool", yamlfile.Name(f.Tool), "on_calls", f.OnCalls, "kind", yamlfile.Name(f.Kind), "status", yamlfile.Given(f.Status),
		"code", yamlfile.Given(f.Code), "message", yamlfile.Given(f.Message), "after", yamlfile.Given(f.After), "fields", f.Fields, "value", value)
}
