// Package declared makes worlds of the rules that a suite gives its tools: conditions,
// writes, results and refusals, in expressions over the state. Nothing of such a world is
// code. Rules reads and compiles them when a suite is loaded, and is the world.Kind of the
// suite's declared worlds.
//
// A call takes the first rule whose condition is true. All values are computed from the
// state before the call; then the writes are applied together, in the order set, append,
// delete. A refusal changes nothing.
package declared

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/state"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Kind is the name by which a suite's worlds name this kind.
const Kind = "declared"

// The bounds of a declared world.
const (
	maxState  = world.MaxState // bytes of a state as JSON
	maxResult = 1 << 20        // bytes of a result as JSON
	maxRules  = 100            // rules of a tool
	maxLets   = 50             // names that a tool's let defines
	maxWrites = 100            // writes of a rule
)

// Tools returns the tools that have rules, in file order.
func (r *Rules) Tools() []tool.Spec { return r.specs }

// Open opens a world in the state that s gives.
func (r *Rules) Open(ctx context.Context, s world.Start) (world.World, error) {
	bound, err := r.Bind(s.State)
	if err != nil {
		return nil, err
	}
	return bound.Open(ctx, s)
}

// Bind reads a state, for worlds that begin with it. A world without one begins with {}.
// It must not be called while worlds are in use: load binds every state of a suite.
func (r *Rules) Bind(state json.RawMessage) (world.Kind, error) {
	if len(state) > maxState {
		return nil, world.BadState(".", "has %d MiB as JSON; the largest state has %d MiB", len(state)>>20, maxState>>20)
	}
	if len(state) == 0 {
		state = json.RawMessage(`{}`)
	}
	tree, err := expression.Decode(state)
	if err != nil {
		return nil, err
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return nil, world.BadState(".", "must be a mapping")
	}
	for key := range object {
		r.roots[key] = true
	}
	return &bound{Rules: r, state: object, text: expression.AppendJSON(nil, object)}, nil
}

// bound is the kind of worlds that begin with one state.
type bound struct {
	*Rules
	state map[string]any
	text  json.RawMessage
}

// Open opens a world in the bound state.
func (b *bound) Open(_ context.Context, s world.Start) (world.World, error) {
	return &declaredWorld{rules: b.Rules, zone: s.Zone, seed: int(s.Seed >> 11), state: b.state, text: b.text, size: len(b.text)}, nil
}

// declaredWorld is the world of one episode.
type declaredWorld struct {
	rules *Rules
	zone  *time.Location
	seed  any
	today any
	day   int // of today, as year and day of the year
	// state is shared with the kind, and so with other worlds, except for what is own.
	state map[string]any
	own   *owned          // nil before the first change
	text  json.RawMessage // of state; nil if it is not computed
	size  int             // at least that of text
}

// State returns the state as canonical JSON; nil if no rule of the suite writes.
func (w *declaredWorld) State(context.Context) (json.RawMessage, error) {
	if !w.rules.writes {
		return nil, nil
	}
	return w.Text(), nil
}

// Text returns the state as canonical JSON.
func (w *declaredWorld) Text() json.RawMessage {
	if w.text == nil {
		w.text = expression.AppendJSON(make([]byte, 0, w.size), w.state)
		w.size = len(w.text)
	}
	return w.text
}

// Close frees nothing.
func (w *declaredWorld) Close() error { return nil }

// Call executes a call by the rules of its tool. The error names the tool and the rule: an
// expression that cannot be evaluated, or a write that does not fit the state.
func (w *declaredWorld) Call(_ context.Context, c tool.Call, at time.Time) (world.Effect, error) {
	t, ok := w.rules.tools[c.Name]
	if !ok {
		return world.NoTool(c), nil
	}
	args, err := expression.Decode(c.Args)
	if err != nil {
		return world.Effect{}, fmt.Errorf("arguments: %w", err)
	}
	e := evaluations.Get().(*evaluation)
	defer evaluations.Put(e)
	e.world, e.tool, e.done, e.changes = w, t, [maxLets]bool{}, e.changes[:0]
	e.env.Reset(t.names)
	e.env.Set(nameState, w.state)
	e.env.Set(nameArgs, args)
	e.env.Set(nameSeed, w.seed)
	if t.usesNow {
		e.env.Set(nameNow, at.In(w.zone).Format(time.RFC3339))
	}
	if t.usesToday {
		local := at.In(w.zone)
		if day := local.Year()*1000 + local.YearDay(); day != w.day {
			w.today, w.day = local.Format(time.DateOnly), day
		}
		e.env.Set(nameToday, w.today)
	}
	for i := range t.rules {
		rule := &t.rules[i]
		effect, taken, err := e.try(rule)
		if err == nil && taken {
			effect.Changes, err = e.apply()
			effect.Changed = len(effect.Changes) > 0
		}
		if err != nil {
			return world.Effect{}, fmt.Errorf("rule %d on line %d: %w", i+1, rule.line, err)
		}
		if taken {
			return effect, nil
		}
	}
	return world.Effect{}, errors.New("no rule applies; remove the when of the last rule")
}

