// Package tool checks a model's tool call before it is run: from a tool's Spec
// and the raw arguments it makes field errors, a canonical form and a key. It
// does not run tools.
package tool

import (
	"encoding/json"
	"time"
)

// Spec describes one tool a model may call.
type Spec struct {
	// Name is matched exactly, byte for byte.
	Name string
	// Description is one sentence for the model.
	Description string
	// Schema is the JSON Schema of the arguments object.
	Schema json.RawMessage
	// Hint says when to use the tool, as a rule that prompts of the contract show where
	// the tool is offered; empty for none.
	Hint string `json:",omitempty"`
	// Repeatable marks a tool that may be called again with the same
	// arguments (polling): exempt from thrash detection and from the dedupe gate.
	Repeatable bool
	// Uncacheable marks a tool whose answer changes by itself (clock readers):
	// never answered from the dedupe gate, but still subject to thrash detection.
	Uncacheable bool
	// Group says what kind of tool it is, by which roles of agents are offered tools: such
	// as workflow or table-write; empty for none.
	Group string `json:",omitempty"`
	// Approval is who decides about its calls unless the suite says otherwise: always, ask
	// or never; empty means always. Severity is info, warning or destructive.
	Approval, Severity string `json:",omitempty"`
}

// Call is one tool call as the model asked for it.
type Call struct {
	Name string
	// Args is the raw JSON object, byte for byte as the model wrote it.
	Args json.RawMessage
}

// Outcome says how a tool call ended.
type Outcome string

// The outcomes, as written in the ledger.
const (
	OK       Outcome = "ok"
	Error    Outcome = "error"
	Timeout  Outcome = "timeout"
	Rejected Outcome = "rejected" // refused before it ran: nothing was executed
)

// Result is the result of a tool call.
type Result struct {
	Outcome Outcome
	// Code is a stable error code such as E_UPSTREAM; empty when Outcome is OK.
	Code string
	// Message explains an outcome other than OK, for the model and for people.
	Message string
	// Value is the JSON result; nil unless Outcome is OK. JSON null, 0, false
	// and "" are values.
	Value json.RawMessage
	// Duration is how long the tool took on the episode's virtual clock.
	Duration time.Duration
}
