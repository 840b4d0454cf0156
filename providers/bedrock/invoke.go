package bedrock

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// The bodies of InvokeModel and InvokeModelWithResponseStream are the models' own
// and distinguished by their shape (User Guide, "Inference request parameters and
// response fields for foundation models"). This wire does not request them, but reads
// them, because gateways and recordings return them.

// invoked is the fields of all shapes, whole or a chunk of a stream. Of several
// choices the first is read.
type invoked struct {
	Error     json.RawMessage `json:"error"`
	Model     string          `json:"model"`
	Usage     json.RawMessage `json:"usage"`
	Metrics   json.RawMessage `json:"amazon-bedrock-invocationMetrics"`
	Guardrail string          `json:"amazon-bedrock-guardrailAction"`
	Trace     json.RawMessage `json:"amazon-bedrock-trace"`
	// Anthropic Messages, whole and its events.
	Type         string          `json:"type"`
	Content      []claudeBlock   `json:"content"`
	Message      json.RawMessage `json:"message"`
	Index        float64         `json:"index"`
	ContentBlock *claudeBlock    `json:"content_block"`
	Delta        *claudeDelta    `json:"delta"`
	// Anthropic Text Completions.
	Completion *string `json:"completion"`
	// Titan.
	OutputText       *string     `json:"outputText"`
	TitanInput       *wire.Count `json:"inputTextTokenCount"`
	TitanOutput      *wire.Count `json:"totalOutputTextTokenCount"`
	CompletionReason *string     `json:"completionReason"`
	Results          []struct {
		OutputText       *string     `json:"outputText"`
		CompletionReason *string     `json:"completionReason"`
		Tokens           *wire.Count `json:"tokenCount"`
	} `json:"results"`
	// Llama.
	Generation  *string     `json:"generation"`
	LlamaInput  *wire.Count `json:"prompt_token_count"`
	LlamaOutput *wire.Count `json:"generation_token_count"`
	// Mistral's text completions.
	Outputs []completion `json:"outputs"`
	// Cohere Command and Command R.
	Text        *string      `json:"text"`
	Generations []completion `json:"generations"`
	Event       string       `json:"event_type"`
	ToolCalls   []struct {
		Name       string          `json:"name"`
		Parameters json.RawMessage `json:"parameters"`
	} `json:"tool_calls"`
	// AI21 Jurassic-2.
	Completions []struct {
		Data   completion `json:"data"`
		Finish struct {
			Reason string `json:"reason"`
		} `json:"finishReason"`
	} `json:"completions"`
	// The chat completions of Mistral, AI21 Jamba, DeepSeek and others.
	Choices []choice `json:"choices"`
	reasons
}

// reasons are the two names of the reason to stop.
type reasons struct {
	StopReason   *string `json:"stop_reason"`
	FinishReason *string `json:"finish_reason"`
}

type completion struct {
	Text *string `json:"text"`
	reasons
}

// invoked reads a whole body that is not a reply of Converse.
func (d *decoder) invoked(b *wire.Builder, body []byte) error {
	var v invoked
	if err := wire.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	b.Reply.Finish = providers.FinishOther
	known, err := d.fold(b, v)
	if err != nil {
		return err
	}
	if !known || v.Type == "message" && v.Content == nil {
		if f := wire.ReadFault(body); len(v.Message) > 0 || wire.Given(v.Error) {
			return &f
		}
		d.settle(b)
		return errors.New("decode reply: no output and not the shape of a known model")
	}
	d.settle(b)
	return nil
}

// chunk reads one chunk of InvokeModelWithResponseStream: {"bytes": base64}. The
// last one has the invocation metrics. Nova's chunks are events of Converse,
// each under its name.
func (d *decoder) chunk(b *wire.Builder, data string) (bool, error) {
	var c struct {
		Bytes []byte `json:"bytes"`
	}
	if err := wire.Unmarshal([]byte(data), &c); err != nil {
		return false, fmt.Errorf("decode chunk: %w", err)
	}
	var events map[string]json.RawMessage
	if err := wire.Unmarshal(c.Bytes, &events); err != nil {
		return false, fmt.Errorf("decode chunk: %w", err)
	}
	for _, name := range []string{"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"} {
		if event, ok := events[name]; ok {
			done, err := d.event(b, name, event)
			if metrics := events["amazon-bedrock-invocationMetrics"]; name == "metadata" && metrics != nil {
				check(&b.Reply.Usage, metrics)
			}
			return done, err
		}
	}
	var v invoked
	if err := wire.Unmarshal(c.Bytes, &v); err != nil {
		return false, fmt.Errorf("decode chunk: %w", err)
	}
	b.Reply.Finish = cmp.Or(b.Reply.Finish, providers.FinishOther)
	if _, err := d.fold(b, v); err != nil {
		return false, err
	}
	last := len(v.Metrics) > 0
	d.ended = d.ended || last
	if d.ended {
		d.settle(b)
	}
	return last, nil
}

// chunks is what is gathered of a body until its end.
type chunks struct {
	usage   map[string]json.RawMessage // the fields of all usage objects, laid over each other
	raw     json.RawMessage            // the usage object, if there was but one
	metrics json.RawMessage
	counts  sideCounts        // of models that count beside their text
	traces  []json.RawMessage // of guardrails
	guarded bool
}

