package human

import (
	"cmp"
	"fmt"
)

// Approvals is what people must have been asked for. The zero value checks nothing.
type Approvals struct {
	// Asked and Denied are tools: each made a request, or one that was denied.
	Asked  []string `json:",omitzero"`
	Denied []string `json:",omitzero"`
	// AtMost bounds the number of requests that are not questions; nil means without a bound.
	AtMost *int `json:",omitempty"`
}

// Requested is one request to a person of an Outcome.
type Requested struct{ Tool, Kind, Say string }

// Empty reports whether nothing is checked.
func (a Approvals) Empty() bool { return len(a.Asked)+len(a.Denied) == 0 && a.AtMost == nil }

// String is the tool with what was said.
func (r Requested) String() string { return fmt.Sprintf("%s (%s)", r.Tool, cmp.Or(r.Say, "none")) }
