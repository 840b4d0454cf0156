package agent

import (
	"time"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// Event is something that happened. The concrete types are Started, ModelReplied,
// ModelFailed, ToolReturned, UserReplied, UserSaid, Waited, Deadline and Cancelled.
type Event interface{ event() }

// Started opens the episode.
type Started struct{ At time.Time }

// ModelReplied answers the CallModel command with the same ID.
type ModelReplied struct {
	At    time.Time
	ID    int
	Reply providers.Reply
	// CostNanoUSD is what the reply cost; nil when that is unknown.
	CostNanoUSD *int64
}

// ModelFailed reports that the CallModel command with the same ID brought no reply.
type ModelFailed struct {
	At  time.Time
	ID  int
	Err error
	// Answered reports that the provider itself answered with the failure, so that a
	// replay meets it again: an optional call is then done without. Any other
	// failure ends the episode.
	Answered bool
}

// ToolReturned answers the CallTool command with the same ID.
type ToolReturned struct {
	At     time.Time
	ID     int
	Result tool.Result
}

// UserReplied answers the AskUser or Listen command with the same ID. At excludes the
// time spent waiting.
type UserReplied struct {
	At   time.Time
	ID   int
	Text string
	// Answer is what the user said to a command with a Request.
	Answer person.Answer
	// Silent reports that the user did not answer; Text is then empty and a clarifying
	// question ends the episode with status clarify.
	Silent bool
}

// UserSaid brings a further message of the user. It answers the Listen command with the same
// ID; the ID is 0 if the machine does not listen.
type UserSaid struct {
	At   time.Time
	ID   int
	Text string
}

// Waited answers the Wait command with the same ID.
type Waited struct {
	At time.Time
	ID int
}

// Deadline reports that the time budget ran out while commands were outstanding; none
// is any more.
type Deadline struct{ At time.Time }

// Cancelled reports that the run is being stopped: nothing is outstanding, and the
// episode ends regardless of the machine's commands.
type Cancelled struct{ At time.Time }

func (Started) event()      {}
func (ModelReplied) event() {}
func (ModelFailed) event()  {}
func (ToolReturned) event() {}
func (UserReplied) event()  {}
func (UserSaid) event()     {}
func (Waited) event()       {}
func (Deadline) event()     {}
func (Cancelled) event()    {}
