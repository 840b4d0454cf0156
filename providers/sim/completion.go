package sim

import (
	"time"

	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// completion is what a model said to an inquiry.
type completion struct {
	served    string
	text      string
	reasoning string
	refusal   string
	calls     []invocation
	cut       bool   // ran into the token limit
	stopped   string // the stop sequence that ended it, if one did
	// in counts the prompt, read and write the parts of it that came from and went
	// into a cache; out counts the output without thought, the reasoning.
	in, read, write, out, thought int
	draws                         draws
	// first is the time to the first piece, total that to the last.
	first, total time.Duration
}

// bound cuts what was said at the token limit and at the first stop sequence;
// what would have come later is never said.
func (c *completion) bound(limit int, stop []string) {
	left, over := limit, false
	shorten := func(text string, stop []string) string {
		if over {
			return ""
		}
		cut := false
		text, cut = model.Cut(text, left)
		text, c.stopped = cutStop(text, stop)
		c.cut = cut && c.stopped == ""
		over = cut || c.stopped != ""
		left -= model.Tokens(text)
		return text
	}
	c.reasoning = shorten(c.reasoning, nil)
	c.thought = model.Tokens(c.reasoning)
	c.text = shorten(c.text, stop)
	c.refusal = shorten(c.refusal, nil)
	c.out = model.Tokens(c.text) + model.Tokens(c.refusal)
	for i := range c.calls {
		if over {
			c.calls = c.calls[:i]
			break
		}
		c.calls[i].args = shorten(c.calls[i].args, stop)
		if c.cut && c.calls[i].args == "" {
			c.calls = c.calls[:i]
			break
		}
		c.out += model.Tokens(c.calls[i].args)
	}
}

// identify gives the calls their ids, as the wire makes them.
func (c *completion) identify(prefix string) []invocation {
	calls := make([]invocation, len(c.calls))
	for i, t := range c.calls {
		t.id = c.draws.nth(prefix, i)
		calls[i] = t
	}
	return calls
}

// silent says that there is no text, but something else in its place. What is
// nothing at all is an empty text.
func (c completion) silent() bool {
	return c.text == "" && (len(c.calls) > 0 || c.refusal != "" || c.reasoning != "")
}

// spoken is text and refusal, for wires that have one field for both.
func (c completion) spoken() string { return c.text + c.refusal }

// fresh counts the tokens of the prompt outside of the cache.
func (c completion) fresh() int { return c.in - c.read - c.write }

// made counts all tokens put out.
func (c completion) made() int { return c.out + c.thought }
