package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is what is read of a body, or of one chunk of a stream. Fields whose
// type differs between servers stay raw until looked at.
type response struct {
	ID          string          `json:"id"`
	RequestID   string          `json:"request_id"`
	Model       string          `json:"model"`
	Choices     []choice        `json:"choices"`
	Usage       json.RawMessage `json:"usage"`
	ServiceTier json.RawMessage `json:"service_tier"`
	Fingerprint json.RawMessage `json:"system_fingerprint"`
	Error       json.RawMessage `json:"error"`
	Groq        *struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
	Breakdown json.RawMessage `json:"usage_breakdown"` // Groq's, of several models
	WebSearch json.RawMessage `json:"web_search"`      // Z.ai's results
}

type choice struct {
	Index        *int            `json:"index"`
	FinishReason string          `json:"finish_reason"`
	Native       json.RawMessage `json:"native_finish_reason"` // OpenRouter's word of the upstream
	Message      *answer         `json:"message"`
	Delta        *answer         `json:"delta"`
	Text         json.RawMessage `json:"text"` // of legacy completions
	Error        json.RawMessage `json:"error"`
	LogProbs     json.RawMessage `json:"logprobs"`
}

type answer struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	Refusal          string          `json:"refusal"`
	ToolCalls        json.RawMessage `json:"tool_calls"`
	FunctionCall     json.RawMessage `json:"function_call"`
	ExtraContent     json.RawMessage `json:"extra_content"`
	Executed         json.RawMessage `json:"executed_tools"` // Groq's
	Annotations      json.RawMessage `json:"annotations"`
}

// decoder reads one reply into a wire.Builder.
type decoder struct {
	dialect Dialect
	asked   bool // for a stream
	calls   openCalls
	kept    continuationBuilder
	parts   []providers.UsagePart
	tools   map[string]bool // of the service, that have been counted
	seen    bool            // a choice has come
	probs   *logProbs       // nil unless they are asked for
}

func newDecoder(d Dialect, asked bool) *decoder { return &decoder{dialect: d, asked: asked} }

// Whole implements wire.Decoder.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		if f := bytes.TrimSpace(body); len(f) > 0 && (f[0] == '[' || f[0] == '"') {
			return faultOnly(body, err)
		}
		return fmt.Errorf("decode reply: %w", err)
	}
	d.about(b, r)
	if wire.Given(r.Error) {
		return new(wire.ReadFault(body))
	}
	first := r.first()
	if first == nil {
		f := wire.ReadFault(body)
		if f.Message != "" && (f.Code != "" || f.Type != "") { // an error without an envelope
			return &f
		}
		return errors.New("decode reply: no choices")
	}
	if f := first.fault(); f != nil {
		return f
	}
	said := first.Message
	if said == nil {
		if len(first.Text) == 0 {
			return errors.New("decode reply: the first choice has no message")
		}
		said = &answer{Content: first.Text}
	}
	if err := d.say(b, said, d.wholeCalls); err != nil {
		return err
	}
	d.probs.add(b, first.LogProbs)
	b.Reply.Finish = providers.FinishOther
	finish(b, first.FinishReason)
	d.keep(b)
	return nil
}

// first is the choice of index 0. Where none has an index, it is the first one.
func (r response) first() *choice {
	for i, c := range r.Choices {
		if c.Index == nil && i == 0 || c.Index != nil && *c.Index == 0 {
			return &r.Choices[i]
		}
	}
	return nil
}

// about reads what is beside the choices. Of several usages the last counts
// that reports both sides.
func (d *decoder) about(b *wire.Builder, r response) {
	b.Reply.Model = cmp.Or(b.Reply.Model, r.Model)
	b.Reply.RequestID = cmp.Or(b.Reply.RequestID, r.RequestID, r.ID)
	if print := texts(r.Fingerprint); print != nil {
		b.Reply.Fingerprint = print[0]
	}
	raw := r.Usage
	if !wire.Given(raw) && r.Groq != nil {
		raw = r.Groq.Usage
	}
	d.account(b, raw)
	d.split(b, r.Breakdown)
	if wire.Given(r.WebSearch) {
		d.tool(b, "web_search", "web_search")
	}
	if tier := texts(r.ServiceTier); tier != nil {
		b.Reply.Usage.Tier = tier[0]
	}
}

// faultOnly reads a body that is an error and nothing else.
func faultOnly(body []byte, err error) error {
	f := wire.ReadFault(body)
	if f.Type == "" && f.Code == "" {
		return fmt.Errorf("decode reply: %w", err)
	}
	return &f
}

// say writes a message, or a piece of one, into the reply; calls reads its calls.
func (d *decoder) say(b *wire.Builder, m *answer, calls func(*wire.Builder, *answer)) error {
	var p parts
	if err := p.read(m.Content); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	for _, field := range []json.RawMessage{m.ReasoningContent, m.Reasoning, m.ReasoningDetails} {
		if len(p.reasoning) == 0 { // the fields repeat each other
			p.reasoning = texts(field)
		}
	}
	b.Reasoning(strings.Join(p.reasoning, ""))
	b.Text(strings.Join(p.text, ""))
	b.Refusal(strings.Join(append(p.refusal, m.Refusal), ""))
	calls(b, m)
	d.searched(b, m)
	d.kept.add(d.dialect, m)
	return nil
}

// keep gives the caller what goes back with the calls of this reply.
func (d *decoder) keep(b *wire.Builder) {
	if b.Calls() > 0 {
		b.Reply.Continuation = d.kept.continuation()
	}
}

// finish takes the word for why the model stopped; an empty one is ignored.
func finish(b *wire.Builder, word string) {
	if word == "" {
		return
	}
	b.Reply.FinishRaw = word
	b.Reply.Finish = cmp.Or(finishes[word], providers.FinishOther)
}

// finishes maps the words servers use.
var finishes = map[string]providers.Finish{
	"stop": providers.FinishStop, "eos": providers.FinishStop, "stop_sequence": providers.FinishStop, "end_turn": providers.FinishStop, "eos_token": providers.FinishStop,
	"length": providers.FinishLength, "max_tokens": providers.FinishLength, "model_length": providers.FinishLength, "model_context_window_exceeded": providers.FinishLength,
	"tool_calls": providers.FinishTools, "function_call": providers.FinishTools, "tool_use": providers.FinishTools,
	"content_filter": providers.FinishRefusal, "refusal": providers.FinishRefusal, "sensitive": providers.FinishRefusal,
}
