// Package model decides what the simulated models say. A model reads a prompt, works out
// by what protocol it is asked, finds the playbook of the request in it, and does what
// the reference solution does next, with the slips of its profile. It has no knowledge of wires and
// no server.
//
// The protocols are the contract object, native calls, the text protocol (Thought,
// Action, Observation), the planner and the steps of a plan, and the summaries that
// agents ask for. Everything random is drawn from Conversation.Seed, so equal
// conversations get equal replies.
package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/persona"
	"github.com/cupel-eval/cupel/goldens/playbook"
)

// Conversation is what a model is shown and how it may answer.
type Conversation struct {
	System   string
	Messages []Message
	// Tools are the available names, Schemas those of their arguments where there are any.
	Tools   []string
	Schemas map[string]json.RawMessage
	// Must is the tool that has to be called, with None no tool may be. Any says that a
	// tool has to be called, but not which.
	Must      string
	None, Any bool
	// Serial reports that at most one tool may be called.
	Serial bool
	// JSON reports that the text can be nothing but JSON, Arguments that it is the arguments
	// of Must.
	JSON, Arguments bool
	// Limit is the most tokens of output, by Tokens.
	Limit int
	// Seed is what everything random is drawn from.
	Seed [sha256.Size]byte
}

// Message is one message; Own says that it is the model's.
type Message struct {
	Own     bool
	Text    string
	Calls   []Call
	Results []Result
}

// Call is a call of a tool, with the arguments as written.
type Call struct{ ID, Name, Args string }

// Result is the answer to a call.
type Result struct {
	ID, Name, Text string
	Failed         bool
}

// Said is a reply: a text, calls, or both.
type Said struct {
	Text  string
	Calls []Call
}

// Unknown is what a model says where no playbook has the request of its prompt.
const Unknown = "This is a simulated model. It follows the playbook.yaml of a suite, and no playbook that it was given has this request. " +
	"Write the solution into playbook.yaml beside suite.yaml (docs/playbooks.md says how), and run the suite with it."

// Reply is what the model says. It calls tools by the names that they are offered under.
func (p Profile) Reply(c Conversation, books []*playbook.Book) Said {
	t := &turn{profile: p, Conversation: c.unfolded(), draws: drawsFrom(c.Seed), books: books}
	t.rename()
	said := t.reply()
	for i, call := range said.Calls {
		said.Calls[i].Name = cmp.Or(t.offered[call.Name], call.Name)
	}
	return said
}

// playing is how models play users, if not as the prompt asks.
var playing = map[string]persona.Style{"sim-weak": persona.Blurts, "sim-erratic": persona.OutOf, "sim-nop": persona.Nothing}

// judging is how often models judge by the rule.
var judging = map[string]playbook.Rates{"sim-oracle": {Sensitivity: 1, Specificity: 1}, "sim-strong": {Sensitivity: 0.97, Specificity: 0.97}, "sim-erratic": {Sensitivity: 0.9, Specificity: 0.8}, "sim-weak": {Sensitivity: 0.8, Specificity: 0.7}}

func (t *turn) reply() Said {
	if n := len(t.Messages); n > 0 {
		if rates, judges := judging[t.profile.Name]; judges {
			for _, b := range t.books {
				if said, ok := b.Verdict(t.System, t.Messages[0].Text, rates, t.draws.decision); ok && t.Arguments {
					return Said{Calls: []Call{{Name: t.Must, Args: said}}}
				} else if ok {
					return Said{Text: said}
				}
			}
		}
		if said, ok := persona.Play(t.System, t.Messages[n-1].Text, playing[t.profile.Name]); ok {
			return t.words(said)
		}
	}
	if log, compressing := t.rawLog(); compressing {
		return t.words(compress(log))
	}
	if said, ok := t.condense(); ok {
		return said
	}
	var asked bool
	say := t.perform
	switch {
	case t.readContract():
		asked, say = true, t.sayContract
	case slices.Contains(t.Tools, createTask):
		asked, say = t.readObjective(), t.sayPlan
	case stepOpening.MatchString(t.System):
		asked, say = t.readStep(), t.sayStep
	case textFormat.MatchString(t.System):
		asked, say = t.readText(), t.sayText
	case slices.Contains(t.Tools, playbook.PlanTool) && slices.Contains(t.Tools, playbook.DelegateTool):
		asked = t.readThread()
	default:
		if said, ok := t.title(); ok {
			return said
		}
		if play, ok := t.readHanded(); ok {
			return t.perform(play)
		}
		asked = t.readConversation()
	}
	if asked {
		if play, ok := t.find(t.view.request); ok {
			return say(play)
		}
	}
	return t.words(Unknown)
}

