package world

import (
	"encoding/json"
	"time"
)

// DefaultNow is the start of the clock of a task whose suite gives none.
var DefaultNow = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Spec is what a suite says of a task's world.
type Spec struct {
	// Now is the start of the virtual clock, Zone its time zone.
	Now  time.Time
	Zone *time.Location
	// Kind names the kind of world, Maker opens one of it: loading a suite sets both.
	Kind  string `json:",omitempty"`
	Maker Kind   `json:"-"`
	// Program is a digest of what implements the world besides its kind: of a process, its
	// command and the files of the suite that this names; of a declared world, the rules.
	Program string `json:",omitempty"`
	// State is the world's initial state as canonical JSON; nil if the suite gives none.
	State json.RawMessage `json:",omitempty"`
	// Env is the environment of the task's tools: credentials of HTTP tools are
	// looked for here first. A value must never reach a cassette.
	Env map[string]string `json:",omitempty"`
	// ClockStep is how far every tool call moves the world's clock, beyond the
	// time that passes: the world's date changes, no budget is used.
	ClockStep time.Duration
	// Latency is the duration of a call by tool name; absent means zero.
	Latency map[string]time.Duration
	// Faults are injected into tool calls.
	Faults []Fault
}

// FaultKind says what a fault does to a tool call.
type FaultKind string

// The fault kinds.
const (
	FaultError   FaultKind = "error"
	FaultTimeout FaultKind = "timeout"
	FaultLatency FaultKind = "latency"
	FaultReplace FaultKind = "replace" // the result becomes Value
	FaultAugment FaultKind = "augment" // Fields are added to the result object
	FaultAppend  FaultKind = "append"  // Value, a text, goes behind a result that is a text
)

// Fault is one injected tool fault.
type Fault struct {
	Tool string
	// OnCalls are the 1-based indexes of that tool's calls; empty means all.
	OnCalls []int
	Kind    FaultKind
	// Status, Code and Message describe an error.
	Status        int
	Code, Message string
	// After is the duration of a timeout or the added latency.
	After  time.Duration
	Fields map[string]any
	Value  any
}

// HTTPTool says how a tool of the suite is run over HTTP. It holds names of
// environment variables, never what is in them.
type HTTPTool struct {
	// Method is GET, POST, PUT, PATCH or DELETE.
	Method string
	// URL is an address with {argument} in its path and behind the = of its query.
	URL string
	// Headers are sent with every request, in order of the file.
	Headers []HTTPHeader `json:",omitempty"`
	// JSON reports that the body is the arguments as a JSON object; there is none otherwise.
	JSON bool `json:",omitempty"`
	// Timeout bounds the wait for a complete answer, MaxBytes its size.
	Timeout  time.Duration
	MaxBytes int64

	address urlTemplate
}

// HTTPHeader is one header of an HTTPTool: either Value, or Prefix and what the
// environment variable Env holds.
type HTTPHeader struct {
	Name   string
	Value  string `json:",omitempty"`
	Env    string `json:",omitempty" yaml:"env"`
	Prefix string `json:",omitempty" yaml:"prefix"`
}

// SetURL sets the address template. all are the arguments that it has, needed those
// it cannot do without. The error says what is wrong with the template.
func (h *HTTPTool) SetURL(text string) (all, needed []string, err error) {
	h.URL = text
	if h.address, err = parseURLTemplate(text); err != nil {
		return nil, nil, err
	}
	all, needed = h.address.arguments()
	return all, needed, nil
}

// Address fills in the URL. Arguments are percent-encoded for where they stand;
// a query parameter whose argument is absent or null is left out. The error
// names the argument that cannot be part of the address, for the model.
func (h HTTPTool) Address(args json.RawMessage) (string, error) { return h.address.expand(args) }
