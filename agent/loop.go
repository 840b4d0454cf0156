package agent

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

// loopBase is what a machine keeps regardless of its strategy, and what its loops share: the
// counters, what the current Step returns, and the guards that watch tools rather
// than conversations.
type loopBase struct {
	Tally
	out     Ready
	owners  map[int]*loop // by the command they wait for
	breaker guard.Breaker
	spike   guard.Spike

	evidence evidence
}

// take starts a Step: it counts the event and passes it to the loop that waits for
// it, which is returned; nil if no loop waits for it.
func (f *loopBase) take(ev Event) *loop {
	f.out = Ready{}
	f.Take(ev)
	id := eventID(ev)
	l := f.owners[id]
	if l == nil {
		return nil
	}
	delete(f.owners, id)
	l.parent = id
	l.take(ev)
	return l
}

// issue puts a command out; owner, which may be nil, gets what comes of it.
func (f *loopBase) issue(c Command, id int, owner *loop) {
	if owner != nil {
		if f.owners == nil {
			f.owners = map[int]*loop{}
		}
		f.owners[id] = owner
	}
	f.out.Commands = append(f.out.Commands, c)
}

// finish ends the episode. Nothing else goes out with it.
func (f *loopBase) finish(end Finish) {
	f.owners = nil
	f.out.Commands = []Command{f.Finish(end)}
}

// ready is what the current Step returns.
func (f *loopBase) ready() Ready {
	f.out.Used = f.Used()
	return f.out
}

// conversationSpec configures the conversation of a loop.
type conversationSpec struct {
	params *Params // for the sampling settings of its calls
	system string
	// opening are the messages it begins with; the last is the user's.
	opening []providers.Message
	// tools are available, and nothing else is run.
	tools *tool.Set
	// asks makes ask_user and cannot_proceed available, givesUp only the latter.
	asks, givesUp bool
	// host is the machine that has several conversations; nil of other strategies. agent is
	// the name of the conversation there, empty for the main one.
	host  *orchestratorMachine
	agent string
	// final is how it ends with a value; nil: with a text.
	final *finisher
	// react selects the ReAct text protocol.
	react bool

	role, kind, step string // of its turns; kind is that of the first, empty is act
	// fallback is the role of a turn of the second model; empty means no second model.
	fallback string
	// choice reports whether a tool must be used.
	choice providers.Choice
	// maxIterations bounds the turns that call tools.
	maxIterations int
	// room is the estimated number of tokens of system and messages from which on
	// only an answer is asked for; 0 means no bound.
	room int
	// condense has older messages summarised before there is no room left.
	condense bool
}

// loop is one conversation with native tool calling: it asks the model, runs what it
// calls, shows the result, and asks again. It reads no clock and waits for
// nothing: its loopBase passes it the outcomes of its commands.
type loop struct {
	conversationSpec
	*loopBase

	messages []providers.Message
	native   []providers.Tool // available
	fixed    int              // estimated tokens of what every call repeats
	size     int              // bytes of the messages
	shown    int              // messages that were sent
	ids      callIDs          // of calls so far
	parent   int              // the command that ended last

	turns      int // replies so far
	iterations int // turns that called tools
	violations int // consecutive ones
	tries      int // final answers that did not fit
	lastText   string
	whom       string
	concluding bool
	condensing bool   // a summary is in progress
	summary    string // of what was dropped

	slots   []slot        // the calls of the current turn
	left    int           // of them, without an answer
	waiting map[int]*slot // by the command that runs it, asks it, or records its refusal
	silent  string        // a question without an answer
	// turnKey represents all that the turn runs, in any order.
	turnKey    string
	repeatable bool

	reflected bool         // a repetition was pointed out
	repeated  string       // the tools to reflect on when the turn is over
	repeats   guard.Thrash // of whole turns
	retries   guard.Thrash // counts how often a call failed
	stall     guard.Stall
	cache     guard.Dedupe[tool.Result]

	end       *ending  // nil while it continues
	abandoned bool     // its outcomes are no longer of interest
	pending   []string // what its next turn shows
}

// newLoop makes a loop that has not started.
func newLoop(f *loopBase, t conversationSpec) *loop {
	l := &loop{
		conversationSpec: t, loopBase: f,
		messages: slices.Clip(t.opening),
		shown:    len(t.opening),
		ids:      callIDs{},
		cache:    guard.Dedupe[tool.Result]{TTL: guard.DedupeTTL},
	}
	if !t.react {
		l.native = t.offer()
	}
	l.fixed = tokens(len(t.system))
	for _, n := range l.native {
		l.fixed += tokens(len(n.Name) + len(n.Description) + len(n.Schema))
	}
	for _, m := range t.opening {
		l.size += len(m.Text)
	}
	l.kind = cmp.Or(l.kind, turn.KindAct)
	return l
}

