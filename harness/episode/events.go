// Package episode has what those see who take part in the episodes of a run or watch
// them: tools, the human, traces, streams, transcripts and the kinds of errors.
package episode

import (
	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
)

// Trace is one thing that happened in an episode, with the payloads the ledger
// leaves out. Exactly one of the groups is set. All text is untrusted.
type Trace struct {
	// Turn, Call and Answer are a model call; Err is set if it failed.
	Turn   *ledger.Turn
	Call   *providers.Call
	Answer *providers.Reply
	Err    error
	// Tool and Result are a tool call; Asked is the turn that asked for it, 0 if none
	// did.
	Tool   *agent.CallTool
	Result *tool.Result
	Asked  int
	// Question and Reply are an exchange with the user; Silent: without an answer. Approval:
	// the user is asked to allow what the agent does, and not by the agent in its own words.
	Question, Reply  string
	Silent, Approval bool
	// Update tells what the strategy is at.
	Update *agent.Update
	// Finish ends the episode; Outcome is what its checks look at.
	Finish  *agent.Finish
	Outcome *goldens.Outcome
}

// StreamEvent is a piece of what a model says, as Options.Observe is told it. A turn
// has one begin, then texts and tool calls, then one end. Its attempts are not turns:
// a call that is made again after a failure begins no second time, and nothing is
// asked again once a piece of text has come. A fallback model's turn is a turn of its
// own. All text is untrusted.
type StreamEvent struct {
	Kind StreamKind
	// Task, Candidate and Trial name the episode, EpisodeID is its row's.
	Task, Candidate string
	Trial           int
	EpisodeID       string
	// Turn counts from 1, as in the ledger; Role and Step are the turn's.
	Turn       int
	Role, Step string
	// Model is who is asked.
	Model string
	// Text is a piece of the answer; of a candidate that does not stream the whole.
	// Reasoning and refusals are not part of it.
	Text string
	// Call is a tool call, complete.
	Call *providers.ToolCall
	// Finish is why the model stopped; Err is set instead if the call failed.
	Finish providers.Finish
	Err    error
}

// StreamKind says what a StreamEvent is.
type StreamKind string

// The kinds of stream events.
const (
	StreamBegin    StreamKind = "begin"
	StreamText     StreamKind = "text"
	StreamToolCall StreamKind = "tool_call"
	StreamEnd      StreamKind = "end"
)
