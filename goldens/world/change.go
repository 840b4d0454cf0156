package world

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/cupel-eval/cupel/goldens/internal/state"
)

// MaxState bounds the state of a world, as JSON text in bytes.
const MaxState = 16 << 20

// Change is one difference between two states.
type Change struct {
	// Path has keys and list indexes with dots between them, as in orders.O7.status; a dot
	// of a key has a backslash before it. A dot alone is the whole state.
	Path string
	// From and To are the values as JSON, nil if there was no value, or is none now.
	From, To json.RawMessage
}

// Diff lists what differs between two states of a world in a fixed order. What is in one
// of them only is one change, regardless of its content.
func Diff(from, to json.RawMessage) []Change {
	var out []Change
	for _, c := range state.Diff(from, to) {
		out = append(out, Change{Path: c.Path.String(), From: c.From, To: c.To})
	}
	return out
}

// Hash is the SHA-256 hex of a state; empty for nil, the state of a world without one.
func Hash(of json.RawMessage) string { return state.Hash(of) }

// Mutable reports whether the world has a state that can change.
func (w *Environment) Mutable() bool { return w != nil && w.initial != nil }

// States returns the initial state and the present one, as canonical JSON; nil if the
// world has none that can change, or if there is no environment.
func (w *Environment) States() (initial, now json.RawMessage) {
	if w == nil {
		return nil, nil
	}
	if w.stale {
		w.now, w.stale = w.world.(Lister).Text(), false
	}
	return w.initial, w.now
}

// read reads the state of the world and checks what others rely on.
func (w *Environment) read(ctx context.Context) (now json.RawMessage, err error) {
	err = w.guard(func() (err error) {
		now, err = w.world.State(ctx)
		return err
	})
	if err == nil && now != nil && !bytes.Equal(now, w.spec.State) { // which loading has checked
		err = state.Check(now, MaxState)
	}
	if err != nil {
		return nil, fmt.Errorf("state of the world of kind %s: %w", w.spec.Kind, err)
	}
	return now, nil
}

// track says in an effect what a call changed.
func (w *Environment) track(ctx context.Context, e *Effect) error {
	if _, ok := w.world.(Lister); ok {
		w.stale = true
		return nil
	}
	now, err := w.read(ctx)
	if err != nil {
		return err
	}
	e.Changes = Diff(w.now, now)
	w.now = now
	return nil
}