// tokens estimates how many tokens so many bytes are.
func tokens(bytes int) int { return (bytes + strategy.BytesPerToken - 1) / strategy.BytesPerToken }

// offer are the tools as a native call shows them.
func (t conversationSpec) offer() []providers.Tool {
	var out []providers.Tool
	for _, s := range t.tools.Specs() {
		out = append(out, providers.Tool{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	if t.final != nil {
		out = append(out, t.final.tool)
	}
	if t.asks {
		out = append(out, askUserTool)
	}
	if t.asks || t.givesUp {
		out = append(out, cannotProceedTool)
	}
	return out
}

// begin asks for the first turn; parent is the command that led to it, 0 for none.
func (l *loop) begin(parent int) {
	l.parent = parent
	l.next()
}

// take continues with the outcome of a command of the loop's.
func (l *loop) take(ev Event) {
	switch {
	case l.host != nil && (l.condensing || l.abandoned):
		l.host.takeAside(l, ev)
		return
	case l.condensing:
		l.condensed(ev)
		return
	}
	switch ev := ev.(type) {
	case ModelReplied:
		l.replied(ev.Reply)
	case ModelFailed:
		l.failed(ev)
	case ToolReturned:
		l.returned(ev)
	case UserReplied:
		l.userReplied(ev)
	}
}

// next asks for a turn, if budgets and iterations allow one.
func (l *loop) next() {
	if why := l.Spent(); why != "" {
		l.stop(why)
		return
	}
	if l.host != nil && !l.host.prepareTurn(l) {
		return
	}
	if l.iterations >= l.maxIterations {
		l.stop(stoppedIterations)
		return
	}
	if l.condenseDue() {
		l.askSummary()
		return
	}
	choice := l.choice
	if l.room > 0 && (l.concluding || l.fixed+tokens(l.size) >= l.room) {
		choice = l.conclude()
	}
	role := l.role
	if l.whom == turn.RoleFallback {
		role = l.fallback
	}
	temperature := l.params.Temperature
	c := l.Model(CallModel{
		Parent: l.parent, Role: role, Kind: l.kind, Whom: l.whom, Agent: l.agent, Step: l.step,
		Call: providers.Call{
			System: l.system, Messages: slices.Clip(l.messages), Tools: l.native, Choice: choice,
			MaxTokens: l.params.MaxTokens, Temperature: &temperature, Seed: l.params.Seed,
		},
	})
	l.shown = len(l.messages)
	l.issue(c, c.ID, l)
}

// conclude requests only the answer, because the context has no room for more results.
func (l *loop) conclude() providers.Choice {
	l.kind = turn.KindConclude
	if !l.concluding {
		l.concluding = true
		l.tell(tellConclude)
	}
	if l.final != nil {
		return providers.Choice{Kind: providers.ChoiceNamed, Name: l.final.tool.Name}
	}
	return providers.Choice{Kind: providers.ChoiceNone}
}

// add appends a message.
func (l *loop) add(m providers.Message) {
	l.messages = append(l.messages, m)
	l.size += len(m.Text)
	for _, c := range m.Calls {
		l.size += len(c.Name) + len(c.Args)
	}
}

// tell adds a message for the model with role user, in one message with what
// was said since the last turn.
func (l *loop) tell(text string) {
	if last := len(l.messages) - 1; last >= l.shown && l.messages[last].Role == providers.RoleUser {
		l.messages[last].Text += "\n\n" + text
		l.size += len(text)
		return
	}
	l.add(providers.Message{Role: providers.RoleUser, Text: text})
}

// failed takes a model call without a reply: the second model is asked in its place,
// if there is one. The turn after it asks the first again.
func (l *loop) failed(ev ModelFailed) {
	if !ev.Answered || l.fallback == "" || l.whom == turn.RoleFallback {
		l.end = &ending{Status: Failed, Text: l.lastText, Err: ev.Err, Unanswered: !ev.Answered}
		return
	}
	l.whom = turn.RoleFallback
	l.next()
}

// stop ends the loop by a guard.
func (l *loop) stop(why StopReason) {
	l.end = &ending{Status: Stopped, Reason: why, Text: l.lastText}
}

// userReplied answers the call that asked.
func (l *loop) userReplied(ev UserReplied) {
	s := l.waiting[ev.ID]
	if ev.Silent {
		l.silent = s.question
	} else {
		l.evidence.replied(ev.Text)
	}
	text, _ := json.Marshal(clean(ev.Text)) // a string always encodes
	s.answer(bounded(string(text)), false)
	l.answeredOne()
}
