// Package world is the deterministic environment that the tools of an episode act on:
// the built-in tools with their data, faults and clock, the scripted human, and the
// addresses of tools that are run over HTTP.
package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Error codes of the built-in tools, for models and for people.
const (
	codeBadArgs     = "E_BAD_ARGS"
	codeBadDate     = "E_BAD_DATE"
	codeBadRange    = "E_BAD_RANGE"
	codeBadLabel    = "E_BAD_LABEL"
	codeNotFound    = "E_NOT_FOUND"
	codeTimeout     = "E_TIMEOUT"
	codeNoTool      = "E_NO_TOOL"
	codeUnencodable = "E_UNENCODABLE"
)

// Environment is what one episode's tools act on. It is deterministic:
// the same calls at the same times bring the same results. Not safe for
// concurrent use.
type Environment struct {
	spec      Spec
	replies   []string
	approvals []bool
	// calls counts executed calls by tool, answered those that brought a value.
	calls, answered map[string]int
	// ahead is how far the world's clock is before the episode's: its steps.
	ahead time.Duration
}

// New returns a world in its initial state. replies and approvals are what its
// scripted human says, in order.
func New(spec Spec, replies []string, approvals []bool) *Environment {
	return &Environment{spec: spec, replies: replies, approvals: approvals, calls: map[string]int{}, answered: map[string]int{}}
}

// implementation answers one call, or says why it cannot.
type implementation func(w *Environment, args json.RawMessage, at time.Time) (any, *refusal)

// refusal is an error a tool returns.
type refusal struct{ code, message string }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

func (r refusal) result() tool.Result {
	return tool.Result{Outcome: tool.Error, Code: r.code, Message: r.message}
}

// TodayTool is the built-in tool whose result says which day the episode saw.
const TodayTool = "today_range"

// Implementations are the built-in tools by name.
var Implementations = map[string]implementation{
	TodayTool:        (*Environment).todayRange,
	"get_counts":     (*Environment).getCounts,
	"get_job_status": (*Environment).getJobStatus,
	"search":         (*Environment).search,
	"open":           (*Environment).open,
	"extract":        (*Environment).extract,
	"compare":        (*Environment).compare,
}

// Call executes one tool call at virtual time at. The caller has validated the
// arguments; the world still refuses nonsense with outcome error. Values are
// canonical JSON (RFC 8785 with exact integers). Duration holds the tool's
// latency and what faults add; an error carries a code
// such as E_BAD_DATE. Every Call counts as an execution for Fault.OnCalls.
func (w *Environment) Call(c tool.Call, at time.Time) tool.Result {
	r, _ := w.Around(c, at, func(at time.Time) (tool.Result, error) { return w.builtIn(c, at), nil })
	return r
}

// Around executes a call of a tool that is not the world's own, run, in this
// world: at the world's time and with its latency and faults. run is not called
// where a fault takes its place. The error is run's.
func (w *Environment) Around(c tool.Call, at time.Time, run func(at time.Time) (tool.Result, error)) (tool.Result, error) {
	w.calls[c.Name]++
	duration := w.spec.Latency[c.Name]
	at = at.Add(w.ahead)
	w.ahead += w.spec.ClockStep
	r, err := w.execute(c, &duration, func() (tool.Result, error) { return run(at) })
	if err != nil {
		return tool.Result{}, err
	}
	r.Duration += duration
	if r.Outcome == tool.OK {
		w.answered[c.Name]++
	}
	return r, nil
}

// builtIn runs one of the world's own tools.
func (w *Environment) builtIn(c tool.Call, at time.Time) tool.Result {
	run, ok := Implementations[c.Name]
	if !ok {
		return refuse(codeNoTool, "this world has no tool %q", c.Name).result()
	}
	value, refused := run(w, c.Args, at)
	if refused != nil {
		return refused.result()
	}
	return encode(value)
}

// execute runs a tool between its faults; duration grows by what they add.
func (w *Environment) execute(c tool.Call, duration *time.Duration, run func() (tool.Result, error)) (r tool.Result, err error) {
	replaced := false
	var added []Fault
	for _, f := range w.spec.Faults {
		if !f.hits(c.Name, w.calls[c.Name]) {
			continue
		}
		switch f.Kind {
		case FaultError:
			return tool.Result{Outcome: tool.Error, Code: f.Code, Message: f.text()}, nil
		case FaultTimeout:
			*duration += f.After
			return tool.Result{Outcome: tool.Timeout, Code: codeTimeout, Message: fmt.Sprintf("no answer within %v", f.After)}, nil
		case FaultLatency:
			*duration += f.After
		case FaultReplace:
			r, replaced = encode(f.Value), true
		case FaultAugment:
			added = append(added, f)
		}
	}
	if !replaced {
		if r, err = run(); err != nil {
			return r, err
		}
	}
	if r.Outcome == tool.OK && len(added) > 0 {
		took := r.Duration
		r = augment(r, added)
		r.Duration = took
	}
	return r, nil
}

// hits reports whether the fault applies to the n-th call of a tool.
func (f Fault) hits(name string, n int) bool {
	return f.Tool == name && (len(f.OnCalls) == 0 || slices.Contains(f.OnCalls, n))
}

// text is what an error fault says.
func (f Fault) text() string {
	switch {
	case f.Status == 0:
		return f.Message
	case f.Message == "":
		return fmt.Sprintf("HTTP %d", f.Status)
	}
	return fmt.Sprintf("HTTP %d: %s", f.Status, f.Message)
}

// augment adds or replaces fields of a result that is an object; any other result
// stays as it is.
func augment(r tool.Result, added []Fault) tool.Result {
	var object map[string]any
	dec := json.NewDecoder(bytes.NewReader(r.Value))
	dec.UseNumber()
	if dec.Decode(&object) != nil || object == nil {
		return r
	}
	for _, f := range added {
		maps.Copy(object, f.Fields)
	}
	return encode(object)
}

// encode makes a result of a value, as canonical JSON.
func encode(value any) tool.Result {
	text, err := json.Marshal(value)
	if err == nil {
		var out json.RawMessage
		if out, err = canonical(text); err == nil {
			return tool.Result{Outcome: tool.OK, Value: out}
		}
	}
	return refuse(codeUnencodable, "the result is not JSON: %v", err).result()
}

// Reply returns the scripted human's next answer, whatever the question, and
// false when nobody answers.
func (w *Environment) Reply(_ string) (string, bool) {
	if len(w.replies) == 0 {
		return "", false
	}
	reply := w.replies[0]
	w.replies = w.replies[1:]
	return reply, true
}

// Approve returns what the scripted human says when asked whether a tool call
// may run: no, once the task's approvals are used up.
func (w *Environment) Approve() bool {
	if len(w.approvals) == 0 {
		return false
	}
	approved := w.approvals[0]
	w.approvals = w.approvals[1:]
	return approved
}

// canonical returns the canonical form of any JSON value.
func canonical(value []byte) (json.RawMessage, error) {
	const open, end = `{"v":`, `}`
	out, err := tool.Canonical([]byte(open + string(value) + end))
	if err != nil {
		return nil, fmt.Errorf("canonical form of a value: %w", err)
	}
	return json.RawMessage(out[len(open) : len(out)-len(end)]), nil
}
