package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// response is GenerateContentResponse: the whole reply, or a chunk of a stream.
type response struct {
	Candidates []candidate `json:"candidates"`
	Prompt     *struct {
		Reason  json.RawMessage `json:"blockReason"`
		Message string          `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage json.RawMessage `json:"usageMetadata"`
	Model string          `json:"modelVersion"`
	ID    string          `json:"responseId"`
	Error json.RawMessage `json:"error"`
}

type candidate struct {
	Index   int `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	Finish    json.RawMessage `json:"finishReason"`
	Message   string          `json:"finishMessage"`
	Grounding json.RawMessage `json:"groundingMetadata"`
}

// finishes maps FinishReason; numbers are sent where enums are asked for as
// integers. Beyond 5 the two APIs number differently: of those, only numbers
// that mean a refusal in both are listed.
var finishes = map[string]providers.Finish{
	"STOP": providers.FinishStop, "1": providers.FinishStop,
	"MAX_TOKENS": providers.FinishLength, "2": providers.FinishLength,
	"SAFETY": providers.FinishRefusal, "3": providers.FinishRefusal,
	"RECITATION": providers.FinishRefusal, "4": providers.FinishRefusal,
	"BLOCKLIST": providers.FinishRefusal, "PROHIBITED_CONTENT": providers.FinishRefusal,
	"SPII": providers.FinishRefusal, "7": providers.FinishRefusal, "8": providers.FinishRefusal,
	"MODEL_ARMOR": providers.FinishRefusal, "LANGUAGE": providers.FinishRefusal,
	"IMAGE_SAFETY": providers.FinishRefusal, "IMAGE_PROHIBITED_CONTENT": providers.FinishRefusal,
	"IMAGE_RECITATION": providers.FinishRefusal,
}

// decoder reads replies into a wire.Builder.
type decoder struct {
	kept        kept
	searches    searches
	answered    bool // a candidate has come, or the reason why none will
	unknownPart bool // a part has come that has no member of those read
}

// Whole implements wire.Decoder. A stream that is one JSON array is read at once.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	chunks := []response{{}}
	into := any(&chunks[0])
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '[' {
		into = &chunks
	}
	if err := wire.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	for _, r := range chunks {
		if err := d.add(b, r); err != nil {
			return err
		}
	}
	if d.unknownPart {
		leaveOut(b, body)
	}
	switch {
	case !d.answered:
		return errors.New("decode reply: no candidates")
	case b.Reply.Finish != "":
		return nil
	case len(chunks) > 1:
		b.Complete = false // a stream that was cut off between two elements
	}
	b.Reply.Finish = providers.FinishOther
	b.Warn("the reply does not say why it ended")
	return nil
}

// Frame implements wire.Decoder. Older models finish in every chunk: what the
// last value counts, and only the stream's own end is the end.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	if f.Data == "[DONE]" {
		return false, nil // some gateways add it; it does not replace the last chunk
	}
	var r response
	if err := wire.Unmarshal([]byte(f.Data), &r); err != nil {
		return false, fmt.Errorf("decode chunk: %w", err)
	}
	err := d.add(b, r)
	if d.unknownPart {
		leaveOut(b, []byte(f.Data))
		d.unknownPart = false
	}
	b.Complete = b.Reply.Finish != ""
	return false, err
}

// add folds a reply, or a chunk of one.
func (d *decoder) add(b *wire.Builder, r response) error {
	if r.Model != "" {
		b.Reply.Model = r.Model
	}
	if r.ID != "" {
		b.Reply.RequestID = r.ID
	}
	addUsage(b, r.Usage)
	if wire.Given(r.Error) {
		return new(readFault(append(append([]byte(`{"error":`), r.Error...), '}')))
	}
	for _, c := range r.Candidates {
		if c.Index == 0 { // the others were not asked for
			d.answered = true
			d.candidate(b, c)
		}
	}
	d.searches.count(&b.Reply.Usage)
	if r.Prompt != nil && wire.Given(r.Prompt.Reason) {
		d.answered = true
		b.Reply.Finish = providers.FinishRefusal
		b.Warn("the prompt was blocked: %.60s: %.300s", word(r.Prompt.Reason), r.Prompt.Message)
	}
	return nil
}

func (d *decoder) candidate(b *wire.Builder, c candidate) {
	for _, p := range c.Content.Parts {
		p.into(b)
		d.kept.add(p)
		d.unknownPart = d.unknownPart || p.isUnknown()
	}
	if len(c.Grounding) > 0 {
		d.searches.add(c.Grounding)
	}
	raw := word(c.Finish)
	if raw == "" || raw == "0" {
		return
	}
	b.Reply.FinishRaw, b.Reply.Finish = raw, providers.FinishOther
	if f, ok := finishes[raw]; ok {
		b.Reply.Finish = f
	}
	if b.Reply.Finish != providers.FinishStop && c.Message != "" {
		b.Warn("%.60s: %.300s", raw, c.Message)
	}
	b.Reply.Continuation = d.kept.continuation()
}