// words is a text in the form that the output must have.
func (c Conversation) words(text string) Said {
	message := string(JSON(map[string]string{"message": text}))
	switch {
	case c.Arguments:
		return Said{Calls: []Call{{Name: c.Must, Args: message}}}
	case c.JSON:
		return Said{Text: message}
	}
	return Said{Text: text}
}

// turn is one reply in the making.
type turn struct {
	Conversation
	profile Profile
	draws   draws
	books   []*playbook.Book
	view    view
	step    string // the id of the step of a plan that the turn works on
	wrapped bool   // the request has words of another agent around it
	altered bool   // earlier calls have other arguments than the model wrote
	// names are those that playbooks have for the offered tools, offered the reverse.
	names, offered map[string]string
}

// find looks for the solution of a request.
func (t *turn) find(request string) (*playbook.Play, bool) {
	for _, b := range t.books {
		if play, ok := b.Find(request, t.view.tools); ok {
			return play, true
		}
	}
	return nil, false
}

// draws is everything random about one reply. All of it is drawn in advance, in a fixed
// order, so no decision shifts another one's draw.
type draws struct {
	// Uniform in [0,1).
	form, decision, trust, acting float64
	// Raw bits for details: which argument, how far off, what wording.
	formDetail, decisionDetail, confidence, actingDetail uint64
}

func drawsFrom(seed [sha256.Size]byte) draws {
	pcg := rand.NewPCG(binary.BigEndian.Uint64(seed[0:8]), binary.BigEndian.Uint64(seed[8:16]))
	unit := func() float64 { return float64(pcg.Uint64()>>11) / (1 << 53) }
	return draws{form: unit(), decision: unit(), trust: unit(), formDetail: pcg.Uint64(), decisionDetail: pcg.Uint64(), confidence: pcg.Uint64(),
		acting: unit(), actingDetail: pcg.Uint64()}
}

// pick chooses at most one kind: u falls into at most one of the slices that rates cut
// out of [0,1), each scaled.
func pick[K any](u float64, rates []Rate[K], scale func(K) float64) (kind K, ok bool) {
	var sum float64
	for _, r := range rates {
		sum += r.P * scale(r.Kind)
		if u < sum {
			return r.Kind, true
		}
	}
	return kind, false
}

// latest is the place of the user's latest message that is so; -1 if none is.
func (c Conversation) latest(is func(Message) bool) int {
	for i, m := range slices.Backward(c.Messages) {
		if !m.Own && is(m) {
			return i
		}
	}
	return -1
}

func (c Conversation) last() string {
	if at := c.latest(func(m Message) bool { return m.Text != "" || len(m.Results) == 0 }); at >= 0 {
		return c.Messages[at].Text
	}
	return ""
}

// lastBeginning is the user's latest message that begins so, and its place; empty and -1 if none does.
func (c Conversation) lastBeginning(with string) (at int, text string) {
	at = c.latest(func(m Message) bool { return strings.HasPrefix(strings.TrimSpace(m.Text), with) })
	if at >= 0 {
		text = c.Messages[at].Text
	}
	return at, text
}

// unfolded takes a conversation apart that came as one text, as wires without messages have it.
func (c Conversation) unfolded() Conversation {
	if len(c.Messages) != 1 || c.System != "" || !strings.HasPrefix(c.Messages[0].Text, "System: ") {
		return c
	}
	text := c.Messages[0].Text
	c.Messages = nil
	marks := speaker.FindAllStringSubmatchIndex(text, -1)
	for i, m := range marks {
		end := len(text)
		if i+1 < len(marks) {
			end = marks[i+1][0]
		}
		said := strings.TrimSpace(text[m[1]:end])
		switch who := text[m[2]:m[3]]; {
		case who == "System" && i == 0:
			c.System = said
		case said != "":
			c.Messages = append(c.Messages, Message{Own: who == "Assistant", Text: said})
		}
	}
	return c
}
