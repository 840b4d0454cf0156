package responses

import (
	"encoding/json"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// carried is the form of Reply.Continuation: the output items in their order, as
// input items. From names the dialect, as no other server can read its reasoning.
type carried struct {
	Wire  string `json:"wire"`
	From  string `json:"from"`
	Items []item `json:"items"`
}

// wireName marks a continuation as one of this wire.
const wireName = "openai.responses"

// continuation keeps what Text and Calls cannot carry: reasoning that can be put
// back, a compacted context, the phase of a message (OpenAI guide "Reasoning
// models": pass the output items on, in their order). nil if there is none.
func continuation(from string, output []outputItem) json.RawMessage {
	c := carried{Wire: wireName, From: from}
	needed := false
	for _, o := range output {
		switch o.Type {
		case "reasoning", "compaction":
			if o.Encrypted == "" && len(o.Content) == 0 {
				continue // nothing is stored, so an id alone would not be found
			}
			needed = true
			kept := item{Type: o.Type, ID: o.ID, Encrypted: o.Encrypted}
			if o.Type == "reasoning" {
				kept.Summary = append([]part{}, inputParts(o.Summary)...)
				kept.Content = inputParts(o.Content)
			}
			c.Items = append(c.Items, kept)
		case "message":
			needed = needed || o.Phase != ""
			if parts := inputParts(o.Content); len(parts) > 0 {
				c.Items = append(c.Items, item{Type: o.Type, Role: providers.RoleAssistant, Phase: o.Phase, Content: parts})
			}
		case "function_call":
			c.Items = append(c.Items, item{Type: o.Type, CallID: o.CallID, Name: o.Name, Arguments: arguments(string(o.Arguments))})
		}
	}
	if !needed {
		return nil
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil // unreachable: texts and lists of texts
	}
	return text
}

// inputParts makes parts to send of parts that came. Those of other kinds, such
// as separate annotations, are left out.
func inputParts(list []outputPart) []part {
	var parts []part
	for _, p := range list {
		switch p.Type {
		case "refusal":
			parts = append(parts, part{Type: p.Type, Refusal: p.Refusal})
		case "output_text", "summary_text", "reasoning_text":
			parts = append(parts, textPart(p.Type, p.Text))
		}
	}
	return parts
}

// kept reads a continuation; one that is not of this dialect has no items.
func (m *model) kept(text json.RawMessage) []item {
	var c carried
	if len(text) == 0 || wire.Unmarshal(text, &c) != nil || c.Wire != wireName || c.From != m.name {
		return nil
	}
	return c.Items
}

// says reports whether items say what a message says.
func says(items []item, message providers.Message) bool {
	var text strings.Builder
	var calls []providers.ToolCall
	for _, i := range items {
		if i.Type == "function_call" {
			calls = append(calls, providers.ToolCall{ID: i.CallID, Name: i.Name, Args: i.Arguments})
			continue
		}
		for _, p := range i.Content {
			if p.Type == "output_text" && p.Text != nil {
				text.WriteString(*p.Text)
			}
		}
	}
	if len(items) == 0 || text.String() != message.Text || len(calls) != len(message.Calls) {
		return false
	}
	for i, c := range message.Calls {
		if c.ID != calls[i].ID || c.Name != calls[i].Name || arguments(c.Args) != calls[i].Args {
			return false
		}
	}
	return true
}
