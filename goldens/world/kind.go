package world

import (
	"context"
	"encoding/json"
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
	// Close frees what the world holds. The world is not used afterwards.
	Close() error
}

// Effect is the result of one call and what it did to the state.
type Effect struct {
	tool.Result
	// Changed says that the state may differ from before; only then is it read again, and
	// the Environment, not the World, lists in Changes what differs.
	Changed bool
	Changes []Change
	// Harm says why the change does harm; empty if it does none.
	Harm string
}