// fold reads one body or chunk; known is false if it has no known shape of an
// answer.
func (d *decoder) fold(b *wire.Builder, v invoked) (known bool, err error) {
	if v.Type == "error" || wire.Given(v.Error) {
		f := wire.ReadFault(v.Error)
		return true, &f
	}
	d.count(v)
	if v.Model != "" {
		b.Reply.Model = v.Model
	}
	known = true
	switch {
	case v.Completion != nil:
		d.said(b, v.Completion, v.reason())
	case v.Type != "" || v.Content != nil:
		d.claude(b, v)
	case len(v.Choices) > 0:
		d.choice(b, v.Choices[0])
	case len(v.Results) > 0:
		r := v.Results[0]
		d.said(b, r.OutputText, r.CompletionReason)
	case len(v.Outputs) > 0:
		d.said(b, v.Outputs[0].Text, v.Outputs[0].reason())
	case len(v.Generations) > 0:
		d.said(b, v.Generations[0].Text, v.Generations[0].reason())
	case len(v.Completions) > 0:
		d.said(b, v.Completions[0].Data.Text, &v.Completions[0].Finish.Reason)
	case v.OutputText != nil:
		d.said(b, v.OutputText, v.CompletionReason)
	case v.Generation != nil:
		d.said(b, v.Generation, v.reason())
	case v.Text != nil || v.ToolCalls != nil || v.Event != "" || v.FinishReason != nil:
		d.cohere(b, v)
	default:
		known = false
	}
	if v.Guardrail == "INTERVENED" {
		d.chunks.guarded, d.ended, known = true, true, true
	}
	return known, nil
}

// reason is the reason to stop under either name, nil if none came.
func (r reasons) reason() *string {
	if r.StopReason != nil {
		return r.StopReason
	}
	return r.FinishReason
}

// said adds text and, if it came, the reason to stop.
func (d *decoder) said(b *wire.Builder, text, reason *string) {
	if text != nil {
		b.Text(*text)
	}
	if reason != nil && *reason != "" {
		finish(b, *reason)
		d.ended = true
	}
}

// cohere reads Command R, whose calls come whole and without an id.
func (d *decoder) cohere(b *wire.Builder, v invoked) {
	d.said(b, v.Text, v.reason())
	if v.Event == "tool-calls-chunk" || v.Event == "stream-end" {
		return // pieces of what comes whole, or a repetition
	}
	for _, c := range v.ToolCalls {
		b.Call("", "", c.Name).Args(string(c.Parameters))
	}
}

// count gathers what a body or chunk counts. A later value replaces an earlier one.
func (d *decoder) count(v invoked) {
	c := &d.chunks
	if len(v.Metrics) > 0 {
		c.metrics = v.Metrics
	}
	if len(v.Trace) > 0 {
		c.traces = append(c.traces, v.Trace)
	}
	for _, n := range []struct{ to, from **wire.Count }{
		{&c.counts.TitanInput, &v.TitanInput}, {&c.counts.TitanOutput, &v.TitanOutput},
		{&c.counts.LlamaInput, &v.LlamaInput}, {&c.counts.LlamaOutput, &v.LlamaOutput},
	} {
		if *n.from != nil {
			*n.to = *n.from
		}
	}
	if len(v.Results) > 0 && v.Results[0].Tokens != nil {
		c.counts.TitanResults = []titanCount{{v.Results[0].Tokens}}
	}
	c.mergeUsage(v.Usage)
}

// mergeUsage merges a usage object into those before it.
func (c *chunks) mergeUsage(raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if !wire.Given(raw) {
		return
	}
	c.raw = raw
	if wire.Unmarshal(raw, &fields) != nil {
		return
	}
	if c.usage == nil {
		c.usage = fields
		return
	}
	maps.DeleteFunc(fields, func(_ string, v json.RawMessage) bool { return string(v) == "null" })
	maps.Copy(c.usage, fields)
	if text, err := json.Marshal(c.usage); err == nil {
		c.raw = text
	}
}

// settle sets the usage: as the model counts, in an object or beside its text, or else
// by the invocation metrics, with which the model's counts are compared.
func (d *decoder) settle(b *wire.Builder) {
	c := &d.chunks
	counts, _ := json.Marshal(c.counts) // numbers alone
	switch {
	case c.raw != nil:
		setUsage(b, c.raw)
	case string(counts) != "{}":
		setUsage(b, counts)
	case c.metrics != nil:
		setUsage(b, c.metrics)
	default:
		b.Reply.Usage.ServerTools = nil // each chunk after the reason to stop settles again
	}
	u := &b.Reply.Usage
	if c.metrics != nil && u.Reported && string(b.Reply.RawUsage) != string(c.metrics) {
		check(u, c.metrics)
	}
	for _, trace := range c.traces {
		addGuardrails(u, trace)
	}
	if tier, ok := c.usage["service_tier"]; ok {
		_ = wire.Unmarshal(tier, &u.Tier) // what is not text is not a tier
	}
	if c.guarded {
		b.Reply.Finish = providers.FinishRefusal
	}
}

// key is that of a call by its place.
func key(index float64) string { return strconv.FormatFloat(index, 'g', -1, 64) }
