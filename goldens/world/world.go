// Package world is the deterministic environment that the tools of an episode act on:
// a World, which a Kind opens, with faults, latency and a clock around it, the scripted
// human, and the addresses of tools that are run over HTTP.
package world

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Environment is what one episode's tools act on: a World, and around it a clock, latency,
// faults and the scripted human. It is deterministic: the same calls at the same times
// bring the same results. It is not safe for concurrent use.
type Environment struct {
	spec      Spec
	world     World // nil if the task has none
	replies   []string
	approvals []bool
	// calls counts executed calls by tool.
	calls map[string]int
	// ahead is how far the world's clock is before the episode's: its steps.
	ahead time.Duration
	// initial and now are states of the world; nil if it has none that can change.
	initial, now json.RawMessage
	// stale reports that now is of an earlier time.
	stale bool
}

// Open returns the environment of an episode in its initial state. replies and approvals
// are what its scripted human says, in order. The error is that of the kind, which cannot
// open a world of this state, or says what is wrong with the world's state. Close frees
// what the environment holds.
func Open(ctx context.Context, spec Spec, seed uint64, replies []string, approvals []bool) (*Environment, error) {
	w := &Environment{spec: spec, replies: replies, approvals: approvals, calls: map[string]int{}}
	if spec.Maker == nil {
		return w, nil
	}
	zone := cmp.Or(spec.Zone, time.UTC)
	err := w.guard(func() (err error) {
		w.world, err = spec.Maker.Open(ctx, Start{State: spec.State, Now: spec.Now.In(zone), Zone: zone, Seed: seed})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the world of kind %s: %w", spec.Kind, err)
	}
	if w.initial, err = w.read(ctx); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	w.now = w.initial
	return w, nil
}

// Close ends the world. An Environment is not used afterwards.
func (w *Environment) Close() error {
	if w.world == nil {
		return nil
	}
	return w.guard(w.world.Close)
}

// guard turns a panic of a world into an error: one broken world must not take the rows
// of the other episodes with it.
func (w *Environment) guard(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the world of kind %s panicked: %v", w.spec.Kind, r)
		}
	}()
	return do()
}

// Call executes one call of a tool of the world at virtual time at. The caller has
// validated the arguments. Duration holds the tool's latency and what faults add. Every
// Call counts as an execution for Fault.OnCalls. The error is the world's own failure.
func (w *Environment) Call(ctx context.Context, c tool.Call, at time.Time) (Effect, error) {
	_, lister := w.world.(Lister)
	return w.around(c, at, lister, func(at time.Time) (e Effect, err error) {
		if w.world == nil {
			return NoTool(c), nil
		}
		err = w.guard(func() (err error) {
			e, err = w.world.Call(ctx, c, at)
			return err
		})
		if err == nil && e.Changed {
			err = w.track(ctx, &e)
		}
		return e, err
	})
}

// Around executes a call of a tool, run, in this environment: at the world's time and
// with its latency and faults. run is not called where a fault takes its place. The error
// names the tool: it is run's, or says what is wrong with the result.
func (w *Environment) Around(c tool.Call, at time.Time, run func(at time.Time) (Effect, error)) (Effect, error) {
	return w.around(c, at, false, run)
}

// around is Around; isJSON says that the value which run returns is known to be JSON.
func (w *Environment) around(c tool.Call, at time.Time, isJSON bool, run func(at time.Time) (Effect, error)) (Effect, error) {
	w.calls[c.Name]++
	duration := w.spec.Latency[c.Name]
	at = at.Add(w.ahead)
	w.ahead += w.spec.ClockStep
	e, err := w.execute(c, &duration, func() (Effect, error) { return run(at) })
	if err == nil {
		err = check(&e.Result, isJSON)
	}
	if err != nil {
		return Effect{}, fmt.Errorf("tool %s: %w", c.Name, err)
	}
	e.Duration += duration
	return e, nil
}

// maxValue bounds the JSON that a tool may return, in bytes.
const maxValue = 16 << 20

