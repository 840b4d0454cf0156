package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a response object.
type response struct {
	ID                string          `json:"id"`
	Model             string          `json:"model"`
	Output            []outputItem    `json:"output"`
	Status            string          `json:"status"`
	Usage             json.RawMessage `json:"usage"`
	Error             json.RawMessage `json:"error"`
	ServiceTier       string          `json:"service_tier"`
	IncompleteDetails *struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
}

// outputItem is one output item: a message, a call, reasoning. Of items of other types
// it has what distinguishes a call that the server carried out from one left to us.
type outputItem struct {
	Type      string       `json:"type"`
	ID        string       `json:"id"`
	Phase     string       `json:"phase"`
	Content   []outputPart `json:"content"`
	Summary   []outputPart `json:"summary"`
	Encrypted string       `json:"encrypted_content"`
	CallID    string       `json:"call_id"`
	Name      string       `json:"name"`
	Arguments rawText      `json:"arguments"`
	Input     rawText      `json:"input"`     // of a custom_tool_call
	Execution string       `json:"execution"` // of a tool_search_call: server or client
	Action    struct {
		Type string `json:"type"`
	} `json:"action"`
}

type outputPart struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// UnmarshalJSON reads one item. One of a type that is not known may be of any form.
func (o *outputItem) UnmarshalJSON(raw []byte) error {
	type fields outputItem
	err := wire.Unmarshal(raw, (*fields)(o))
	if slices.Contains([]string{"message", "function_call", "custom_tool_call", "reasoning"}, o.Type) {
		return err
	}
	return nil
}

// decoder reads replies into a wire.Builder; it is for one exchange.
type decoder struct {
	// from names the dialect.
	from string

	text, reasoning, refusal strings.Builder // as streamed
	calls                    map[string]*wire.ToolCall
	listed                   []*wire.ToolCall // in their order
	items                    []outputItem     // that were finished one by one
}

// Whole implements wire.Decoder.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		if f := wire.ReadFault(body); f.Type != "" || f.Code != "" {
			return &f
		}
		return fmt.Errorf("decode reply: %w", err)
	}
	d.head(b, r)
	readUsage(b, r.Usage, r.ServiceTier)
	if wire.Given(r.Error) || r.Status == "failed" {
		return errorOf(body)
	}
	if r.Output == nil && finishes[r.Status] != providers.FinishOther { // others may have none yet
		if f := wire.ReadFault(body); f.Message != "" && (f.Code != "" || f.Type != "") { // an error without an envelope
			return errorOf(body)
		}
		return errors.New("decode reply: no output")
	}
	d.fill(b, r.Output)
	d.end(b, r, "")
	return nil
}

// head takes what a response object says of itself from its beginning.
func (d *decoder) head(b *wire.Builder, r response) {
	b.Reply.Model, b.Reply.RequestID = cmp.Or(r.Model, b.Reply.Model), cmp.Or(r.ID, b.Reply.RequestID)
}

// end takes how a response ended. status is for one that does not say it.
func (d *decoder) end(b *wire.Builder, r response, status string) {
	status = cmp.Or(r.Status, status)
	b.Reply.FinishRaw = status
	if r.IncompleteDetails != nil && r.IncompleteDetails.Reason != "" {
		b.Reply.FinishRaw = r.IncompleteDetails.Reason
	}
	b.Reply.Finish = cmp.Or(finishes[b.Reply.FinishRaw], providers.FinishOther)
	switch status {
	case "queued", "in_progress", "cancelled":
		b.Warn("the response is %s: nothing but what is here will come", status)
	}
}

// finishes maps statuses, and the reasons of those that are incomplete.
var finishes = map[string]providers.Finish{
	"completed":         providers.FinishStop,
	"max_output_tokens": providers.FinishLength, "max_tokens": providers.FinishLength, "length": providers.FinishLength,
	"content_filter": providers.FinishRefusal,
	"incomplete":     providers.FinishOther, "queued": providers.FinishOther, "in_progress": providers.FinishOther, "cancelled": providers.FinishOther,
}

// errorOf reads an error, in a body or in an event, whose type says only that it
// is one.
func errorOf(body []byte) *wire.Fault {
	f := wire.ReadFault(body)
	if f.Type == "error" || strings.HasPrefix(f.Type, "response.") {
		f.Type = ""
	}
	if f.Message == "" || f.Message == string(bytes.TrimSpace(body)) {
		f.Message = "the response failed without an explanation"
	}
	return &f
}

// fill adds what of the output has not been streamed, which is all of it when
// nothing was, and keeps what the next request must bring back.
func (d *decoder) fill(b *wire.Builder, output []outputItem) {
	var text, reasoning, refusal strings.Builder
	for _, o := range output {
		switch o.Type {
		case "message":
			for _, p := range o.Content {
				text.WriteString(p.Text)
				refusal.WriteString(p.Refusal)
			}
		case "reasoning":
			summary, content := joined(o.Summary), joined(o.Content)
			reasoning.WriteString(summary)
			if content != summary { // some servers say the same in both
				reasoning.WriteString(content)
			}
		}
	}
	if streamed, whole := d.reasoning.String(), reasoning.String(); whole != "" && !strings.HasPrefix(whole, streamed) {
		b.SetReasoning(whole) // summaries are written again
	} else {
		b.Reasoning(rest(streamed, whole))
	}
	b.Text(rest(d.text.String(), text.String()))
	b.Refusal(rest(d.refusal.String(), refusal.String()))
	d.fillCalls(b, output)
	otherCalls(b, output)
	b.Reply.Continuation = continuation(d.from, output)
}

// fillCalls matches the calls of the output with the streamed ones: by their id
// if it is the only one of that id, or else by their place.
func (d *decoder) fillCalls(b *wire.Builder, output []outputItem) {
	streamed := d.listed
	byID, n := map[string]*wire.ToolCall{}, map[string]int{}
	for _, c := range streamed {
		byID[c.ID] = c
		n[c.ID]++
	}
	place := 0
	for _, o := range output {
		if !o.calls() {
			continue
		}
		c := byID[o.CallID]
		if o.CallID == "" || n[o.CallID] != 1 {
			c = nil
			if place < len(streamed) && (o.CallID == "" || n[o.CallID] > 1 || streamed[place].ID == "") {
				c = streamed[place]
			}
		}
		place++
		if c == nil {
			c = b.Call("", o.CallID, o.Name)
		}
		settle(c, o)
	}
}

// settle brings a call to what its finished item says.
func settle(c *wire.ToolCall, o outputItem) {
	c.ID, c.Name = cmp.Or(o.CallID, c.ID), cmp.Or(o.Name, c.Name)
	c.Custom = o.Type == "custom_tool_call"
	if args := cmp.Or(o.Arguments, o.Input); args != "" {
		c.SetArgs(string(args))
	}
}

// rest is what of whole comes after what was streamed; nothing if they differ.
func rest(streamed, whole string) string {
	after, ok := strings.CutPrefix(whole, streamed)
	if !ok {
		return ""
	}
	return after
}

// joined is the text of parts.
func joined(list []outputPart) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.Text
	}
	return strings.Join(texts, "")
}

// rawText is the text of a JSON string, or the JSON of what should be one: some
// servers parse arguments. null is empty.
type rawText string

// UnmarshalJSON never fails.
func (t *rawText) UnmarshalJSON(raw []byte) error {
	text := ""
	switch {
	case raw[0] == '"':
		text, _ = wire.Unquote(raw) // what is broken is replaced
	case string(raw) != "null":
		text = string(raw)
	}
	*t = rawText(text)
	return nil
}
