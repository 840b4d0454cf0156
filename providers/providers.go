// Package providers defines calls of models: a Model turns a Call into a normalised Reply
// or a *fault.Error. Each wire format is a folder below; compatible dialects reuse one.
// Beside them, package fault classifies failures, retry repeats calls, policy has
// settings and budgets, and price computes the cost of a reply.
package providers

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Model asks one provider's models. Implementations are safe for concurrent
// use and do not retry by themselves: see package retry.
type Model interface {
	// Call sends one request and reads the whole reply. A failure is always an
	// *fault.Error; the Reply then contains what is known (status, request id, usage).
	Call(ctx context.Context, call Call) (Reply, error)
}

// Options configure a wire. The zero value of each field means the provider's
// public default.
type Options struct {
	// Provider is the name in the ledger and in errors, such as "openai".
	Provider string
	// BaseURL replaces the provider's public address, up to and including the
	// version segment.
	BaseURL string
	// Key is the credential. It is sent in the provider's own header and
	// appears nowhere else.
	Key string
	// HTTP sends the requests: a recorder is its transport. nil means
	// http.DefaultClient. A wire that signs looks for credentials only if the requests
	// reach a network: an *http.Transport does, another one if its method Live() bool
	// says so.
	HTTP *http.Client
	// Region is the cloud region, where an address or a signature needs one.
	Region string
	// Header and Query are sent with every request, over the wire's own. They
	// must not contain credentials.
	Header, Query map[string]string
	// Extra is laid over the body of every request as a JSON merge patch
	// (RFC 7396): an object; empty changes nothing.
	Extra json.RawMessage
	// MaxBody bounds a reply's body in bytes; 0 means 8 MiB. A longer one is
	// malformed. No reply takes more memory than a small multiple of it.
	MaxBody int64
	// Now is the clock of replies; nil means time.Now. It is not asked while a response
	// body has a method Elapsed() time.Duration: the time from sending the request to the
	// last bytes read, by which a replay has the recorded times.
	Now func() time.Time
}

// Factory makes a Model. Factories are listed in package providers/all.
type Factory func(Options) (Model, error)

// Call is one request to a model.
type Call struct {
	Model    string
	System   string
	Messages []Message
	// Tools are available; Choice says whether they must be used.
	Tools  []Tool
	Choice Choice
	// Serial asks for at most one tool call per reply.
	Serial bool
	// MaxTokens caps the output; 0 means the provider's default, and where the
	// wire demands a number, 1024.
	MaxTokens int
	// Temperature is sent as it is; nil sends none.
	Temperature *float64
	// Seed asks for repeatable sampling where the wire has it; elsewhere it
	// comes back as a warning.
	Seed *int64
	// Stop are stop sequences.
	Stop []string
	// Format asks for structured output; nil asks for plain text. A wire that
	// lacks the mode refuses the call with kind invalid_request.
	Format *Format
	// LogProbs asks for the mean log probability of the output's tokens, of the wires
	// that have it; the others leave it out.
	LogProbs bool
	// Stream asks for the reply as it is made. The Reply is the same as without;
	// it has times besides.
	Stream bool
	// OnDelta, if there is one, is called with every piece of a streamed reply, on
	// the goroutine of Call.
	OnDelta func(Delta)
	// RequestID is sent as X-Client-Request-Id, so that a provider's log can be
	// matched with a ledger row; empty sends none.
	RequestID string
}

// Mode is a way to make a model answer in JSON.
type Mode string

// The modes. Plain text needs none.
const (
	JSONObject Mode = "json_object" // any JSON object
	JSONSchema Mode = "json_schema" // an object that fits a schema
	ForcedTool Mode = "forced_tool" // the arguments of one tool the model must call
)

// Format asks for structured output. What the provider will not enforce, or may
// refuse, comes back as a warning of the Reply; a name or a schema that no
// provider takes is refused with kind invalid_request before anything is sent.
type Format struct {
	Mode Mode
	// Name names the schema or the tool, in 1 to 64 letters, digits, _ or -;
	// Schema is its JSON Schema, an object. Neither is used with JSONObject.
	Name   string
	Schema json.RawMessage
}

// Formatter is a Model that has modes of structured output. With ForcedTool the
// Reply's Text is the raw arguments of the first call, byte for byte, and Finish
// is FinishTools unless the reply was cut or refused; if no call came, Text is
// what the model said instead, and a warning says so.
type Formatter interface {
	// Modes returns the modes the wire has, in a fresh slice.
	Modes() []Mode
}

// Finish is why a model stopped, normalised.
type Finish string

// The finish reasons.
const (
	FinishStop    Finish = "stop"
	FinishLength  Finish = "length"
	FinishTools   Finish = "tool_calls"
	FinishRefusal Finish = "refusal"
	FinishOther   Finish = "other"
)

// Reply is a model's answer, normalised.
type Reply struct {
	// Text is the answer; reasoning is never part of it.
	Text      string
	Reasoning string
	Refusal   string
	// Calls are the tool calls, in the model's order, each with a unique ID.
	Calls  []ToolCall
	Finish Finish
	// FinishRaw is the provider's own word for it.
	FinishRaw string
	// Model is the model that served, as the provider names it.
	Model string
	// Fingerprint is what the provider calls the configuration that served; empty if it
	// reports none.
	Fingerprint string
	// LogProb is the mean natural log probability of the output's tokens; nil unless it
	// was asked for and came.
	LogProb *float64
	// RequestID is the provider's id of the exchange.
	RequestID string
	Usage     Usage
	// RawUsage is the provider's usage object, byte for byte; nil if none came.
	RawUsage json.RawMessage
	// Status is the HTTP status; 0 if no HTTP was involved.
	Status int
	// Continuation is what Text and Calls cannot carry of this reply and the wire
	// wants back in the message that represents it, such as signed reasoning: see
	// Message.Continuation. nil if nothing.
	Continuation json.RawMessage
	// CostNanoUSD is what the provider says it costs; nil when it says nothing.
	CostNanoUSD *int64
	// FirstToken is the time from sending to the first piece of text, reasoning or
	// tool call, of streamed replies; 0 otherwise. Frames are the times at which
	// each piece was complete, in order, at most 65,536 of them.
	FirstToken time.Duration
	Frames     []time.Duration
	// Batched reports that the reply came from a batch: the tier of its usage
	// is then "batch", and its times mean nothing.
	Batched bool
	// Attempts is how often the request was sent; 0 means once, by a Model that
	// does not retry.
	Attempts int
	// Warnings name settings the provider does not take, and what came back other
	// than asked for.
	Warnings []string
}
