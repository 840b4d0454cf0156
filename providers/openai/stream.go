package openai

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// Frame implements wire.Decoder. The end is [DONE], or, of servers that leave it
// out, the finish reason: what follows that is usage.
func (d *decoder) Frame(b *wire.Builder, f wire.Frame) (bool, error) {
	data := strings.TrimSpace(f.Data)
	if data == "[DONE]" {
		if !d.seen {
			return false, errors.New("decode reply: the stream has no choices")
		}
		d.keep(b)
		return true, nil
	}
	if f.Event == "error" {
		fault := wire.ReadFault([]byte(data))
		return false, &fault
	}
	var r response
	if err := wire.Unmarshal([]byte(data), &r); err != nil {
		return false, fmt.Errorf("decode reply: %w", err)
	}
	d.about(b, r)
	if wire.Given(r.Error) {
		fault := wire.ReadFault([]byte(data))
		return false, &fault
	}
	first := r.first()
	if first != nil {
		return false, d.chunk(b, first)
	}
	if len(r.Choices) == 0 { // an error without an envelope?
		if fault := wire.ReadFault([]byte(data)); fault.Message != "" && (fault.Code != "" || fault.Type != "") {
			return false, &fault
		}
	}
	return false, nil
}

// chunk adds a piece of the first choice.
func (d *decoder) chunk(b *wire.Builder, c *choice) error {
	if f := c.fault(); f != nil {
		return f
	}
	said := c.Delta
	switch {
	case said != nil: // a message besides repeats it all
	case len(c.Text) > 0:
		said = &answer{Content: c.Text}
	case c.Message != nil && d.asked && !d.seen:
		said = c.Message // in one chunk
	case c.Message != nil && !d.asked:
		return errors.New("decode reply: a whole message in an event that was not asked for")
	}
	if !d.seen {
		d.seen, b.Reply.Finish = true, providers.FinishOther
	}
	if said != nil {
		if err := d.say(b, said, d.deltaCalls); err != nil {
			return err
		}
	}
	d.probs.add(b, c.LogProbs)
	if c.FinishReason != "" {
		finish(b, c.FinishReason)
		if !b.Complete { // not with every chunk of a server that repeats it
			d.keep(b)
		}
		b.Complete = true
	}
	return nil
}
