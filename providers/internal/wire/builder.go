package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers"
)

// Builder is where a Decoder puts what it reads, whole or piece by piece. What
// needs no assembly the decoder sets in Reply itself; Text, Reasoning, Refusal
// and Calls are made of the pieces when the exchange is over.
type Builder struct {
	Reply providers.Reply
	// Complete reports that the reply's own end has been seen. A stream that ends
	// without it was cut off.
	Complete bool
	// Fields account for the numbers of Reply.RawUsage.
	Fields *Fields

	text, reasoning, refusal said
	calls                    []*ToolCall
	leftOut                  []string
	tools                    map[string]int64
	byKey                    map[string]*ToolCall
	emit                     func(providers.Delta)
	pieces                   int
}

// ToolCall is a call being put together.
type ToolCall struct {
	// ID and Name may come late; an empty ID is made up in the end.
	ID, Name string
	// Custom reports that the arguments are free text. An agent can carry out the call
	// only where that is a JSON object; otherwise it counts as left out.
	Custom bool

	b     *Builder
	index int
	args  said
}

// Text adds to the answer.
func (b *Builder) Text(s string) { b.add(&b.text, providers.DeltaText, s) }

// Reasoning adds to the reasoning.
func (b *Builder) Reasoning(s string) { b.add(&b.reasoning, providers.DeltaReasoning, s) }

// SetReasoning replaces the reasoning by the whole text, of wires that repeat it in the
// end and may then differ from the pieces.
func (b *Builder) SetReasoning(s string) {
	b.reasoning = said{}
	b.reasoning.add(s)
}

// Refusal adds to the refusal.
func (b *Builder) Refusal(s string) { b.add(&b.refusal, providers.DeltaRefusal, s) }

// said is text in pieces. The only one is not copied.
type said struct {
	one  string
	more strings.Builder
}

func (s *said) add(piece string) {
	switch {
	case s.one == "":
		s.one = piece
		return
	case s.more.Len() == 0:
		s.more.WriteString(s.one)
	}
	s.more.WriteString(piece)
}

// String is all of it.
func (s *said) String() string {
	if s.more.Len() > 0 {
		return s.more.String()
	}
	return s.one
}

func (b *Builder) add(to *said, kind providers.DeltaKind, s string) {
	if s == "" {
		return
	}
	to.add(s)
	b.piece(providers.Delta{Kind: kind, Text: s})
}

func (b *Builder) piece(d providers.Delta) {
	b.pieces++
	if b.emit != nil {
		b.emit(d)
	}
}

// HasReasoning reports whether any reasoning has come.
func (b *Builder) HasReasoning() bool { return b.reasoning.one != "" }

// HasText reports whether any text has come.
func (b *Builder) HasText() bool { return b.text.one != "" }

// Call opens a call. key finds it again with Open; an empty key is not found.
func (b *Builder) Call(key, id, name string) *ToolCall {
	c := &ToolCall{ID: id, Name: name, b: b, index: len(b.calls)}
	b.calls = append(b.calls, c)
	if key != "" {
		if b.byKey == nil {
			b.byKey = map[string]*ToolCall{}
		}
		b.byKey[key] = c
	}
	b.piece(providers.Delta{Kind: providers.DeltaCall, Text: name, Call: c.index})
	return c
}

// Open returns the latest call with the key, or nil.
func (b *Builder) Open(key string) *ToolCall { return b.byKey[key] }

// Calls returns how many calls there are.
func (b *Builder) Calls() int { return len(b.calls) }

// Args adds to the arguments.
func (c *ToolCall) Args(s string) {
	if s == "" {
		return
	}
	c.args.add(s)
	c.b.piece(providers.Delta{Kind: providers.DeltaArgs, Text: s, Call: c.index})
}

// SetArgs replaces the arguments by the whole text, of wires that repeat it when
// it is complete.
func (c *ToolCall) SetArgs(s string) {
	if c.args.String() == s {
		return
	}
	c.args = said{}
	c.Args(s)
}

