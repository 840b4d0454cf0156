package world

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
	Env    string `json:",omitempty"`
	Prefix string `json:",omitempty"`
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
