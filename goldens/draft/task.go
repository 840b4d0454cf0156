package draft

import (
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
)

// file writes the draft as a task file.
func (d Draft) file() ([]byte, error) {
	var out strings.Builder
	for _, line := range d.Comments {
		out.WriteString(comment(line) + "\n")
	}
	doc := yamlfile.Mapping(0)
	yamlfile.Add(doc, "tasks", yamlfile.Sequence(0, d.taskNode()), "")
	text, err := yamlfile.Write(doc)
	return append([]byte(out.String()), text...), err
}

func (d Draft) taskNode() *yaml.Node {
	t, b := d.Task, d.Task.Budgets
	var inputs, faults *yaml.Node
	if len(t.Inputs) > 0 {
		inputs = yamlfile.Mapping(0)
	}
	for _, in := range t.Inputs {
		yamlfile.Add(inputs, in.Name, yamlfile.JSONNode(in.Value), "")
	}
	var images []string
	for _, img := range t.Images {
		images = append(images, img.File)
	}
	if len(t.World.Faults) > 0 {
		faults = yamlfile.Sequence(0)
	}
	for _, f := range t.World.Faults {
		faults.Content = append(faults.Content, faultNode(f))
	}
	var approvals []yamlfile.Name
	for _, yes := range t.Approvals {
		approvals = append(approvals, map[bool]yamlfile.Name{true: "approve", false: "deny"}[yes])
	}
	out := yamlfile.Fields(0,
		"id", yamlfile.Name(t.ID), "title", yamlfile.Given(t.Title), "tier", yamlfile.Name(t.Tier), "tags", names(t.Tags), "probes", t.Probes,
		"request", t.Request, "constraints", t.Constraints, "inputs", inputs, "each", yamlfile.Given(yamlfile.Name(t.Each)), "images", images,
		"answer_schema", t.AnswerSchema, "session", yamlfile.Given(yamlfile.Name(t.Session)),
		"tools", append([]yamlfile.Name{}, names(t.Tools)...), "world", worldNode(t.World), "faults", faults,
		"budgets", yamlfile.Fields(yaml.FlowStyle, "max_steps", b.MaxSteps, "max_tool_calls", b.MaxToolCalls, "max_seconds", int64(b.MaxTime/time.Second),
			"max_tokens_total", b.MaxTokens, "max_cost_usd", yamlfile.Plain(strconv.FormatFloat(float64(b.MaxCostNanoUSD)/load.NanoUSD, 'f', -1, 64))),
		"replies", t.Replies, "approvals", approvals)
	d.addExpect(out)
	return out
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

func worldNode(w world.Spec) *yaml.Node {
	var counts, latency, documents *yaml.Node
	if w.Counts != nil {
		counts = yamlfile.Mapping(flowIf(len(w.Counts) == 0))
	}
	for _, date := range slices.Sorted(maps.Keys(w.Counts)) {
		counts.Content = append(counts.Content, yamlfile.Plain(date), yamlfile.Node(w.Counts[date]))
	}
	if w.Latency != nil {
		latency = yamlfile.Mapping(yaml.FlowStyle)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Latency)) {
		yamlfile.Add(latency, name, yamlfile.Node(w.Latency[name]), "")
	}
	if w.Documents != nil {
		documents = yamlfile.Sequence(flowIf(len(w.Documents) == 0))
	}
	for _, d := range w.Documents {
		documents.Content = append(documents.Content, yamlfile.Fields(0, "id", yamlfile.Name(d.ID), "title", d.Title, "date", yamlfile.Plain(d.Date), "text", d.Text, "fields", d.Fields))
	}
	return yamlfile.Fields(0, "now", w.Now.In(w.Zone).Format(time.RFC3339Nano), "zone", yamlfile.Name(w.Zone.String()), "counts", counts, "documents", documents,
		"env", w.Env, "clock_step", yamlfile.Given(w.ClockStep), "latency", latency, "job_status", w.JobStatus)
}

// flowIf is the style of a list or a mapping that is empty, or is not.
func flowIf(empty bool) yaml.Style {
	if empty {
		return yaml.FlowStyle
	}
	return 0
}

func faultNode(f world.Fault) *yaml.Node {
	var value *yaml.Node
	if f.Kind == world.FaultReplace {
		value = yamlfile.ValueNode(f.Value)
	}
	return yamlfile.Fields(yaml.FlowStyle, "tool", yamlfile.Name(f.Tool), "on_calls", f.OnCalls, "kind", yamlfile.Name(f.Kind), "status", yamlfile.Given(f.Status),
		"code", yamlfile.Given(f.Code), "message", yamlfile.Given(f.Message), "after", yamlfile.Given(f.After), "fields", f.Fields, "value", value)
}

// addExpect writes the accepted outcomes: the first in full, the others by what
// sets them apart from it.
func (d Draft) addExpect(to *yaml.Node) {
	if len(d.Task.Expect) == 0 {
		return
	}
	first := d.Task.Expect[0]
	yamlfile.Add(to, "expect", goldens.WriteExpect(first, goldens.Expect{}, 0, d.Pinned), "")
	if len(d.Task.Expect) == 1 {
		return
	}
	base := first
	base.StopReason, base.Note = "", ""
	list := yamlfile.Sequence(0)
	for _, e := range d.Task.Expect[1:] {
		list.Content = append(list.Content, goldens.WriteExpect(e, base, yaml.FlowStyle, false))
	}
	yamlfile.Add(to, "also_accept", list, "")
}
