package goldens

import (
	"encoding/json"
	"time"
)

// HTTPTool says how a tool of the suite is run over HTTP. It holds names of
// environment variables, never what is in them.
type HTTPTool struct {
	// Method is GET, POST, PUT, PATCH or DELETE.
	Method string
	// URL is an address with {argument} in its path and behind the = of its query.
	URL string
	// Headers are sent with every request, in order of the file.
	Headers []HTTPHeader `json:",omitempty"`
	// JSON says that the body is the arguments as a JSON object; there is none otherwise.
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
	Env    string `json:",omitempty"`
	Prefix string `json:",omitempty"`
}

// Address fills in the URL. Arguments are percent-encoded for where they stand;
// a query parameter whose argument is absent or null is left out. The error
// names the argument that cannot be part of the address, for the model.
func (h HTTPTool) Address(args json.RawMessage) (string, error) { return h.address.expand(args) }

// Approval says who decides whether a tool call runs.
type Approval string

// The approvals.
const (
	ApproveAlways Approval = "always" // runs without asking
	ApproveAsk    Approval = "ask"    // the human is asked every time
	ApproveNever  Approval = "never"  // refused without asking
)

var approvals = []string{string(ApproveAlways), string(ApproveAsk), string(ApproveNever)}

// Approval returns who decides about calls of a tool.
func (s *Suite) Approval(tool string) Approval {
	if a, ok := s.Approvals[tool]; ok {
		return a
	}
	return ApproveAlways
}
