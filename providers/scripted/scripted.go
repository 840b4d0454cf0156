// Package scripted is a model without a network: each call returns the next of a
// list of steps as its reply.
package scripted

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// provider is the name in errors.
const provider = "scripted"

// Step is one answer, and what is expected of the call that gets it.
type Step struct {
	// Text is the model's output, Calls are its native tool calls.
	Text  string
	Calls []providers.ToolCall
	// WantModel must be asked; empty means any.
	WantModel string
	// Check looks at the call; nil accepts it.
	Check func(providers.Call) error
	// Usage is given as it is; the zero value means that none was reported.
	Usage providers.Usage
	// CostNanoUSD is what the call is said to cost; nil when nothing is said.
	CostNanoUSD *int64
	// Finish is why the model stopped; empty means stop.
	Finish providers.Finish
}

// Model replays steps. It is safe for concurrent use: each step is given once,
// in order of the calls' arrival.
type Model struct {
	mu    sync.Mutex
	steps []Step
	next  int
}

// New makes a model that gives steps in order.
func New(steps []Step) *Model { return &Model{steps: steps} }

// Modes implements providers.Formatter: all of them. A step's text is given as
// it is, so it represents the text in the form that the mode makes of it.
func (m *Model) Modes() []providers.Mode {
	return []providers.Mode{providers.JSONObject, providers.JSONSchema, providers.ForcedTool}
}

// Call implements providers.Model. A call that the next step does not expect
// is of kind invalid_request and uses the step up; a call after the last step
// is of kind not_found. A call with an output mode that does not exist is of
// kind invalid_request and uses nothing up.
func (m *Model) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if err := ctx.Err(); err != nil {
		kind := fault.Transport
		if errors.Is(err, context.DeadlineExceeded) {
			kind = fault.TimedOut
		}
		return providers.Reply{}, failure(call, kind, "", err)
	}
	if f := call.Format; f != nil && !slices.Contains(m.Modes(), f.Mode) {
		return providers.Reply{}, failure(call, fault.InvalidRequest, fmt.Sprintf("unknown output mode %.40q; known: %v", f.Mode, m.Modes()), nil)
	}
	step, n, ok := m.take()
	if !ok {
		return providers.Reply{}, failure(call, fault.NotFound, fmt.Sprintf("the script is over: this is call %d and it has %d steps", n, len(m.steps)), nil)
	}
	if step.WantModel != "" && step.WantModel != call.Model {
		return providers.Reply{}, failure(call, fault.InvalidRequest, fmt.Sprintf("step %d is for model %s", n, step.WantModel), nil)
	}
	if step.Check != nil {
		if err := step.Check(call); err != nil {
			return providers.Reply{}, failure(call, fault.InvalidRequest, fmt.Sprintf("step %d does not fit the call", n), err)
		}
	}
	finish := cmp.Or(step.Finish, providers.FinishStop)
	return providers.Reply{
		Text: step.Text, Calls: step.Calls, Finish: finish, FinishRaw: string(finish),
		Model: call.Model, Usage: step.Usage, CostNanoUSD: step.CostNanoUSD,
	}, nil
}

// take gives the next step and its number, from 1.
func (m *Model) take() (Step, int, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next++
	if m.next > len(m.steps) {
		return Step{}, m.next, false
	}
	return m.steps[m.next-1], m.next, true
}

func failure(call providers.Call, kind fault.Kind, message string, err error) *fault.Error {
	return &fault.Error{Kind: kind, Provider: provider, Model: call.Model, Message: message, Err: err}
}
