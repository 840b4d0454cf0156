package playbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
)

// refused has the codes of calls that were refused, with the texts for giving up. Such calls are
// not repeated.
var refused = map[string]string{
	"E_DENIED":       "the call was not approved",
	"E_FORBIDDEN":    "the call is not allowed",
	"E_BUDGET":       "no tool calls are left",
	"E_CIRCUIT_OPEN": "the tool keeps failing",
	"E_ARGS":         "the tool does not take these arguments",
	"E_UNKNOWN_TOOL": "the tool is not offered",
	"E_NO_TOOL":      "the tool is not available",
}

// passing matches the codes of transient failures, after which a call is repeated if its step
// does not set the number of repetitions.
var passing = lazyregexp.New(`^E_(RATE|TIMEOUT|UNAVAILABLE|UPSTREAM|UNREACHABLE|ERROR|TOOL|HTTP_429|HTTP_5[0-9][0-9])$`)

// again reports whether a call is repeated after its nth consecutive failure.
func (s *step) again(code string, n int) bool {
	switch {
	case refused[code] != "":
		return false
	case s.retry == nil:
		return n <= defaultRetry && passing.MatchString(code)
	}
	return n <= *s.retry
}

// step follows one step.
func (w *walk) step(s *step, f *frame, env map[string]any) (progress, error) {
	switch s.kind {
	case aCall:
		return w.call(s, f, env)
	case anEach:
		return w.each(s, f, env)
	case anIf:
		holds, err := s.cond.Holds(env)
		if err != nil {
			return ended, err
		}
		block := s.other
		if holds {
			block = s.block
		}
		return w.inner(s, block, f, env)
	case aLet:
		for _, b := range s.lets {
			v, err := w.value(b.value, env)
			if err != nil {
				return ended, err
			}
			f.bind(env, b.name, v)
		}
		return done, nil
	case anAsk:
		return w.ask(s, f, env)
	case aReply:
		return w.reply(s, f, env)
	case aPlan, aDelegate, aBuild:
		return w.handOff(s, f, env)
	}
	return w.finish(s, env)
}

// inner follows the only block of a step, and binds the names of the block in the step.
func (w *walk) inner(s *step, block []step, f *frame, env map[string]any) (progress, error) {
	f.widen(1)
	at, err := w.block(block, f.Sub[0], env)
	if at == done && err == nil {
		for _, name := range s.binds {
			if v, ok := f.Sub[0].Env[name]; ok {
				f.bind(env, name, v)
			} else if _, bound := f.Env[name]; !bound {
				f.bind(env, name, nil)
			}
		}
	}
	return at, err
}

// call follows a call with its results.
func (w *walk) call(s *step, f *frame, env map[string]any) (progress, error) {
	if f.Code != "" {
		return w.failed(s, f, env, Result{Code: f.Code})
	}
	args, err := w.arguments(s, env)
	if err != nil {
		return ended, err
	}
	for key := callKey(s.tool, args); len(w.results[key]) > 0; {
		r := w.seen.Results[w.results[key][0]]
		w.results[key] = w.results[key][1:]
		if r.Code != "" {
			if f.Failed++; s.again(r.Code, f.Failed) {
				continue
			}
			f.Code = r.Code
			f.bind(env, s.as, nil)
			return w.failed(s, f, env, r)
		}
		v, err := expression.Decode(r.Value)
		if err != nil {
			return ended, fmt.Errorf("the result of %s is not JSON: %w", s.tool, err)
		}
		f.Failed = 0
		f.bind(env, s.as, v)
		if s.until == nil {
			return done, nil
		}
		holds, err := s.until.Holds(env)
		if f.Polled++; err != nil || holds || f.Polled >= maxPolls {
			return done, err
		}
	}
	w.calls = append(w.calls, Action{Kind: Call, Tool: s.tool, Args: args, Line: s.line})
	return waiting, nil
}

