package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A small stand-in for the agent and its world: it renders the contract prompt
// as the agent does, runs the tools, and ends as the agent ends.

// dashboard is what the tools look at.
type dashboard struct {
	now     time.Time
	step    time.Duration // clock step of every tool call
	counts  map[string]map[string]int64
	faults  []loopFault
	replies []string
	jobs    []string // what get_job_status answers, call by call; the last repeats
	calls   map[string]int
}

// loopFault makes calls of a tool fail, or changes their results.
type loopFault struct {
	Tool    string
	OnCalls []int // empty: all
	Kind    string
	Code    string
	Message string
	Fields  map[string]any
	Value   any
}

// newWorld has the counts of April 1 to May 13, 2026 by formula; it is noon of
// Wednesday, May 13, 2026.
func newWorld() *dashboard {
	w := &dashboard{now: time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC), counts: map[string]map[string]int64{}, calls: map[string]int{}}
	first, _ := parseDay("2026-04-01")
	for i := range 43 {
		w.counts[first.add(i).String()] = map[string]int64{"angry": int64(100 + 7*i), "praise": int64(500 + 11*i), "info": int64(1000 + 13*i)}
	}
	return w
}

// sum is the right answer for a label from one day to another.
func (w *dashboard) sum(label, from, to string) int64 {
	var sum int64
	a, _ := parseDay(from)
	b, _ := parseDay(to)
	for d := a; !b.before(d); d = d.add(1) {
		sum += w.counts[d.String()][label]
	}
	return sum
}

// run executes one tool call and returns the verdict and the data of its line.
func (w *dashboard) run(name, args string) (verdict, data string) {
	w.calls[name]++
	defer func() { w.now = w.now.Add(w.step) }()
	result := map[string]any{}
	switch name {
	case todayRange:
		today := w.now.Format(time.DateOnly)
		result["start_date"], result["end_date"] = today, today
	case getJobStatus:
		var a jobArgs
		if json.Unmarshal([]byte(args), &a) != nil || a.ID == "" {
			return "error E_ARGS", "bad arguments"
		}
		result["id"], result["status"] = a.ID, w.jobs[min(w.calls[name], len(w.jobs))-1]
	default:
		var a countArgs
		if json.Unmarshal([]byte(args), &a) != nil {
			return "error E_ARGS", "bad arguments"
		}
		result["label"], result["start"], result["end"], result["value"] = a.Label, a.StartDate, a.EndDate, nil
		from, _ := parseDay(a.StartDate)
		to, _ := parseDay(a.EndDate)
		var sum int64
		var missing []string
		for d := from; !to.before(d); d = d.add(1) {
			if c, ok := w.counts[d.String()]; ok {
				sum += c[a.Label]
				result["value"] = sum
			} else {
				missing = append(missing, d.String())
			}
		}
		if result["value"] != nil && missing != nil {
			result["missing_days"] = missing
		}
	}
	return w.distort(name, result)
}

// distort applies the faults.
func (w *dashboard) distort(name string, result map[string]any) (verdict, data string) {
	var value any = result
	for _, f := range w.faults {
		if f.Tool != name || len(f.OnCalls) > 0 && !slices.Contains(f.OnCalls, w.calls[name]) {
			continue
		}
		switch f.Kind {
		case "error":
			return "error " + f.Code, f.Message
		case "timeout":
			return "timeout E_TIMEOUT", "no answer in time"
		case "augment":
			for k, v := range f.Fields {
				result[k] = v
			}
		case "replace":
			value = f.Value
		}
	}
	out, _ := json.Marshal(value)
	return "ok", string(out)
}

// pad is the scratchpad.
type pad struct {
	request, plan, reflect string
	progress, obs          []string
	steps, calls           int
	maxSteps, maxCalls     int
}

const testTools = `TOOLS (strict JSON Schemas):
1) today_range: Returns today's date.
schema = {"type":"object","properties":{},"additionalProperties":false}
2) get_counts: Counts messages.
schema = {"type":"object","properties":{"start_date":{"type":"string"},"end_date":{"type":"string"},"label":{"enum":["angry","praise","info"]}},"required":["start_date","end_date","label"],"additionalProperties":false}
`

