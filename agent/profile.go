package agent

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// The prompt profiles: how the contract and the episode so far are shown.
const (
	profileConversation = "conversation" // messages accumulate, the oldest are left out
	profileSchema       = "schema"       // as seed, but the contract as a JSON Schema with worked examples
	profileSeed         = "seed"         // the contract in outline; request and scratchpad rendered again in every turn
)

// prompts render the calls of an episode's turns.
type prompts interface {
	system() string
	// messages are those of the next turn; the caller owns the slice.
	messages(*contractMachine) []providers.Message
	// said and observed tell what a turn brought: its raw output, then the result.
	said(raw string)
	observed(observation)
}

func newPrompts(p Params) (prompts, error) {
	switch p.Profile {
	case profileSchema:
		schema, err := contractSchema(p.Tools)
		if err != nil {
			return nil, fmt.Errorf("prompt profile %s: %w", p.Profile, err)
		}
		return &rendered{schemaPrompt(p.Budgets, schema, examples(p.Tools)), toolsPrompt(p.Tools) + turnRules(p.Tools)}, nil
	case profileConversation:
		if p.Compress {
			return nil, errors.New("prompt profile conversation has no scratchpad to compress")
		}
		return newConversation(p), nil
	}
	return &rendered{systemPrompt(p.Budgets), toolsPrompt(p.Tools) + turnRules(p.Tools)}, nil
}

// contractSchema is the contract as a JSON Schema in which these tools may be called.
func contractSchema(tools *tool.Set) (string, error) {
	return tools.Derived("contract schema", func(specs []tool.Spec) (string, error) {
		schema, err := contract.Schema(specs)
		return string(schema), err
	})
}

// rendered are prompts that show the scratchpad again in every turn and remember
// nothing themselves.
type rendered struct{ instructions, tools string }

func (r *rendered) system() string { return r.instructions }

func (r *rendered) messages(m *contractMachine) []providers.Message {
	return []providers.Message{{Role: "user", Text: userPrompt(m.Request, &m.pad, m.used, m.Budgets, r.tools, m.repeated)}}
}

func (*rendered) said(string)          {}
func (*rendered) observed(observation) {}

// schemaPrompt states the contract as a JSON Schema, with outputs that fit it.
func schemaPrompt(b guard.Budgets, schema string, examples []string) string {
	var w strings.Builder
	fmt.Fprintf(&w, "You are a bounded agent controller. Every turn you output exactly ONE JSON object that fits this JSON Schema:\n\n%s\n\n", schema)
	w.WriteString("Examples of whole outputs:\n")
	for _, e := range examples {
		w.WriteString(e + "\n")
	}
	w.WriteByte('\n')
	return systemRules(w.String(), b)
}

// examples are outputs that fit the contract: a call of the first tool that
// needs no arguments, if one is available, and an answer.
func examples(tools *tool.Set) []string {
	const update = `,"state_update":{"plan":%q,"observation":%q,"confidence":0.84}}`
	var out []string
	for _, spec := range tools.Specs() {
		if bare := (tool.Call{Name: spec.Name, Args: []byte("{}")}); len(tools.Validate(bare)) == 0 {
			name, _ := json.Marshal(spec.Name) // a string always encodes
			out = append(out, fmt.Sprintf(`{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":%s,"args":{}}`+update,
				name, "look it up, then answer", "nothing is known yet"))
			break
		}
	}
	return append(out, fmt.Sprintf(`{"control":{"done":true,"reason":"ok"},"next_action":{"type":"respond","message":"The answer is 42."}`+update,
		"answer", "the result says 42"))
}

// modePrompt is the output mode in which the prompt alone asks for JSON.
const modePrompt = "prompt"

// modes are the output modes there are.
var modes = []string{modePrompt, string(providers.JSONObject), string(providers.JSONSchema), string(providers.ForcedTool)}

// formatName names the schema, or the tool, of a turn's output.
const formatName = "contract_turn"

// newFormat is how the turns of an episode ask for structured output; nil in
// the mode prompt.
func newFormat(p Params) (*providers.Format, error) {
	switch mode := providers.Mode(p.Mode); mode {
	case "", modePrompt:
		return nil, nil
	case providers.JSONObject:
		return &providers.Format{Mode: mode}, nil
	case providers.JSONSchema, providers.ForcedTool:
		schema, err := contractSchema(p.Tools)
		if err != nil {
			return nil, fmt.Errorf("output mode %s: %w", mode, err)
		}
		return &providers.Format{Mode: mode, Name: formatName, Schema: []byte(schema)}, nil
	}
	return nil, fmt.Errorf("unknown output mode %q; known: %s", p.Mode, strings.Join(modes, ", "))
}

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
	text := cmp.Or(clip.Fit(strings.TrimSpace(strings.ToValidUTF8(raw, "\uFFFD")), maxSaid), "(no output)")
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
