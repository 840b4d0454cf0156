package bedrock

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a Converse body (API Reference, "Converse").
type response struct {
	Output *struct {
		Message *struct {
			Content []content `json:"content"`
		} `json:"message"`
		Type string `json:"__type"` // of an error of the service's front
	} `json:"output"`
	ending
}

// ending is the data that a whole reply and the metadata of a stream have in common.
type ending struct {
	StopReason  string          `json:"stopReason"`
	Usage       json.RawMessage `json:"usage"`
	ServiceTier json.RawMessage `json:"serviceTier"`
	Trace       json.RawMessage `json:"trace"`
	Performance json.RawMessage `json:"performanceConfig"`
}

// content is one block of a reply (API Reference, "ContentBlock"). Others, such
// as the results of the service's own tools, are passed over.
type content struct {
	Text      *string    `json:"text"`
	ToolUse   *toolBlock `json:"toolUse"`
	Reasoning *struct {
		Text     *reasoningText `json:"reasoningText"`
		Redacted []byte         `json:"redactedContent"`
	} `json:"reasoningContent"`
	Citations *struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	} `json:"citationsContent"`
}

type toolBlock struct {
	ID    string          `json:"toolUseId"`
	Name  string          `json:"name"`
	Type  string          `json:"type"`
	Input json.RawMessage `json:"input"`
}

// ours reports whether the caller is to run the tool: those of the type
// server_tool_use run at the service.
func (t *toolBlock) ours() bool { return t.Type != "server_tool_use" }

// finishes maps stop reasons in lower case: those of Converse first, then those
// of the models' own bodies.
var finishes = map[string]providers.Finish{
	"end_turn": providers.FinishStop, "stop_sequence": providers.FinishStop,
	"max_tokens": providers.FinishLength, "model_context_window_exceeded": providers.FinishLength,
	"tool_use":             providers.FinishTools,
	"guardrail_intervened": providers.FinishRefusal, "content_filtered": providers.FinishRefusal, "refusal": providers.FinishRefusal,

	"stop": providers.FinishStop, "finish": providers.FinishStop, "finished": providers.FinishStop, "complete": providers.FinishStop,
	"endoftext": providers.FinishStop, "stop_criteria_met": providers.FinishStop,
	"length": providers.FinishLength, "tool_calls": providers.FinishTools,
	"content_filter": providers.FinishRefusal, "error_toxic": providers.FinishRefusal,
}

// finish sets both forms of a stop reason.
func finish(b *wire.Builder, word string) {
	b.Reply.FinishRaw, b.Reply.Finish = word, providers.FinishOther
	if f, ok := finishes[strings.ToLower(word)]; ok {
		b.Reply.Finish = f
	}
}

// decoder reads replies into a wire.Builder.
type decoder struct {
	ended   bool // the stop reason has come: the stream may end
	blocks  map[string]*reasoning
	order   []*reasoning
	servers map[string]bool // blocks of the service's own tools
	chunks  chunks
}

// Whole implements wire.Decoder.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	switch {
	case r.Output == nil:
		return d.invoked(b, body)
	case r.Output.Type != "":
		return &wire.Fault{Type: r.Output.Type}
	case r.Output.Message == nil || r.Output.Message.Content == nil:
		return errors.New("decode reply: no content")
	}
	for _, c := range r.Output.Message.Content {
		d.block(b, c)
	}
	d.end(b, r.ending)
	return nil
}

// block reads one block of a whole reply.
func (d *decoder) block(b *wire.Builder, c content) {
	switch {
	case c.Text != nil:
		b.Text(*c.Text)
	case c.ToolUse != nil && c.ToolUse.ours():
		b.Call("", c.ToolUse.ID, c.ToolUse.Name).Args(string(c.ToolUse.Input))
	case c.Reasoning != nil:
		r := &reasoning{Redacted: c.Reasoning.Redacted}
		if t := c.Reasoning.Text; t != nil {
			b.Reasoning(t.Text)
			r.Text = t
		}
		d.order = append(d.order, r)
	case c.Citations != nil:
		for _, part := range c.Citations.Content {
			b.Text(part.Text)
		}
	}
}

// end reads what is beside the message.
func (d *decoder) end(b *wire.Builder, e ending) {
	finish(b, e.StopReason)
	d.account(b, e)
	b.Reply.Continuation = continuation(d.order)
}

// account reads the usage, the tier and, of a prompt router, the model chosen.
func (d *decoder) account(b *wire.Builder, e ending) {
	setUsage(b, e.Usage)
	setTier(b, e)
	addGuardrails(&b.Reply.Usage, e.Trace)
	var trace struct {
		PromptRouter struct {
			Model string `json:"invokedModelId"`
		} `json:"promptRouter"`
	}
	if wire.Unmarshal(e.Trace, &trace) == nil && trace.PromptRouter.Model != "" {
		b.Reply.Model = trace.PromptRouter.Model
	}
}