// HasArgs reports whether any arguments have come.
func (c *ToolCall) HasArgs() bool { return c.args.one != "" }

// LeftOut records that the reply has a call which Calls does not hold, or which no
// agent can carry out; what says which, such as "mcp_approval_request". The exchange
// then fails with an error of kind unsupported that names it: a reply without the call
// would count against the model.
func (b *Builder) LeftOut(what string) {
	const most = 8
	what = clip.Bytes(what, maxCode)
	if len(b.leftOut) < most && !slices.Contains(b.leftOut, what) {
		b.leftOut = append(b.leftOut, what)
	}
}

// unsupported says what was left out of a reply; empty if nothing was.
func (b *Builder) unsupported() string {
	if len(b.leftOut) == 0 {
		return ""
	}
	return "the reply has a call that cupel does not read: " + strings.Join(b.leftOut, ", ")
}

// Warn adds a warning, once.
func (b *Builder) Warn(format string, args ...any) {
	w := fmt.Sprintf(format, args...)
	if !slices.Contains(b.Reply.Warnings, w) {
		b.Reply.Warnings = append(b.Reply.Warnings, w)
	}
}

// build puts the reply together. The arguments of the forced tool, if there is
// one, become the text.
func (b *Builder) build(forced string) providers.Reply {
	r := b.Reply
	b.settle(&r.Usage)
	r.Text, r.Reasoning, r.Refusal = b.text.String(), b.reasoning.String(), b.refusal.String()
	if r.Refusal != "" {
		r.Finish = providers.FinishRefusal
	}
	taken := map[string]bool{}
	for _, c := range b.calls {
		taken[c.ID] = true
	}
	used := map[string]bool{}
	for i, c := range b.calls {
		id := c.ID
		for n := i + 1; id == "" || used[id]; n++ { // missing, or sent twice
			if made := fmt.Sprintf("call_%d", n); !taken[made] {
				id = made
			}
		}
		used[id], taken[id] = true, true
		args := c.args.String()
		if strings.TrimSpace(args) == "" {
			args = "{}"
		}
		switch {
		case c.Custom && !holdsObject(args):
			b.LeftOut("custom tool " + c.Name)
		case c.Name == "" && forced == "" && r.Finish != providers.FinishLength:
			b.LeftOut("a call without a name")
		}
		r.Calls = append(r.Calls, providers.ToolCall{ID: id, Name: c.Name, Args: args})
	}
	if len(r.Calls) > 0 && r.Finish == providers.FinishStop {
		r.Finish = providers.FinishTools // regardless of the provider's reason
	}
	if forced != "" {
		b.takeForced(&r, forced)
	}
	return r
}

// holdsObject reports whether a text is a JSON object.
func holdsObject(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "{") && json.Valid([]byte(text))
}

// takeForced makes the arguments of the one call of the forced tool the reply's
// text. Of several calls the first counts; without any the text stays. Either
// way a warning says so.
func (b *Builder) takeForced(r *providers.Reply, tool string) {
	i := slices.IndexFunc(r.Calls, func(c providers.ToolCall) bool { return c.Name == tool })
	warn := func(format string, args ...any) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("forced_tool: "+format, args...))
	}
	switch {
	case i < 0 && len(r.Calls) > 0:
		warn("the model called %.60q instead of %s, the text is what it said besides", r.Calls[0].Name, tool)
		return
	case i < 0:
		warn("the model did not call %s, the text is what it said instead", tool)
		return
	case len(r.Calls) > 1:
		warn("%d calls came, the first of %s was taken", len(r.Calls), tool)
	}
	r.Text = b.calls[i].args.String() // byte for byte, also when empty
}

// Given reports whether an error field says anything: servers write null, "",
// {} or false for no error.
func Given(raw []byte) bool {
	switch string(bytes.TrimSpace(raw)) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}
