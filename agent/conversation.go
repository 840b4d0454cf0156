package agent

import (
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// Bounds of a conversation.
const (
	maxSaid         = 4000      // characters of one output shown
	maxConversation = 24 * 1024 // bytes of all exchanges shown; the newest is always shown
)

// conversation are prompts that accumulate: the request, then every raw output
// and the result. Beyond maxConversation the oldest exchanges are left out.
type conversation struct {
	instructions, request string
	budgets               guard.Budgets
	exchanges             []exchange
	size                  int // of the exchanges, in bytes
	left                  int // out
}

// exchange is one turn: what the model said, and what it sees of the result.
type exchange struct {
	parsedReply, saw string
	closed           bool // the next turn has started: saw is complete
}

func (e exchange) size() int { return len(e.parsedReply) + len(e.saw) }

func newConversation(p Params) *conversation {
	var w strings.Builder
	w.WriteString("USER_REQUEST:\n")
	w.WriteString(fence(p.Request))
	w.WriteString("\n\nCONSTRAINTS: ")
	w.WriteString(escapeFence(singleLine(p.Constraints)))
	w.WriteByte('\n')
	writeBudget(&w, guard.Used{}, p.Budgets)
	w.WriteByte('\n')
	w.WriteString(toolsPrompt(p.Tools))
	w.WriteString(turnRules(p.Tools))
	return &conversation{instructions: systemPrompt(p.Budgets), request: w.String(), budgets: p.Budgets}
}

func (c *conversation) system() string { return c.instructions }

// said begins an exchange. Wires refuse a message without text.
func (c *conversation) said(raw string) {
	text := clip.Fit(strings.TrimSpace(strings.ToValidUTF8(raw, "\uFFFD")), maxSaid)
	if text == "" {
		text = "(no output)"
	}
	c.exchanges = append(c.exchanges, exchange{parsedReply: text})
	c.size += len(text)
}

// observed adds to what the model sees of the newest exchange.
func (c *conversation) observed(o observation) {
	c.see("OBS: " + o.line + "\n")
}

func (c *conversation) see(text string) {
	c.exchanges[len(c.exchanges)-1].saw += text
	c.size += len(text)
}

// messages closes the newest exchange and shows as many as there is room for.
func (c *conversation) messages(m *contractMachine) []providers.Message {
	if n := len(c.exchanges); n > 0 && !c.exchanges[n-1].closed {
		var w strings.Builder
		writeBudget(&w, m.used, c.budgets)
		writeReflect(&w, m.repeated)
		c.see(w.String())
		c.exchanges[n-1].closed = true
	}
	for c.size > maxConversation && len(c.exchanges) > 1 {
		c.size -= c.exchanges[0].size()
		c.exchanges = c.exchanges[1:]
		c.left++
	}
	request := c.request
	if c.left > 0 {
		request += fmt.Sprintf("\nEARLIER: the first %d turns are left out.\n", c.left)
	}
	out := make([]providers.Message, 0, 1+2*len(c.exchanges))
	out = append(out, providers.Message{Role: "user", Text: request})
	for _, e := range c.exchanges {
		out = append(out, providers.Message{Role: "assistant", Text: e.parsedReply}, providers.Message{Role: "user", Text: e.saw})
	}
	return out
}
