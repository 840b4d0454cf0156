package playbook

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// The tools by which an orchestrator hands work to sub-agents.
const (
	PlanTool     = "plan"
	DelegateTool = "delegate"
	BuildTool    = "build-workflow-with-agent"
)

// handTools are the tools of the steps that hand work over.
var handTools = map[stepKind]string{aPlan: PlanTool, aDelegate: DelegateTool, aBuild: BuildTool}

// checkpoint is the kind of a planned task that the orchestrator does itself.
const checkpoint = "checkpoint"

// Settled is the end of a task that was handed to a sub-agent, as the orchestrator's prompt shows it.
type Settled struct {
	// ID is the task's id in the plan, or the one that the call returned.
	ID string
	// Failed means that it failed or was cancelled. Text is the sub-agent's last text, or what failed.
	Failed bool
	Text   string
	// Said is the number of further messages of the user before it.
	Said int
}

// part is work that an orchestrator hands to a sub-agent. Other agents do its steps in place.
type part struct {
	line int
	// id and kind are those of a planned task. after are the tasks that must succeed before it.
	id, kind string
	after    []string
	title    string
	// brief is the text by which the sub-agent finds its solution: it is constant and unique.
	brief string
	// args are the other arguments of the call, or of the planned task.
	args  []binding
	block []step
	// play is the sub-agent's solution, and tools those that it calls.
	play  *Play
	tools []string
}

// handler is the reason why the steps of a handler run.
type handler int

const (
	onError handler = iota
	onFailed
	onFeedback
	onMessage
)

// handOff follows a step that hands work over: an orchestrator calls the tool for it and waits for
// what the sub-agents return, any other agent does the steps in place.
func (w *walk) handOff(s *step, f *frame, env map[string]any) (progress, error) {
	f.widen(len(s.parts) + len(s.handlers))
	switch {
	case f.Code != "":
		return w.handle(s, onFailed, f, env)
	case w.seen.Orchestrates:
		return w.handedOver(s, f, env)
	}
	for i, p := range s.parts {
		at, err := w.block(p.block, f.Sub[i], env)
		switch {
		case err != nil || at == waiting:
			return at, err
		case at == ended:
			return w.partFailed(s, f, env, *w.end)
		}
		for _, name := range bindsOf(p.block) {
			f.bind(env, name, f.Sub[i].Env[name])
		}
	}
	return done, nil
}

// partFailed continues after a part that gave up.
func (w *walk) partFailed(s *step, f *frame, env map[string]any, end Action) (progress, error) {
	if s.handlers[onFailed] == nil {
		end.Line = s.line
		w.end = &end
		return ended, nil
	}
	w.end, w.calls, w.asks = nil, nil, nil
	f.Code = end.Text
	return w.handle(s, onFailed, f, env)
}

// handle follows the steps of a handler. f.Code is what they read as error.
func (w *walk) handle(s *step, h handler, f *frame, env map[string]any) (progress, error) {
	block := s.handlers[h]
	if block == nil {
		return done, nil
	}
	inner := maps.Clone(env)
	if inner[errorName] = f.Code; h == onMessage {
		inner[messageName] = w.seen.Said[w.said]
		w.said++
	}
	sub := f.Sub[len(s.parts)+int(h)]
	at, err := w.block(block, sub, inner)
	if at == done && err == nil {
		for name, v := range sub.Env {
			f.bind(env, name, v)
		}
	}
	return at, err
}

// handedOver follows the step of an orchestrator.
func (w *walk) handedOver(s *step, f *frame, env map[string]any) (progress, error) {
	args, err := w.handArgs(s, env)
	if err != nil {
		return ended, err
	}
	r, ok := w.answered(s, args)
	switch {
	case !ok:
		w.calls = append(w.calls, Action{Kind: Call, Tool: handTools[s.kind], Args: args, Line: s.line})
		return waiting, nil
	case r.Code != "":
		f.Code = r.Code
		if s.handlers[onError] != nil {
			return w.handle(s, onError, f, env)
		}
		return w.failed(&step{tool: r.Tool, line: s.line}, f, env, r)
	}
	value, err := expression.Decode(r.Value)
	if err != nil {
		return ended, fmt.Errorf("the result of %s is not JSON: %w", r.Tool, err)
	}
	f.bind(env, s.as, value)
	result, _ := value.(map[string]any)
	switch s.kind {
	case aPlan:
		if feedback, asked := result["feedback"].(string); asked {
			f.Code = feedback
			return w.handle(s, onFeedback, f, env)
		}
	case aDelegate:
		text, _ := result["result"].(string)
		blockers, _ := result["blockers"].([]any)
		return w.settle(s, f, env, []*Settled{{Failed: len(blockers) > 0, Text: text}})
	}
	return w.await(s, f, env, result)
}