// apply makes the changes, in a state of the world's own, and lists them. If the state
// becomes too large, it takes them back.
func (e *evaluation) apply() (out []world.Change, err error) {
	if len(e.changes) == 0 {
		return nil, nil
	}
	w := e.world
	apart := apart(e.changes)
	var before json.RawMessage
	if !apart {
		before = w.Text()
	}
	if err := e.make(); err != nil {
		return nil, err
	}
	w.text = nil
	if apart {
		out = e.list()
	} else {
		out = world.Diff(before, w.Text())
	}
	for _, c := range out {
		w.size += len(c.To) + len(c.Path) + len(`"":,`)
	}
	if w.size > maxState && len(w.Text()) > maxState {
		err = fmt.Errorf("the state has grown to %d MiB, and the largest has %d MiB; let the rules write less", (w.size+1<<20-1)>>20, maxState>>20)
		e.restore()
		w.text = nil
	}
	return out, err
}

// evaluation is one call. Its memory is that of an earlier call.
type evaluation struct {
	world *declaredWorld
	tool  *declaredTool
	env   expression.Env
	done  [maxLets]bool // which names of let have been computed
	// changes are those of the rule that is taken, keys those of their paths, slots what they
	// changed, found how that differs from before.
	changes []change
	keys    state.Path
	slots   []slot
	found   []state.Change
}

var evaluations = sync.Pool{New: func() any { return new(evaluation) }}

// define computes the names of let that p uses, each once a call. A name that no
// expression needs is not computed, so it may fail where its value does not exist.
func (e *evaluation) define(p program) error {
	for _, i := range p.lets {
		if e.done[i] {
			continue
		}
		let := e.tool.lets[i]
		v, err := let.EvalIn(&e.env)
		if err != nil {
			return fmt.Errorf("let %s: %w", let.name, err)
		}
		e.env.Set(len(given)+i, v)
		e.done[i] = true
	}
	return nil
}

// eval evaluates p after the names of let that it uses.
func (e *evaluation) eval(p program) (any, error) {
	if err := e.define(p); err != nil {
		return nil, err
	}
	return p.EvalIn(&e.env)
}

// try computes what a rule does if its condition is true.
func (e *evaluation) try(r *rule) (effect world.Effect, taken bool, err error) {
	if r.when.Program != nil {
		v, err := e.eval(r.when)
		if err != nil {
			return effect, false, fmt.Errorf("when: %w", err)
		}
		holds, ok := v.(bool)
		if !ok {
			return effect, false, fmt.Errorf("when: must be true or false, but is %s", expression.Kind(v))
		}
		if !holds {
			return effect, false, nil
		}
	}
	if r.code != "" {
		message, err := e.text(r.message)
		if err != nil {
			return effect, false, fmt.Errorf("error: %w", err)
		}
		return world.Refuse(r.code, "%s", message), true, nil
	}
	if effect.Value, err = e.result(r); err != nil {
		return effect, false, fmt.Errorf("returns: %w", err)
	}
	effect.Outcome = tool.OK
	if effect.Harm, err = e.text(r.harm); err != nil {
		return effect, false, fmt.Errorf("harm: %w", err)
	}
	return effect, true, e.write(r)
}

// result computes what a rule returns; null if it says nothing.
func (e *evaluation) result(r *rule) (json.RawMessage, error) {
	if r.returns.Program == nil {
		return json.RawMessage("null"), nil
	}
	if err := e.define(r.returns); err != nil {
		return nil, err
	}
	return r.returns.JSON(&e.env, maxResult)
}

// text computes a message; empty if there is none.
func (e *evaluation) text(p program) (string, error) {
	if p.Program == nil {
		return "", nil
	}
	v, err := e.eval(p)
	if err != nil {
		return "", err
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	out, err := expression.JSON(v, maxResult)
	return string(out), err
}
