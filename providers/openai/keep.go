package openai

import (
	"encoding/json"
	"slices"
	"strings"
)

// The fields of an assistant's message that may have to go back.
const (
	keepContent = "reasoning_content"
	keepDetails = "reasoning_details"
	keepExtra   = "extra_content"
)

// continuation is what goes back with an assistant's message that has calls.
type continuation struct {
	Wire             string            `json:"wire"` // distinguishes ours from those of other wires
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
	Calls            []json.RawMessage `json:"calls,omitempty"` // extra_content of each call; null for none
}

const continuationWire = "openai-chat"

// continued reads what a reply gave to take along, as far as the dialect wants it.
func continued(d Dialect, raw json.RawMessage) continuation {
	var c continuation
	if len(raw) == 0 || json.Unmarshal(raw, &c) != nil || c.Wire != continuationWire {
		return continuation{}
	}
	var out continuation
	for _, field := range d.Keeps {
		switch field {
		case keepContent:
			out.ReasoningContent = c.ReasoningContent
		case keepDetails:
			out.ReasoningDetails = c.ReasoningDetails
		case keepExtra:
			out.ExtraContent, out.Calls = c.ExtraContent, c.Calls
		}
	}
	return out
}

// continuationBuilder collects a continuation.
type continuationBuilder struct {
	content strings.Builder
	details []*detail
	extra   json.RawMessage
	calls   []json.RawMessage
}

// detail is one entry of reasoning_details, put together of pieces with its type
// and index. The texts grow, of other fields the last counts.
type detail struct {
	fields map[string]json.RawMessage
	texts  map[string]*strings.Builder
}

func (k *continuationBuilder) add(d Dialect, m *answer) {
	for _, field := range d.Keeps {
		switch field {
		case keepContent:
			for _, s := range texts(m.ReasoningContent) {
				k.content.WriteString(s)
			}
		case keepDetails:
			k.addDetails(m.ReasoningDetails)
		case keepExtra:
			if len(m.ExtraContent) > 0 && m.ExtraContent[0] == '{' {
				k.extra = m.ExtraContent
			}
		}
	}
}

func (k *continuationBuilder) addDetails(raw json.RawMessage) {
	var list []map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, piece := range list {
		// Pieces follow each other: only the last entry can continue.
		var at *detail
		if n := len(k.details); n > 0 && k.details[n-1].continues(piece) {
			at = k.details[n-1]
		} else {
			at = &detail{fields: map[string]json.RawMessage{}, texts: map[string]*strings.Builder{}}
			k.details = append(k.details, at)
		}
		at.add(piece)
	}
}

func (d *detail) continues(piece map[string]json.RawMessage) bool {
	index, ok := piece["index"]
	return ok && string(index) == string(d.fields["index"]) && string(piece["type"]) == string(d.fields["type"])
}

func (d *detail) add(piece map[string]json.RawMessage) {
	for name, value := range piece {
		var s string
		switch {
		case slices.Contains([]string{"text", "summary", "data"}, name) && json.Unmarshal(value, &s) == nil && string(value) != "null":
			if d.texts[name] == nil {
				d.texts[name] = &strings.Builder{}
			}
			d.texts[name].WriteString(s)
		case string(value) != "null" || d.fields[name] == nil:
			d.fields[name] = value
		}
	}
}

// call keeps what came with a call.
func (k *continuationBuilder) call(d Dialect, at int, extra json.RawMessage) {
	if len(extra) == 0 || extra[0] != '{' || !slices.Contains(d.Keeps, keepExtra) {
		return
	}
	for len(k.calls) <= at {
		k.calls = append(k.calls, json.RawMessage("null"))
	}
	k.calls[at] = extra
}

// continuation returns what to take along; nil for nothing.
func (k *continuationBuilder) continuation() json.RawMessage {
	c := continuation{Wire: continuationWire, ReasoningContent: k.content.String(), ExtraContent: k.extra, Calls: k.calls}
	for _, d := range k.details {
		for name, text := range d.texts {
			d.fields[name], _ = json.Marshal(text.String()) // a string has JSON
		}
		entry, err := json.Marshal(d.fields)
		if err == nil {
			c.ReasoningDetails = append(c.ReasoningDetails, entry)
		}
	}
	if c.ReasoningContent == "" && len(c.ReasoningDetails)+len(c.ExtraContent)+len(c.Calls) == 0 {
		return nil
	}
	raw, err := json.Marshal(c)
	if err != nil {
		return nil // unreachable: strings, and JSON that was read
	}
	return raw
}
