package world

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Kind makes worlds of one sort, which a suite names by `kind`. It is safe for concurrent
// use: several episodes open worlds at the same time.
type Kind interface {
	// Tools are the tools that the worlds implement, with description and schema; a suite
	// may list one by its name alone. nil means that they are known only once a world is
	// open, as with a process.
	Tools() []tool.Spec
	// Open returns the world of one episode in its initial state. The error says what is
	// wrong with the state, or why the world cannot be started.
	Open(ctx context.Context, s Start) (World, error)
}

// Binder is a Kind that reads a state once, when a suite is loaded, and not in every
// episode: what is wrong with the state is then a problem of the suite's file.
type Binder interface {
	Kind
	// Bind returns the kind of the worlds that begin with this state, which may be nil;
	// its Open is given no other. The error joins a *StateError for each problem whose
	// place in the state is known.
	Bind(state json.RawMessage) (Kind, error)
}

// StateError is one problem of a state. Path leads to it: keys, and indexes of lists, with
// dots between them, as in jobs.0.status; a dot of a key has a backslash before it.
type StateError struct{ Path, Detail string }

// Error says path: detail.
func (e *StateError) Error() string { return e.Path + ": " + e.Detail }

// BadState returns a *StateError.
func BadState(path, format string, args ...any) error {
	return &StateError{path, fmt.Sprintf(format, args...)}
}

// ReadState decodes a state that is an object with no other fields than those allowed;
// numbers are a json.Number each. No state is an object without fields.
func ReadState(state json.RawMessage, allowed ...string) (map[string]any, error) {
	if len(state) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(state))
	dec.UseNumber()
	var out map[string]any
	if err := dec.Decode(&out); err != nil {
		return nil, BadState("", "must be a mapping")
	}
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if !slices.Contains(allowed, name) {
			errs = append(errs, BadState(name, "unknown field; allowed: %s", strings.Join(allowed, ", ")))
		}
	}
	return out, errors.Join(errs...)
}

// Start is what the world of an episode begins with.
type Start struct {
	// State is what the suite gives as `state`, as canonical JSON; nil if it gives none.
	State json.RawMessage
	// Now is the start of the virtual clock, in Zone, which is never nil.
	Now  time.Time
	Zone *time.Location
	// Seed is the episode's: equal seeds give equal worlds.
	Seed uint64
}

// World is what the tools of one episode act on. It is deterministic: equal calls at equal
// times on equal states give equal bytes. It is not safe for concurrent use.
type World interface {
	// Call executes one call at virtual time at. A call whose result is not ok leaves the
	// state as it was. The error is the world's own failure, such as a process that ended,
	// and never the model's.
	Call(ctx context.Context, c tool.Call, at time.Time) (Effect, error)
	// State returns the state as canonical JSON, which json.Marshal makes of maps, at most
	// MaxState long; nil if the world has none that can change.
	State(ctx context.Context) (json.RawMessage, error)
	// Close frees the resources of the world. The world is not used afterwards.
	Close() error
}

// Lister is a World that lists in Effect.Changes what a call changed, as Diff would, and so
// spares its environment to read the whole state after each. A call that would make the
// state larger than MaxState fails. Its results are JSON, which its environment does not check.
type Lister interface {
	World
	// Text returns the state as State does, which has not failed before.
	Text() json.RawMessage
}

// Effect is the result of one call and what it did to the state.
type Effect struct {
	tool.Result
	// Changed reports that the state may differ from before; only then is it read again, and
	// the Environment, and not the World, lists in Changes what differs, unless the World
	// is a Lister.
	Changed bool
	Changes []Change
	// Harm says why the change does harm; empty if it does none.
	Harm string
}
