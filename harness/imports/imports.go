// Package imports makes run folders of episodes that other programs recorded, such as traces. A
// Format reads files of one kind and returns their episodes; Write makes the folder: ledger,
// manifest and texts. Nothing of an imported episode is scored until Rescore applies a suite's checks.
package imports

import (
	"context"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// Options say how a Format reads.
type Options struct {
	// ByTrace makes an episode of every trace, also where traces name one conversation.
	ByTrace bool
	// KeepGoing leaves out what is wrong and reports it, in place of failing.
	KeepGoing bool
}

// Format reads the files of one kind. An error joins one line per problem, with file and place.
type Format interface {
	// Suffixes are those of the files to take from a folder.
	Suffixes() []string
	Read(ctx context.Context, files []File, o Options) (Result, error)
}

// Result is what files contain.
type Result struct {
	Episodes []Episode
	// Version names the vocabularies that were understood.
	Version string
	// LeftOut counts what became no part of an episode, by name.
	LeftOut map[string]int
	// Problems are the lines of what KeepGoing left out.
	Problems []string
}

// Episode is one conversation with an agent. Times are UTC microseconds since the Unix epoch. A
// nil text or number is unknown.
type Episode struct {
	// ID is unique among the episodes of an import, such as a trace id.
	ID string
	// Task is empty unless the source names one. Write makes one of the request, so that equal
	// requests are trials of one task.
	Task string
	// Candidate is the name of the agent or the service; Trial is 0 unless the source numbers it.
	Candidate string
	Trial     int
	// Agent is the strategy that the source names; empty means an external agent.
	Agent           string
	Provider, Model string
	Request, Answer *string
	// Failed is why the agent failed; empty if the source does not say that it did.
	Failed     string
	Start, End int64
	Turns      []Turn
	Calls      []Call
}

// Turn is one answer of a model.
type Turn struct {
	Start, End int64
	// Role is that of the ledger; empty means a decision of the agent, and aside a call that is
	// none, such as one for a title.
	Role     string
	TTFTUs   *int64
	Attempts int
	// Failed is why there is no answer.
	Failed                  string
	Served, Finish, TraceID string
	SpanID                  string
	ledger.Tokens
	CostNanoUSD, CostReportedNanoUSD *int64
	Said                             Said
}

// Call is one execution of a tool.
type Call struct {
	// Turn counts from 1: the turn that asked for it, 0 if none did.
	Turn int
	// Proposed means that a model asked for the call, as far as the source tells.
	Proposed   bool
	Name, ID   string
	Start, End int64
	Args       *string
	Result     *string
	// Failed is why the tool failed.
	Failed string
}

// Said are the texts of a turn.
type Said struct {
	System   string     `json:"system,omitempty"`
	Messages []Message  `json:"messages,omitempty"`
	Output   *string    `json:"output,omitempty"`
	Calls    []Proposal `json:"calls,omitempty"`
}

// Message is one message of a prompt.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text,omitempty"`
	// Calls are the calls of an assistant's message. CallID is the call that a tool's answers.
	Calls  []Proposal `json:"calls,omitempty"`
	CallID string     `json:"call_id,omitempty"`
}

// Proposal is a tool call that a model asked for.
type Proposal struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}
