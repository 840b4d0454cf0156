package playbook

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
)

// Bounds of following a solution once: items of an each or a batch, the number of steps, and the
// bytes of all computed values.
const (
	maxItems  = 1000
	maxWork   = 100_000
	maxValues = 16 << 20
)

// Next returns the next actions of the solution: calls that may be made in parallel, or one
// question, answer, end without an answer, or output. It follows the solution from s.From with
// the results and replies of s, and stores no state. A call uses the first unused result with its
// tool and arguments, so that other results do not matter and equal calls each need a result. It
// fails, with the line of the step, if an expression does not match the results; a model then
// gives up.
func (p *Play) Next(s Seen) ([]Action, error) {
	_, actions, err := p.follow(s)
	return actions, err
}

// Save returns the state of the solution after s, as one line of JSON with only the values that
// the remaining steps need. A model whose prompts omit old results stores it and continues with
// Seen.From.
func (p *Play) Save(s Seen) (json.RawMessage, error) {
	f, _, err := p.follow(s)
	if err != nil {
		return nil, err
	}
	blocks := []*frame{f}
	if p.inBatch(s) {
		blocks = f.Sub
	}
	for _, b := range blocks {
		prune(p.steps, b, p.outputs)
	}
	return json.Marshal(f)
}

// frame is the state of one block of steps.
type frame struct {
	// At is the index of the current step, after the last one if the block is done. Env has the
	// names that the block has bound.
	At  int    `json:"at,omitempty"`
	Env values `json:"env,omitempty"`
	// Failed and Polled count the results of the call at At. Code is the error code of its final
	// failure.
	Failed int    `json:"failed,omitempty"`
	Polled int    `json:"polled,omitempty"`
	Code   string `json:"code,omitempty"`
	// Sub are the blocks of the step at At: one for an if or a failed call, one per item for an
	// each or a batch.
	Sub []*frame `json:"sub,omitempty"`
	// Replies counts the used replies; only the outermost frame has it.
	Replies int `json:"replies,omitempty"`
}

// values are values by name, with the types of package expression.
type values map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (v *values) UnmarshalJSON(text []byte) error {
	read, err := expression.Decode(text)
	if m, ok := read.(map[string]any); ok {
		*v = m
	}
	return err
}

// walk is the state of following a solution once.
type walk struct {
	seen    Seen
	results map[string][]int // unused ones, by tool and canonical arguments
	replies int
	said    int      // used messages of the user
	ended   int      // plans whose end is used
	work    int      // steps left
	room    int      // bytes of computed values left
	calls   []Action // to be made
	asks    []Action
	end     *Action
}

// progress is the state of a block after following it.
type progress int

const (
	done    progress = iota // no step is left
	waiting                 // for results or a reply
	ended                   // the solution has ended
)

// follow walks through the solution.
func (p *Play) follow(s Seen) (*frame, []Action, error) {
	f := &frame{}
	if s.From != nil {
		if err := json.Unmarshal(s.From, f); err != nil {
			return nil, nil, fmt.Errorf("playbook: where the solution had come to is not what Save wrote: %w", err)
		}
	}
	env, err := p.env(s)
	if err != nil {
		return nil, nil, err
	}
	if stop := p.missing(s); stop != nil {
		return f, []Action{*stop}, nil
	}
	w := &walk{seen: s, results: map[string][]int{}, replies: f.Replies, work: maxWork, room: maxValues}
	for i, r := range s.Results {
		key := callKey(r.Tool, r.Args)
		w.results[key] = append(w.results[key], i)
	}
	var at progress
	if p.inBatch(s) {
		at, err = p.batch(w, f, env)
	} else {
		at, err = w.block(p.steps, f, env)
	}
	f.Replies = w.replies
	switch {
	case err != nil:
		return f, nil, fmt.Errorf("%s:%w", p.file, err)
	case at == ended && w.end.Kind == GiveUp:
		stop := p.stop(w.end.Text, w.end.Code)
		stop.Line = w.end.Line
		return f, []Action{*stop}, nil
	case at == ended:
		return f, []Action{*w.end}, nil
	case at == done:
		value, err := p.output(w, f, env)
		a := Action{Kind: Output, Value: value}
		if p.title != "" {
			a.Text = "Done: " + p.title + ".\n" + returnMark + string(value)
		}
		return f, []Action{a}, err
	case len(w.calls) > 0:
		return f, w.calls, nil
	}
	return f, w.asks[:1], nil
}

// env returns the values that a solution begins with.
func (p *Play) env(s Seen) (map[string]any, error) {
	env := map[string]any{}
	for name, text := range s.Given {
		v, err := expression.Decode(text)
		if err != nil {
			return nil, fmt.Errorf("playbook: the value given as %s is not JSON", name)
		}
		env[name] = v
	}
	for _, name := range p.lists {
		if _, ok := env[name]; !ok {
			env[name] = []any{}
		}
	}
	if p.item != "" {
		env[p.item] = env[itemName]
	}
	env[correctionsName] = []any{}
	if p.title != "" {
		env[correctionsName] = texts(s.Said)
	}
	return env, nil
}

