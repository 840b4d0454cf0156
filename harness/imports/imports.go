// Package imports makes run folders of episodes that other programs recorded: traces, or the results
// of other harnesses. A Format reads files of one kind and hands over their episodes one by one; Write
// makes the folder: ledger, manifest and texts. An episode has the verdict that its source gave, or
// none until Rescore applies a suite's checks.
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
	// Map is the path of a file that says where rows have what; empty if the format needs none.
	Map string
}

// Format reads the files of one kind.
type Format interface {
	// Suffixes are those of the files to take from a folder.
	Suffixes() []string
	// Read calls add with each episode, which it does not keep; an error of add ends it. Its own
	// error joins one line per problem, with file and place.
	Read(ctx context.Context, files []File, o Options, add func(*Episode) error) (Result, error)
}

// Result is what files contain besides their episodes.
type Result struct {
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
	// Variant tells candidates of one name apart, such as the name of a prompt; the model does if
	// it is empty.
	Variant         string
	Request, Answer *string
	// Failed is why the agent failed; empty if the source does not say that it did.
	Failed string
	// Verdict is that of the source; nil if it gave none.
	Verdict *Verdict
	// Crashed is why the episode broke down for a reason outside of the model, such as a server's
	// error. Its Verdict, if there is one, counts only in a run as published.
	Crashed string
	// Cluster names what tasks have in common that are not independent evidence, such as one
	// request with several attacks; empty means that the task is separate.
	Cluster string
	// Injection names the text of an attacker that the agent was shown; empty without attack. The
	// Cluster of an attacked task is the task without attack.
	Injection string
	// Clarifies are the messages to the user that were not the last one.
	Clarifies  int
	Start, End int64
	// Tokens and CostNanoUSD are the sums of an episode whose turns do not have them.
	ledger.Tokens
	CostNanoUSD *int64
	Turns       []Turn
	Calls       []Call
}

// Verdict is what a source says of an episode.
type Verdict struct {
	Solved bool
	// Checks are what the verdict is made of.
	Checks []ledger.Check
	// Harm says whether the episode did harm; nil if the source does not say. HarmReason names it.
	Harm       *bool
	HarmReason string
	// AttackSucceeded says whether the attacker got what it wants; nil if the source does not say,
	// or without attack.
	AttackSucceeded *bool
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
	System string `json:"system,omitempty"`
	// Messages are the prompt; with More, they follow those of the turn before, its output and the
	// results of its calls.
	Messages []Message  `json:"messages,omitempty"`
	More     bool       `json:"more,omitempty"`
	Output   *string    `json:"output,omitzero"`
	Calls    []Proposal `json:"calls,omitempty"`
}

// Message is one message of a prompt.
type Message struct {
	Role string `json:"role"`
	Text string `json:"text,omitempty"`
	// Calls are the calls of an assistant's message. CallID is the call that a tool's answers.
	Calls  []Proposal `json:"calls,omitempty"`
	CallID string     `json:"call_id,omitempty"`
	// Failed is why the tool of CallID failed; empty if it did not.
	Failed string `json:"failed,omitempty"`
}

// Proposal is a tool call that a model asked for.
type Proposal struct {
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}