// prompt renders the user message.
func (p *pad) prompt() string {
	var w strings.Builder
	fmt.Fprintf(&w, "USER_REQUEST:\n<data>%s</data>\n\nSCRATCHPAD (compact):\n", p.request)
	fmt.Fprintf(&w, "GOAL: <data>%s</data>\nCONSTRAINTS: Weeks start on Monday.\nPLAN: %s\n", strings.ReplaceAll(p.request, "\n", " / "), p.plan)
	for _, part := range []struct {
		heading string
		lines   []string
	}{{"PROGRESS:", p.progress}, {"OBS:", p.obs}} {
		w.WriteString(part.heading)
		if len(part.lines) == 0 {
			w.WriteString(" (none)")
		}
		for _, l := range part.lines {
			w.WriteString("\n- " + l)
		}
		w.WriteString("\n")
	}
	fmt.Fprintf(&w, "BUDGET_USED: steps=%d/%d tool_calls=%d/%d tokens=1234\n", p.steps, p.maxSteps, p.calls, p.maxCalls)
	if p.reflect != "" {
		fmt.Fprintf(&w, "REFLECT: %s\n", p.reflect)
	}
	return w.String() + "\n" + testTools + "\nRULES:\n- Choose EXACTLY ONE next_action per turn.\n"
}

// observe adds a line; of tool results only the last three stay whole.
func (p *pad) observe(line string) {
	if p.obs = append(p.obs, line); len(p.obs) > 3 {
		p.progress = append(p.progress, fold(p.obs[0]))
		p.obs = p.obs[1:]
	}
}

// fold shortens a result to 160 characters: first its arguments give way.
func fold(line string) string {
	line = strings.TrimPrefix(line, "tool result: ")
	head, tail, ok := strings.Cut(line, " -> ")
	if over := len(line) - 160; ok && over > 0 {
		head = head[:max(len("turn 1 get_counts"), len(head)-over-3)] + "…"
	}
	if ok {
		return head + " -> " + tail
	}
	return line
}

// outcome is how an episode ended.
type outcome struct {
	status   string
	answer   string
	trail    []contractAction // the tool calls
	args     []string
	clarify  int
	steps    int
	observed []string
}

// talker answers one prompt.
type talker func(prompt string) string

// asking is a talk of one message.
func asking(prompt string) talk { return talk{turns: []remark{{user: true, text: prompt}}} }

// flawless is a profile without any slip.
func flawless(name string) talker {
	p, _ := profileFor(name)
	return func(prompt string) string {
		return p.say(asking(prompt), freeText, outputLimit, draws{format: 1, decision: 1, trust: 1, confidence: 5})
	}
}

// episode runs a request to its end.
func episode(t testing.TB, ask talker, w *dashboard, request string) outcome {
	t.Helper()
	p := &pad{request: request, maxSteps: 5, maxCalls: 5}
	var out outcome
	for p.steps < p.maxSteps {
		raw := ask(p.prompt())
		var turn contractTurn
		require.NoError(t, json.Unmarshal([]byte(raw), &turn), "not one JSON object: %s", raw)
		p.steps++
		out.steps = p.steps
		p.plan = turn.StateUpdate.Plan
		switch a := turn.NextAction; a.Type {
		case respond:
			out.answer = a.Message
			out.status = statusOf(turn, out)
			return out
		case clarify:
			out.clarify++
			if len(w.replies) == 0 {
				out.status, out.answer = "clarify", a.Message
				return out
			}
			p.observe(fmt.Sprintf("user reply: turn %d asked <data>%s</data> answered <data>%s</data>", p.steps, a.Message, w.replies[0]))
			w.replies = w.replies[1:]
		case useTool:
			args, _ := json.Marshal(a.Args)
			out.trail, out.args = append(out.trail, a), append(out.args, string(args))
			if p.calls >= p.maxCalls {
				p.observe("budget: no tool calls left, respond now")
				continue
			}
			p.calls++
			verdict, data := w.run(a.Name, string(args))
			p.observe(fmt.Sprintf("tool result: turn %d %s %s -> %s <data>%s</data>", p.steps, a.Name, args, verdict, data))
		default:
			require.Failf(t, "no action", "%s", raw)
		}
		out.observed = append(p.progress, p.obs...)
	}
	out.status = "stopped"
	return out
}

func statusOf(turn contractTurn, out outcome) string {
	switch {
	case turn.Control.Reason == "cannot_proceed":
		return "cannot_proceed"
	case strings.Contains(out.answer, "start_date") || strings.Contains(out.answer, "end_date") || strings.Contains(out.answer, `label "`):
		return "respond_error"
	case out.clarify > 0:
		return "answered_after_clarify"
	}
	return "answered"
}

// argsOf reads the arguments of a get_counts call.
func argsOf(t *testing.T, args string) stretchOf {
	t.Helper()
	var a countArgs
	require.NoError(t, json.Unmarshal([]byte(args), &a))
	return stretchOf{a.Label, a.StartDate, a.EndDate}
}