// await waits until all parts have settled, or the orchestrator is told that the plan has ended. A
// message of the user before that is for the handler.
func (w *walk) await(s *step, f *frame, env, result map[string]any) (progress, error) {
	all := make([]*Settled, len(s.parts))
	failed, over := false, s.kind == aPlan && w.ended < w.seen.Ended
	for i, p := range s.parts {
		id := p.id
		if s.kind == aBuild {
			id, _ = result["taskId"].(string)
		}
		at := slices.IndexFunc(w.seen.Settled, func(o Settled) bool { return o.ID == id })
		if s.handlers[onMessage] != nil && w.said < len(w.seen.Said) && (at < 0 || w.said < w.seen.Settled[at].Said) {
			if at, err := w.handle(s, onMessage, f, env); err != nil || at != done {
				return at, err
			}
		}
		if at >= 0 {
			all[i] = new(w.seen.Settled[at])
			failed = failed || all[i].Failed
		}
		if p.kind == checkpoint && (w.seen.Checkpoint == id || over && !failed) {
			if at, err := w.block(p.block, f.Sub[i], env); err != nil || at != done {
				return at, err
			}
		}
	}
	if !over && (s.kind == aPlan || all[0] == nil) {
		w.asks = append(w.asks, Action{Kind: Wait, Text: waitText, Line: s.line})
		return waiting, nil
	}
	if over {
		w.ended++
	}
	w.seen.Settled = slices.DeleteFunc(slices.Clone(w.seen.Settled), func(o Settled) bool {
		return slices.ContainsFunc(all, func(used *Settled) bool { return used != nil && *used == o })
	})
	return w.settle(s, f, env, all)
}

const waitText = "That is in progress. I wait for its result."

// settle binds what the sub-agents returned. Those that never began are nil.
func (w *walk) settle(s *step, f *frame, env map[string]any, all []*Settled) (progress, error) {
	for i, p := range s.parts {
		out, ok := map[string]any(f.Sub[i].Env), p.kind == checkpoint
		if o := all[i]; o != nil && !ok {
			out, ok = returned(o.Text)
			if o.Failed || !ok && len(p.play.outputs) > 0 {
				return w.partFailed(s, f, env, Action{Kind: GiveUp, Text: o.Text})
			}
		}
		for _, name := range bindsOf(p.block) {
			f.bind(env, name, out[name])
		}
	}
	return done, nil
}

// returnMark precedes the values in the last text of a sub-agent.
const returnMark = "RESULT: "

// returned reads the values from the last text of a sub-agent; ok is false if it has none.
func returned(text string) (out map[string]any, ok bool) {
	_, after, ok := strings.Cut(text, returnMark)
	if !ok {
		return nil, false
	}
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(after)).Decode(&raw) != nil {
		return nil, false
	}
	v, err := expression.Decode(raw)
	out, ok = v.(map[string]any)
	return out, ok && err == nil
}

// answered returns the result of the call of a step, and uses it up. The model may have written
// other arguments: a plan is known by its approval, other work by the text that the sub-agent got.
func (w *walk) answered(s *step, args json.RawMessage) (r Result, ok bool) {
	same := callKey(handTools[s.kind], args)
	for i, r := range w.seen.Results {
		key := callKey(r.Tool, r.Args)
		indexes := w.results[key]
		if r.Tool != handTools[s.kind] || len(indexes) == 0 || indexes[0] != i {
			continue
		}
		if key != same && (r.Code != "" || !s.answeredBy(r)) {
			continue
		}
		w.results[key] = indexes[1:]
		return r, true
	}
	return Result{}, false
}

// answeredBy reports whether a result of other arguments is that of the step: all its parts were started.
func (s *step) answeredBy(r Result) bool {
	args := plain(string(r.Args))
	if strings.Contains(string(r.Value), `"faults"`) {
		return false
	}
	return !slices.ContainsFunc(s.parts, func(p part) bool { return !strings.Contains(args, plain(quoted(p.brief))) })
}

// quoted is a text as JSON has it, without the quotation marks.
func quoted(text string) string {
	raw := expression.AppendJSON(nil, text)
	return string(raw[1 : len(raw)-1])
}

// handArgs returns the canonical arguments of the call that hands work over.
func (w *walk) handArgs(s *step, env map[string]any) (json.RawMessage, error) {
	var tasks []any
	for _, p := range s.parts {
		args := map[string]any{}
		for _, a := range p.args {
			v, err := w.value(a.value, env)
			if err != nil {
				return nil, err
			}
			args[a.name] = v
		}
		inputs := map[string]any{}
		for _, name := range p.play.needs {
			inputs[name] = p.play.reads[name].Trim(env[name])
		}
		brief := p.brief
		if s.kind != aDelegate {
			for _, name := range p.play.needs {
				brief += "\nINPUT " + name + ": " + string(expression.AppendJSON(nil, inputs[name]))
			}
		}
		switch s.kind {
		case aPlan:
			args["id"], args["title"], args["kind"], args["spec"], args["deps"] = p.id, p.title, p.kind, brief, texts(p.after)
			if p.kind == DelegateTool {
				args["tools"] = texts(p.tools)
			}
			tasks = append(tasks, args)
			continue
		case aDelegate:
			args["briefing"], args["tools"] = brief, texts(p.tools)
			if len(inputs) > 0 {
				args["artifacts"] = inputs
			}
		case aBuild:
			args["task"] = brief
		}
		return tool.Canonical(expression.AppendJSON(nil, args))
	}
	return tool.Canonical(expression.AppendJSON(nil, map[string]any{"tasks": tasks}))
}

// texts returns a list of strings as a value.
func texts(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// bindsOf returns the names that steps bind.
func bindsOf(steps []step) (out []string) {
	for _, s := range steps {
		out = append(out, s.binds...)
	}
	return unique(out)
}

// reply says something to the user and uses the next message.
func (w *walk) reply(s *step, f *frame, env map[string]any) (progress, error) {
	if w.said < len(w.seen.Said) {
		f.bind(env, s.as, w.seen.Said[w.said])
		w.said++
		return done, nil
	}
	text, err := w.text(s.text, env)
	w.asks = append(w.asks, Action{Kind: Wait, Text: text, Line: s.line})
	return waiting, err
}