// failed continues after the final failure of a call.
func (w *walk) failed(s *step, f *frame, env map[string]any, r Result) (progress, error) {
	if s.onError != nil {
		inner := maps.Clone(env)
		inner[errorName] = f.Code
		f.widen(1)
		at, err := w.block(*s.onError, f.Sub[0], inner)
		if at == done && err == nil {
			for name, v := range f.Sub[0].Env {
				f.bind(env, name, v)
			}
		}
		return at, err
	}
	why := refused[r.Code]
	if why == "" {
		why = "it failed with " + r.Code
		if r.Message != "" {
			why += " (" + r.Message + ")"
		}
	}
	w.end = &Action{Kind: GiveUp, Text: fmt.Sprintf("I cannot do this: I called %s, but %s.", s.tool, why), Code: r.Code, Line: s.line}
	return ended, nil
}

// each follows the block of an each for every item.
func (w *walk) each(s *step, f *frame, env map[string]any) (progress, error) {
	v, err := w.value(s.list, env)
	if err != nil {
		return ended, err
	}
	list, ok := v.([]any)
	if !ok || len(list) > maxItems {
		return ended, fmt.Errorf("each needs a list of at most %d items", maxItems)
	}
	f.widen(len(list))
	all := done
	for i, item := range list {
		inner := maps.Clone(env)
		inner[s.as] = item
		at, err := w.block(s.block, f.Sub[i], inner)
		if err != nil || at == ended {
			return at, err
		}
		all = max(all, at)
	}
	if all != done {
		return all, nil
	}
	for _, name := range s.binds {
		values := make([]any, len(list))
		for i := range list {
			values[i] = f.Sub[i].Env[name]
		}
		f.bind(env, name, values)
	}
	return done, nil
}

// ask uses the next reply.
func (w *walk) ask(s *step, f *frame, env map[string]any) (progress, error) {
	if w.replies < len(w.seen.Replies) {
		f.bind(env, s.as, w.seen.Replies[w.replies])
		w.replies++
		return done, nil
	}
	text, err := w.text(s.text, env)
	w.asks = append(w.asks, Action{Kind: Ask, Text: text, Line: s.line})
	return waiting, err
}

// finish ends the solution.
func (w *walk) finish(s *step, env map[string]any) (progress, error) {
	text, err := w.text(s.text, env)
	if err != nil {
		return ended, err
	}
	a := Action{Kind: Answer, Text: text, Line: s.line}
	if s.kind == aGiveUp {
		a.Kind = GiveUp
	}
	if s.value != nil {
		v, err := w.value(s.value, env)
		if err != nil {
			return ended, err
		}
		a.Value = expression.AppendJSON(nil, v)
	}
	w.end = &a
	return ended, nil
}

// arguments returns the canonical arguments of a call.
func (w *walk) arguments(s *step, env map[string]any) (json.RawMessage, error) {
	args := map[string]any{}
	for _, a := range s.args {
		v, err := w.value(a.value, env)
		if err != nil {
			return nil, err
		}
		args[a.name] = v
	}
	return tool.Canonical(expression.AppendJSON(nil, args))
}

// text evaluates a template to text.
func (w *walk) text(t *expression.Program, env map[string]any) (string, error) {
	v, err := w.value(t, env)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	if v == nil {
		return "", errors.New("the text is null")
	}
	return string(expression.AppendJSON(nil, v)), nil
}

// value evaluates a program to a value, which counts towards maxValues.
func (w *walk) value(p *expression.Program, env map[string]any) (any, error) {
	v, err := p.Eval(env)
	if err != nil {
		return nil, err
	}
	if v, err = expression.Plain(v, w.room); err != nil {
		return nil, err
	}
	if w.room -= len(expression.AppendJSON(nil, v)); w.room < 0 {
		return nil, fmt.Errorf("the solution computes values of more than %d MiB", maxValues>>20)
	}
	return v, nil
}

// callKey returns the same key for equal calls.
func callKey(name string, args json.RawMessage) string {
	canonical, err := tool.Canonical(args)
	if err != nil {
		canonical = args
	}
	return name + "|" + string(canonical)
}