// missing returns the end of a play without one of its needs; nil if all are given.
func (p *Play) missing(s Seen) *Action {
	if reason, ok := s.Given[gaveUp]; ok && p.needs != nil {
		var text string
		_ = json.Unmarshal(reason, &text) // another value is not a reason
		return p.stop(text, "")
	}
	needs := p.needs
	if needs == nil {
		needs = p.task.Inputs
	}
	for _, name := range needs {
		_, given := s.Given[name]
		if _, item := s.Given[itemName]; !given && (!item || name != p.task.Each) {
			return p.stop("I was not given "+name+".", "")
		}
	}
	return nil
}

// gaveUp is the name under which a stage outputs the reason of its failure.
const gaveUp = "give_up"

// stop returns the end without an answer.
func (p *Play) stop(text, code string) *Action {
	value := expression.AppendJSON(nil, map[string]any{gaveUp: text})
	a := &Action{Kind: GiveUp, Text: text, Code: code}
	if p.needs != nil {
		a.Value = value
	}
	return a
}

// output returns the values that later stages need.
func (p *Play) output(w *walk, f *frame, env map[string]any) (json.RawMessage, error) {
	if p.each != nil {
		maps.Copy(env, f.Env)
		list, err := w.value(p.each.list, env)
		if err != nil {
			return nil, fmt.Errorf("%s:%w", p.file, placed(err, p.each.line))
		}
		return expression.AppendJSON(nil, expression.Need{expression.Elements: p.each.item}.Trim(list)), nil
	}
	out := map[string]any{}
	for name, need := range p.outputs {
		out[name] = need.Trim(f.Env[name])
	}
	return expression.AppendJSON(nil, out), nil
}

// batch follows the solution for every item and joins the answers.
func (p *Play) batch(w *walk, f *frame, env map[string]any) (progress, error) {
	list, _ := env[p.task.Each].([]any)
	if len(list) == 0 || len(list) > maxItems {
		return ended, fmt.Errorf("1: the input %s is not a list of 1 to %d items", p.task.Each, maxItems)
	}
	f.widen(len(list))
	var texts []string
	var values []any
	at := ended
	for i, item := range list {
		inner := maps.Clone(env)
		inner[itemName] = item
		was := w.end
		got, err := w.block(p.steps, f.Sub[i], inner)
		if err != nil {
			return got, err
		}
		if got != ended {
			at = waiting
			continue
		}
		end := *w.end
		w.end = was
		texts = append(texts, end.Text)
		values = append(values, answerValue(end))
	}
	if at != ended {
		return at, nil
	}
	w.end = &Action{Kind: Answer, Text: strings.Join(texts, "\n"), Value: expression.AppendJSON(nil, values)}
	return ended, nil
}

// inBatch reports whether the solution must be followed for all items.
func (p *Play) inBatch(s Seen) bool {
	_, one := s.Given[itemName]
	return p.task.Each != "" && !one
}

// answerValue returns an answer as an element of the answer of a batch.
func answerValue(a Action) any {
	if v, err := expression.Decode(a.Value); a.Kind == Answer && a.Value != nil && err == nil {
		return v
	}
	if a.Kind == GiveUp {
		return map[string]any{"error": a.Text}
	}
	return a.Text
}

// widen creates frames for n blocks.
func (f *frame) widen(n int) {
	f.Sub = append(f.Sub, make([]*frame, max(n-len(f.Sub), 0))...)
	for i := range f.Sub {
		if f.Sub[i] == nil {
			f.Sub[i] = &frame{}
		}
	}
}

// bind assigns a value to a name.
func (f *frame) bind(env map[string]any, name string, v any) {
	if name == "" {
		return
	}
	if f.Env == nil {
		f.Env = map[string]any{}
	}
	f.Env[name], env[name] = v, v
}

// block follows steps until it must wait or they end.
func (w *walk) block(steps []step, f *frame, outer map[string]any) (progress, error) {
	env := maps.Clone(outer)
	maps.Copy(env, f.Env)
	for f.At = max(f.At, 0); f.At < len(steps); f.At++ {
		if w.work--; w.work < 0 {
			return ended, &stepError{steps[f.At].line, fmt.Errorf("the solution takes more than %d steps", maxWork)}
		}
		at, err := w.step(&steps[f.At], f, env)
		if err != nil || at != done {
			return at, placed(err, steps[f.At].line)
		}
		f.Failed, f.Polled, f.Code, f.Sub = 0, 0, "", nil
	}
	return done, nil
}

// stepError is an error with the line of its step.
type stepError struct {
	line int
	err  error
}

func (e *stepError) Error() string { return fmt.Sprintf("%d: %v", e.line, e.err) }
func (e *stepError) Unwrap() error { return e.err }

// placed adds the line of a step to an error, unless it already has that of an inner step.
func placed(err error, line int) error {
	var inner *stepError
	if err == nil || errors.As(err, &inner) {
		return err
	}
	return &stepError{line, err}
}
