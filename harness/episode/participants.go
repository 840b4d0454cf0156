package episode

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Human answers the questions of a live or recording run in place of the tasks'
// scripted replies; false means that there is no reply. Waiting does not count towards the
// episode's time budget. Episodes ask concurrently; ctx ends when the run is being stopped.
type Human func(ctx context.Context, q Question) (Answer, bool)

// Question is what an episode asks its human. All text is untrusted.
type Question struct {
	// Task, Candidate and Trial say which episode asks.
	Task, Candidate string
	Trial           int
	// Text is the agent's clarifying question; empty when Call is set.
	Text string
	// Call is the tool call that needs approval; nil for a clarifying question.
	Call *tool.Call
	// Request is what the agent asks for besides, such as the review of a plan; nil if it is
	// one of the other two.
	Request *person.Request
}

// String is the question on one line, with control characters made visible so
// that a terminal can show it.
func (q Question) String() string {
	text := q.Text
	if q.Call != nil {
		text = fmt.Sprintf("Allow %s with arguments %s?", q.Call.Name, q.Call.Args)
	} else if q.Request != nil && q.Text == "" {
		text = q.Request.Message
	}
	return Visible(clip.Bytes(strings.ToValidUTF8(text, "\uFFFD"), maxQuestion))
}

// Answer is what the human said.
type Answer struct {
	// Text answers a clarifying question, at most 64 KiB of it are taken;
	// Approved a tool call.
	Text     string
	Approved bool
	// Say is a word of package person and replaces both; empty says what they do.
	Say string
}

const maxQuestion = 4 << 10

// Answers are what the human of a live or recording run said in one episode, in
// order: what the task's replies and approvals must be for a replay.
type Answers struct {
	Task, Candidate string
	Trial           int
	Replies         []string
	Approvals       []bool
}

// ToolFunc runs one call of a tool whose name and arguments are already
// checked. Every way to run a tool is one: a Go function, an HTTP endpoint, the
// world. What goes wrong for the agent to deal with is an outcome of the Result;
// an error says that the runner itself is broken, and ends the episode as an
// infrastructure failure. Result.Duration moves the virtual clock. Episodes call
// it concurrently.
type ToolFunc func(ctx context.Context, call tool.Call, info CallInfo) (tool.Result, error)

// CallInfo says which execution a ToolFunc is asked for.
type CallInfo struct {
	// RunID is the run, StepID this call, ParentStep the turn that asked for it.
	// A live run has ids of its own; those of a replay are reproducible.
	RunID, StepID, ParentStep string
	// IdempotencyKey is sha256: and the hex digest of name and canonical
	// arguments: equal for calls that mean the same.
	IdempotencyKey string
	// At is the world's time.
	At time.Time
}
