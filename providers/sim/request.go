package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// modelRequest is one request to a model, in any wire.
type modelRequest struct {
	model    string
	system   string
	messages []utterance
	prompt   string // all text sent, for the token estimate
	images   int
	mode     outputMode
	tool     string // the tool that must be called, with toolCall
	// tools are the available names, choice says which may be called.
	// schemas are those of their arguments, by name, where the request has one.
	tools   []string
	schemas map[string]json.RawMessage
	choice  choice
	serial  bool // at most one call
	format  string
	// maxTokens of 0 means the model's own limit.
	maxTokens   int
	temperature *float64
	seed        *int64
	stop        []string
	stream      bool
	counted     bool    // of Gemini's wire: the reply is the number of tokens
	stored      bool    // of the Responses wire: later requests may refer to the reply
	previous    *string // of the Responses wire: the response that this one follows
	media       string  // what a streamed reply is, if that is up to the request
	extras      bool    // the wire's own wish: usage in a stream, details, a stream as a list
	fromHeader  string  // X-Client-Request-Id
	body        []byte
}

// choice says which tools may be called.
type choice string

const (
	choiceAuto  choice = "auto"
	choiceNone  choice = "none"
	choiceAny   choice = "any"
	choiceNamed choice = "named" // request.tool
)

// The formats of the output.
const (
	formatText   = "text"
	formatObject = "json_object"
	formatSchema = "json_schema"
)

// utterance is one message of a conversation.
type utterance struct {
	at      int  // its place in the request, for errors
	own     bool // the model's
	text    string
	images  []picture
	calls   []invocation
	results []result
}

// invocation is a call of a tool by a model, in a request or a reply.
type invocation = model.Call

// result is the answer to one call.
type result struct {
	id, name, text string
	failed         bool
	images         []picture
}

// mismatch are calls and results that do not belong together.
type mismatch struct {
	at     int // the place of the message
	orphan bool
	ids    []string
}

func (q *modelRequest) offer(name string, schema json.RawMessage) {
	if q.schemas == nil {
		q.schemas = map[string]json.RawMessage{}
	}
	q.tools = append(q.tools, name)
	q.schemas[name] = schema
}

// settle fills what follows from the messages, the tools and the choice.
func (q *modelRequest) settle() *mismatch {
	var all strings.Builder
	all.WriteString(q.system)
	for _, m := range q.messages {
		all.WriteString(m.text)
		q.images += len(m.images)
		for _, c := range m.calls {
			all.WriteString(c.Args)
		}
		for _, r := range m.results {
			all.WriteString(r.text)
			q.images += len(r.images)
		}
	}
	q.prompt = all.String()
	q.choice = cmp.Or(q.choice, choiceAuto)
	q.format = cmp.Or(q.format, formatText)
	if q.choice == choiceAny && len(q.tools) > 0 {
		q.tool = q.tools[0]
	}
	if q.tool != "" {
		q.mode = toolCall
	}
	return matchCalls(q.messages)
}

// settled settles, and refuses calls and results that do not belong together: in the words for a result
// without a call or for calls without a result. In them {at} represents the place of the message, {next} for
// that of the one after it, {id} for the first call and {ids} for all.
func (q *modelRequest) settled(param, orphan, missing string) {
	m := q.settle()
	if m == nil {
		return
	}
	words := missing
	if m.orphan {
		words = orphan
	}
	fill := strings.NewReplacer("{at}", strconv.Itoa(m.at), "{next}", strconv.Itoa(m.at+1),
		"{id}", clip.Runes(m.ids[0], 80), "{ids}", clip.Runes(strings.Join(m.ids, ", "), 200))
	refuse(fill.Replace(param), "%s", fill.Replace(words))
}

// bind binds the text to a format; a tool that must be called goes before it.
func (q *modelRequest) bind(format string) {
	q.format = format
	if q.mode != toolCall {
		q.mode = jsonText
	}
}

// matchCalls gives results the names of the calls they answer. Each call must have a
// result before anything else is said, and each result a call.
func matchCalls(messages []utterance) *mismatch {
	var open []invocation
	asked := 0
	missing := func() *mismatch {
		m := &mismatch{at: asked}
		for _, c := range open {
			m.ids = append(m.ids, c.ID)
		}
		return m
	}
	for i, m := range messages {
		for j := range m.results {
			r := &messages[i].results[j]
			at := slices.IndexFunc(open, func(c invocation) bool { return c.ID == r.id || r.id == "" && c.Name == r.name })
			if at < 0 {
				return &mismatch{at: m.at, orphan: true, ids: []string{r.id}}
			}
			r.id, r.name = open[at].ID, open[at].Name
			open = slices.Delete(open, at, at+1)
		}
		if len(open) > 0 && (m.own || len(m.results) == 0) {
			return missing()
		}
		if m.own {
			open, asked = slices.Clone(m.calls), m.at
		}
	}
	if len(open) > 0 {
		return missing()
	}
	return nil
}