// check says what is wrong with a result, and cuts its duration to the ledger's
// microseconds.
func check(r *tool.Result, isJSON bool) error {
	switch {
	case !slices.Contains([]tool.Outcome{tool.OK, tool.Error, tool.Timeout, tool.Rejected}, r.Outcome):
		return fmt.Errorf("outcome %q: must be ok, error, timeout or rejected", r.Outcome)
	case r.Outcome != tool.OK && r.Value != nil:
		return fmt.Errorf("outcome %s has a value: only ok has one", r.Outcome)
	case r.Outcome == tool.OK && len(r.Value) > maxValue:
		return fmt.Errorf("its value is longer than %d bytes", maxValue)
	case r.Outcome == tool.OK && !isJSON && !valid(jsontext.Value(r.Value)):
		return errors.New("its value is not JSON")
	case r.Duration < 0:
		return fmt.Errorf("duration %v is negative", r.Duration)
	}
	r.Duration = r.Duration.Truncate(time.Microsecond)
	return nil
}

// valid is json.Valid, in half of its time: to check results is a fifth of what large ones
// cost.
func valid(v jsontext.Value) bool {
	return v.IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// execute runs a tool between its faults; duration grows by what they add.
func (w *Environment) execute(c tool.Call, duration *time.Duration, run func() (Effect, error)) (e Effect, err error) {
	replaced := false
	var added []Fault
	for _, f := range w.spec.Faults {
		if !f.hits(c.Name, w.calls[c.Name]) {
			continue
		}
		switch f.Kind {
		case FaultError:
			return Refuse(f.Code, "%s", f.text()), nil
		case FaultTimeout:
			*duration += f.After
			return Effect{Result: tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT", Message: fmt.Sprintf("no answer within %v", f.After)}}, nil
		case FaultLatency:
			*duration += f.After
		case FaultReplace:
			e, replaced = Return(f.Value), true
		case FaultAugment, FaultAppend:
			added = append(added, f)
		}
	}
	if !replaced {
		if e, err = run(); err != nil {
			return e, err
		}
	}
	if e.Outcome == tool.OK && len(added) > 0 {
		extend(&e.Result, added)
	}
	return e, nil
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

// extend adds or replaces fields of a result that is an object, and appends to one that is a
// text; any other result stays as it is.
func extend(r *tool.Result, added []Fault) {
	var value any
	dec := json.NewDecoder(bytes.NewReader(r.Value))
	dec.UseNumber()
	_ = dec.Decode(&value) // what is not JSON stays, too
	for _, f := range added {
		switch was := value.(type) {
		case map[string]any:
			maps.Copy(was, f.Fields)
		case string:
			if text, ok := f.Value.(string); ok {
				value = strings.TrimLeft(was+"\n\n"+text, "\n")
			}
		default:
			return
		}
	}
	took := r.Duration
	*r = Return(value).Result
	r.Duration = took
}

// Reply returns the scripted human's next answer, regardless of the question, and
// false when no reply is left.
func (w *Environment) Reply(_ string) (string, bool) {
	if len(w.replies) == 0 {
		return "", false
	}
	reply := w.replies[0]
	w.replies = w.replies[1:]
	return reply, true
}

// Vet returns why the world, if it has this method, refuses a call before a person is asked
// about it; nil if it does not.
func (w *Environment) Vet(c tool.Call) *tool.Result {
	if v, ok := w.world.(interface{ Vet(tool.Call) *tool.Result }); ok {
		return v.Vet(c)
	}
	return nil
}

// Asks returns, if the world has this method and has parts of a call, the arguments about which a
// person is asked one after another before the call; false if a person is asked about the call itself.
func (w *Environment) Asks(c tool.Call) ([]json.RawMessage, bool) {
	if v, ok := w.world.(interface {
		Asks(tool.Call) ([]json.RawMessage, bool)
	}); ok {
		return v.Asks(c)
	}
	return nil, false
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
