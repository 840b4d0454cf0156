package tgi

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

// response is what is read of a body, or of one event of a stream.
type response struct {
	GeneratedText *string         `json:"generated_text"`
	Details       json.RawMessage `json:"details"`
	Token         *token          `json:"token"`
	Error         json.RawMessage `json:"error"`
	ErrorType     string          `json:"error_type"`
}

// token is one token of a stream. Special ones are not part of the text.
type token struct {
	Text    string `json:"text"`
	Special bool   `json:"special"`
}

// details are null unless asked for. Lists of tokens are passed over.
type details struct {
	FinishReason string `json:"finish_reason"`
	counts
}

// finishes maps finish_reason.
var finishes = map[string]providers.Finish{
	"eos_token": providers.FinishStop, "stop_sequence": providers.FinishStop, "length": providers.FinishLength,
}

// decoder reads replies into a wire.Builder.
type decoder struct {
	text strings.Builder // of a stream, so far
}

// Whole implements wire.Decoder. The root endpoint, and Hugging Face's inference,
// send a list of one.
func (d *decoder) Whole(b *wire.Builder, body []byte) error {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); bytes.HasPrefix(trimmed, []byte("[")) {
		var list []response
		if err := wire.Unmarshal(body, &list); err != nil {
			return fmt.Errorf("decode reply: %w", err)
		}
		if len(list) == 0 {
			return errors.New("decode reply: the list is empty")
		}
		return list[0].whole(b)
	}
	var r response
	if err := wire.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode reply: %w", err)
	}
	return r.whole(b)
}

// Frame implements wire.Decoder. Every event brings a token; the last one repeats
// the whole text, which counts where it says more than the tokens did.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	if f.Data == "[DONE]" {
		return false, nil // some gateways add it; it does not replace the last token
	}
	var r response
	if err := wire.Unmarshal([]byte(f.Data), &r); err != nil {
		return false, fmt.Errorf("decode event: %w", err)
	}
	if f := r.fault(); f != nil {
		return false, f
	}
	if r.Token == nil {
		return false, errors.New("decode event: no token")
	}
	if !r.Token.Special {
		d.add(b, r.Token.Text)
	}
	if r.GeneratedText == nil {
		return false, nil
	}
	if rest, ok := strings.CutPrefix(*r.GeneratedText, d.text.String()); ok {
		d.add(b, rest)
	}
	return true, into(b, r.Details)
}

func (d *decoder) add(b *wire.Builder, s string) {
	d.text.WriteString(s)
	b.Text(s)
}

func (r response) whole(b *wire.Builder) error {
	if f := r.fault(); f != nil {
		return f
	}
	if r.GeneratedText == nil {
		return errors.New("decode reply: no generated_text")
	}
	b.Text(*r.GeneratedText)
	return into(b, r.Details)
}

// fault returns the error that r reports, nil if r has no error.
func (r response) fault() error {
	if !wire.Given(r.Error) {
		return nil
	}
	f := wire.ReadFault(r.Error)
	f.Type = cmp.Or(f.Type, r.ErrorType)
	return &f
}

// into sets the reason of the ending and the usage.
func into(b *wire.Builder, raw json.RawMessage) error {
	b.Reply.Finish = providers.FinishOther
	var d details
	if len(raw) == 0 {
		return nil
	}
	if err := wire.Unmarshal(raw, &d); err != nil {
		return fmt.Errorf("decode details: %w", err)
	}
	b.Reply.FinishRaw = d.FinishReason
	if f, ok := finishes[d.FinishReason]; ok {
		b.Reply.Finish = f
	}
	d.count(b)
	fields.Account(&b.Reply.Usage, raw)
	return nil
}