// merge adds a message; the model's own ones that follow each other become one.
func (q *modelRequest) merge(m utterance) {
	n := len(q.messages)
	if n == 0 || !m.own || !q.messages[n-1].own {
		q.messages = append(q.messages, m)
		return
	}
	last := &q.messages[n-1]
	last.text += m.text
	last.calls = append(last.calls, m.calls...)
}

// settings says in one line what was asked for besides the messages.
func (q modelRequest) settings() string {
	or := func(set bool, v any) string {
		if !set {
			return "unset"
		}
		return fmt.Sprint(v)
	}
	choice := string(q.choice)
	if q.choice == choiceNamed {
		choice += ":" + q.tool
	}
	return fmt.Sprintf("max_tokens=%s temperature=%s seed=%s stop=%s choice=%s tools=%d format=%s",
		or(q.maxTokens > 0, q.maxTokens), or(q.temperature != nil, value(q.temperature)), or(q.seed != nil, value(q.seed)),
		or(len(q.stop) > 0, fmt.Sprintf("%q", q.stop)), choice, len(q.tools), q.format)
}

// completion is what a model said to a request.
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
		c.calls[i].Args = shorten(c.calls[i].Args, stop)
		if c.cut && c.calls[i].Args == "" {
			c.calls = c.calls[:i]
			break
		}
		c.out += model.Tokens(c.calls[i].Args)
	}
}

// identify gives the calls their ids, as the wire makes them.
func (c *completion) identify(prefix string) []invocation {
	calls := make([]invocation, len(c.calls))
	for i, t := range c.calls {
		t.ID = c.draws.nth(prefix, i)
		calls[i] = t
	}
	return calls
}

// ended is why it ended, in the words of a wire.
func (c completion) ended(cut, stopped, refused, called, end string) string {
	switch {
	case c.cut:
		return cut
	case c.stopped != "":
		return stopped
	case c.refusal != "":
		return refused
	case len(c.calls) > 0:
		return called
	}
	return end
}

// silent reports that there is no text, but something else in its place. What is
// nothing at all is an empty text.
func (c completion) silent() bool {
	return c.text == "" && (len(c.calls) > 0 || c.refusal != "" || c.reasoning != "")
}

// spoken is text and refusal, for wires that have one field for both.
func (c completion) spoken() string { return c.text + c.refusal }

// fresh counts the tokens of the prompt outside of the cache.
func (c completion) fresh() int { return c.in - c.read - c.write }

func (c completion) made() int { return c.out + c.thought }

// outputLimit is the most tokens that a simulated model writes, regardless of max_tokens allows.
const outputLimit = 2048

// simulatedWindow is the context, in tokens, that the models are listed with. Longer
// prompts are not refused, except by the wire of TGI beyond tgiWindow.
const simulatedWindow = 128_000

// cutStop ends a text before the first stop sequence in it, and names that.
func cutStop(text string, stop []string) (string, string) {
	at, found := len(text), ""
	for _, s := range stop {
		if i := strings.Index(text, s); s != "" && i >= 0 && i < at {
			at, found = i, s
		}
	}
	return text[:at], found
}

// conversation is a request as the models read it.
func (q modelRequest) conversation(d draws, limit int) model.Conversation {
	c := model.Conversation{
		System: q.system, Tools: q.tools, Schemas: q.schemas, Serial: q.serial, Limit: limit, Seed: d.digest,
		None: q.choice == choiceNone, Any: q.choice == choiceAny, JSON: q.mode == jsonText, Arguments: q.mode == toolCall,
	}
	if q.choice == choiceAny || q.choice == choiceNamed {
		c.Must = q.tool
	}
	for _, m := range q.messages {
		said := model.Message{Own: m.own, Text: m.text, Calls: m.calls}
		for _, r := range m.results {
			said.Results = append(said.Results, model.Result{ID: r.id, Name: r.name, Text: r.text, Failed: r.failed})
		}
		c.Messages = append(c.Messages, said)
	}
	return c
}
