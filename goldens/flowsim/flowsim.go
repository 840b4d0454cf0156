// Package flowsim is a deterministic simulation of a workflow-automation instance: workflows
// with drafts and versions, executions that really run, credentials without their secrets,
// data tables, projects, folders and tags, and a fixed web. It is a world.Kind; its tools
// have the names, arguments, defaults and bounds of the instance's.
//
// Nothing in it waits or is random: executions have a beginning and an end on the virtual
// clock, and what has happened until a call is worked out when the call is made.
package flowsim

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	strict "github.com/go-json-experiment/json"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Kind is the name by which a suite's worlds name this kind.
const Kind = "flowsim"

// Worlds returns the kind by its name.
func Worlds() map[string]world.Kind { return map[string]world.Kind{Kind: kind{}} }

// kind is the kind of worlds in any state, or in that of base.
type kind struct{ base *base }

// Tools implements world.Kind: all tools, or those that the features of the state allow.
func (k kind) Tools() []tool.Spec {
	if k.base == nil {
		return specs
	}
	return slices.DeleteFunc(slices.Clone(specs), func(s tool.Spec) bool { return k.base.lacks(s.Name) })
}

// Bind implements world.Binder.
func (k kind) Bind(state json.RawMessage) (world.Kind, error) {
	b, err := readBase(state)
	return kind{b}, err
}

// Open implements world.Kind.
func (k kind) Open(_ context.Context, s world.Start) (world.World, error) {
	b := k.base
	if b == nil {
		var err error
		if b, err = readBase(s.State); err != nil {
			return nil, err
		}
	}
	return b.open(s.Now, s.Zone), nil
}

// open returns an instance in the initial state. It reads b only.
func (b *base) open(now time.Time, zone *time.Location) *instance {
	w := &instance{base: b, document: b.clone(), start: now, now: now, zone: zone, calls: map[string]int{}, seen: map[string]string{}, code: map[string]string{}}
	w.tables.OnChange = w.rows.changed
	for _, e := range b.unfinished(now) {
		w.executions.put(e.ID, e)
		w.running = append(w.running, e.ID)
	}
	w.executions.forget()
	return w
}

// instance is the world of one episode.
type instance struct {
	*base
	document
	start time.Time
	// now is the time of the call in progress.
	now  time.Time
	zone *time.Location
	// calls counts the calls by tool, events those that have happened.
	calls  map[string]int
	events int
	// running are the ids of the executions that have not ended.
	running []string
	// seen has, by workflow, the version of the draft that the agent has read last, code the
	// text that it has submitted or read last; coded is the workflow of the latest of these,
	// and lastCode its text.
	seen, code      map[string]string
	coded, lastCode string
	// said are the answers of a person to the requests of the call in progress.
	said []person.Answer
}

// Call implements world.World.
func (w *instance) Call(ctx context.Context, c tool.Call, at time.Time) (world.Effect, error) {
	do, ok := handlers[c.Name]
	if !ok || w.lacks(c.Name) {
		return world.NoTool(c), nil
	}
	if w.blocked[c.Name] {
		return world.Refuse("E_BLOCKED", "an administrator has blocked %s", c.Name), nil
	}
	w.said = person.FromContext(ctx)
	w.advance(at)
	w.calls[c.Name]++
	if w.isStale(c.Name) {
		return do(w.open(w.start, w.zone), c), nil
	}
	e := do(w, c)
	if e.Outcome == tool.OK {
		e.Changes = w.takeChanges()
		e.Changed = len(e.Changes) > 0
	}
	return e, nil
}

// answer is what a person said to the only request of a call; the zero Answer if no person was asked.
func (w *instance) answer() person.Answer {
	if len(w.said) == 0 {
		return person.Answer{}
	}
	return w.said[0]
}

// State implements world.World.
func (w *instance) State(context.Context) (json.RawMessage, error) { return w.Text(), nil }

// Close implements world.World.
func (w *instance) Close() error { return nil }

// maxFault bounds what a refusal quotes of the arguments' fault, in bytes.
const maxFault = 400

// handler executes a call.
type handler func(w *instance, c tool.Call) world.Effect

// reading makes a handler of a function that takes the arguments as a struct.
func reading[A any](do func(w *instance, args A) world.Effect) handler {
	return func(w *instance, c tool.Call) world.Effect {
		var args A
		if err := strict.Unmarshal(c.Args, &args, strict.RejectUnknownMembers(true)); err != nil {
			return world.Refuse("E_BAD_ARGS", "arguments: %s", clip.Bytes(err.Error(), maxFault))
		}
		return do(w, args)
	}
}

// give is the effect of a call that returns a value: structs with their fields in the
// order of the keys, or maps.
func give(v any) world.Effect {
	text, err := encode(v)
	if err != nil {
		return world.Refuse("E_UNENCODABLE", "the result is not JSON: %v", err)
	}
	return world.Effect{Result: tool.Result{Outcome: tool.OK, Value: text}}
}

// stamp writes a time as results do.
func stamp(t time.Time) string { return t.UTC().Format(stampLayout) }

const stampLayout = "2006-01-02T15:04:05.000Z"
