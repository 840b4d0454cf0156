package drive

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/person"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/internal/clip"
)

// people are those whom an episode asks or hears: the scripted human with the requests that
// are open, and the further messages of the user.
type people struct {
	script *human.Script // nil if the task has no rules
	// open are requests without an answer, in the order of their commands.
	open     []request
	answered bool            // the fork's answer is given
	allowed  map[string]bool // hosts, or * for all, that need no further request
	approved int             // the task's approvals used

	idle, background []string // messages that wait
	due              int      // messages at a time that are not sent
	listening        int      // the Listen command outstanding; 0 if none is
}

// request is a request to a person.
type request struct {
	person.Request
	question episode.Question
	id, row  int // of its command and in the ledger
	agent    string
	suspend  bool
	asked    time.Time
	// then continues with the answer, at the driver's time; false means that there is none.
	then func(person.Answer, bool) completion
}

// newPeople returns those of an episode, and plans the messages with a time.
func newPeople(e *driver) (p people) {
	if len(e.Task.Human) > 0 {
		p.script = human.New(e.Task.Human)
	}
	for _, m := range e.Task.Messages {
		switch m.At {
		case human.Idle:
			p.idle = append(p.idle, m.Text)
		case human.Background:
			p.background = append(p.background, m.Text)
		default:
			p.due++
			say(e, e.clock.Add(m.After), m.Text, func() { e.people.due-- })
		}
	}
	return p
}

// say plans a message of the user; sent is called when it is due.
func say(e *driver, at time.Time, text string, sent func()) {
	e.calls.add(completion{at: at, late: func() completion {
		sent()
		id := e.people.listening
		e.people.listening = 0
		e.emit(episode.Trace{Question: "(the user's next message)", Reply: text})
		return completion{at: at, event: agent.UserSaid{At: at, ID: id, Text: text}}
	}})
}

// listen answers an idle machine: with the next message, with what the simulated user says
// next, later with a message that has a time, or by saying that there is none.
func listen(ctx context.Context, e *driver, c agent.Listen) {
	e.people.listening = c.ID
	switch p := &e.people; {
	case len(p.idle) > 0:
		text := p.idle[0]
		p.idle = p.idle[1:]
		say(e, e.clock, text, func() {})
	case p.due == 0:
		if said, ok := userSays(ctx, e, c.ID, c.Said); ok {
			say(e, e.clock, said, func() {})
			return
		}
		p.listening = 0
		e.calls.add(completion{at: e.clock, id: c.ID, event: agent.UserReplied{At: e.clock, ID: c.ID, Silent: true}})
	}
}

// startedInBackground sends the message that waits for a task in the background.
func startedInBackground(e *driver) {
	if p := &e.people; len(p.background) > 0 {
		say(e, e.clock, p.background[0], func() {})
		p.background = p.background[1:]
	}
}

// put asks a person.
func put(ctx context.Context, e *driver, r request) { e.calls.add(pose(ctx, e, r)) }

// pose asks a person and returns what follows. A request without an answer stays open if its command
// may be suspended.
func pose(ctx context.Context, e *driver, r request) completion {
	r.asked = e.clock
	r.row = e.rows.request(r.agent, r.Request, e.clock)
	a, after, ok := answerRequest(ctx, e, r)
	switch {
	case !ok && r.suspend && ctx.Err() == nil && (e.Task.User == nil || r.Kind != person.Question):
		e.people.open = append(e.people.open, r)
		return completion{open: true}
	case after > 0:
		return completion{at: e.clock.Add(after), id: r.id, late: func() completion { return settle(e, r, a, ok) }}
	}
	return settle(e, r, a, ok)
}

// settle continues a request with its answer, at the driver's time.
func settle(e *driver, r request, a person.Answer, ok bool) completion {
	e.rows.answered(r.row, a, ok, e.clock.Sub(r.asked))
	return r.then(a, ok)
}

// answerRequest returns the answer of the run's human, of the task's rules, or of its replies
// and approvals.
func answerRequest(ctx context.Context, e *driver, r request) (a person.Answer, after time.Duration, ok bool) {
	p := &e.people
	if e.Task.User != nil && r.Kind == person.Question && (e.Human == nil || e.rows.past != nil) {
		said, ok := userSays(ctx, e, r.id, r.Message)
		return person.Answer{Say: person.Reply, Text: said}, 0, ok
	}
	if p.script != nil && (e.Human == nil || e.rows.past != nil) {
		return p.script.Answer(r.Request)
	}
	if r.Kind == person.Question {
		if said, ok := answer(ctx, e, r.question); ok {
			return person.Answer{Say: cmp.Or(said.Say, person.Reply), Text: said.Text}, 0, true
		}
		return a, 0, false
	}
	if r.suspend && (e.Human == nil || e.rows.past != nil) && p.approved >= len(e.Task.Approvals) {
		return a, 0, false
	}
	p.approved++
	said, ok := answer(ctx, e, r.question)
	a.Say, a.Text = said.Say, said.Text
	switch {
	case a.Say != "":
	case said.Approved:
		a.Say = person.Approve
	default:
		a.Say = person.Deny
	}
	return a, 0, ok
}

// awaitInput deals with an episode in which everything that is left is a request without an
// answer: a fork with an answer gives it to all of them, any other episode ends. It returns
// false if no request is open.
func awaitInput(e *driver) bool {
	p := &e.people
	if len(p.open) == 0 {
		return false
	}
	open := p.open
	if e.Fork != nil && e.Fork.Answer != nil && !p.answered {
		p.open, p.answered = nil, true
		if m, ok := e.machine.(*forkMachine); ok { // the fork is here
			m.past, e.rows.past = nil, nil
		}
		for _, r := range open {
			e.calls.add(settle(e, r, *e.Fork.Answer, true))
		}
		return true
	}
	var lines []string
	for _, r := range open {
		lines = append(lines, fmt.Sprintf("%s (%s, %s): %s", cmp.Or(r.Tool, "question"), r.Kind, cmp.Or(r.Severity, person.Info), clip.Bytes(r.Message, 500)))
	}
	e.finish = &agent.Finish{Status: agent.AwaitingInput, Answer: "Awaiting input:\n" + strings.Join(lines, "\n")}
	return true
}

// ask sends a question or a request of the machine to the human.
func ask(ctx context.Context, e *driver, c agent.AskUser) {
	r := request{id: c.ID, agent: c.Agent, suspend: c.Suspend, question: episode.Question{Text: c.Question, Request: c.Request}}
	if r.Request = (person.Request{Kind: person.Question, Message: c.Question}); c.Request != nil {
		r.Request = *c.Request
	}
	r.then = func(a person.Answer, ok bool) completion {
		if ctx.Err() != nil {
			return completion{at: e.clock, id: c.ID, event: agent.Cancelled{At: e.clock}}
		}
		text := cmp.Or(a.Text, strings.Join(a.Choices, ", "))
		if r.Kind == person.Question {
			e.rows.clarifies++
		} else {
			text = strings.TrimSuffix(a.Say+": "+text, ": ")
		}
		e.emit(episode.Trace{Question: cmp.Or(c.Question, r.Message), Reply: text, Silent: !ok, Approval: r.Kind != person.Question})
		return completion{at: e.clock, id: c.ID, event: agent.UserReplied{At: e.clock, ID: c.ID, Text: cmp.Or(a.Text, strings.Join(a.Choices, ", ")), Answer: a, Silent: !ok}}
	}
	put(ctx, e, r)
}

// permit asks whether a call may run and continues with run, or with the refusal of the call.
// Without a scripted human that takes its time, waiting takes no virtual time.
func permit(ctx context.Context, e *driver, c agent.CallTool, run func(context.Context, *tool.Result) completion) {
	spec, _ := e.Params.Tools.Spec(c.Call.Name)
	kind := person.KindOf(c.Call.Name)
	vetoed := e.world.Vet(c.Call)
	switch approval := e.Suite.Approval(c.Call.Name); {
	case approval == goldens.ApproveNever:
		refused := tool.Result{Outcome: tool.Rejected, Code: codeForbidden, Message: "this tool must not be used here; the call was not run"}
		if spec.Approval != "" {
			refused.Code = codeBlocked
		}
		e.calls.add(run(ctx, &refused))
		return
	case vetoed != nil, approval != goldens.ApproveAsk, kind == person.HostAccess && (e.people.allowed["*"] || e.people.allowed[hostOf(c.Call.Args)]):
		e.calls.add(run(ctx, vetoed))
		return
	}
	parts, own := e.world.Asks(c.Call)
	if !own {
		parts = []json.RawMessage{c.Call.Args}
	}
	e.calls.add(consent{e, c, own, parts, nil, run}.seek(ctx))
}

// consent is what a person says about a call.
type consent struct {
	e *driver
	c agent.CallTool
	// own reports that the world has parts of the call, and does what follows from one that is skipped.
	own   bool
	parts []json.RawMessage // that the person is not asked about yet
	said  []person.Answer
	run   func(context.Context, *tool.Result) completion
}

// seek asks a person about the parts of a call, one after another, and returns what follows.
func (s consent) seek(ctx context.Context) completion {
	e, name := s.e, s.c.Call.Name
	if len(s.parts) == 0 {
		return s.run(person.NewContext(ctx, s.said...), nil)
	}
	spec, _ := e.Params.Tools.Spec(name)
	kind, q := person.KindOf(name), episode.Question{Call: &tool.Call{Name: name, Args: s.parts[0]}}
	return pose(ctx, e, request{
		Request: person.Request{Tool: name, Kind: kind, Severity: spec.Severity, Message: q.String(), Payload: s.parts[0]},
		id:      s.c.ID, agent: s.c.Agent, suspend: s.c.Suspend, question: q,
		then: func(a person.Answer, ok bool) completion {
			trace := episode.Trace{Question: q.String(), Reply: "declined", Silent: !ok, Approval: true}
			if a.Approves() {
				trace.Reply = "approved"
			}
			e.emit(trace)
			switch {
			case a.Say == person.Skip && s.own: // the world leaves this part out
			case a.Say == person.Skip:
				return s.run(ctx, &tool.Result{Outcome: tool.Rejected, Code: codeSkipped, Message: "the user skipped this; it was not done, and the work goes on without it"})
			case !a.Approves():
				return s.run(ctx, &tool.Result{Outcome: tool.Rejected, Code: codeDenied, Message: "the user declined this call; it was not run"})
			}
			if kind == person.HostAccess && a.Say == person.Select {
				allow(e, hostOf(s.c.Call.Args), a.Text)
			}
			s.parts, s.said = s.parts[1:], append(s.said, a)
			return s.seek(ctx)
		},
	})
}

// hostOf returns the host of the argument url of a call, if it has one.
func hostOf(args []byte) string {
	var with struct{ URL string }
	_ = json.Unmarshal(args, &with) // other arguments have no host
	at, err := url.Parse(with.URL)
	if err != nil {
		return ""
	}
	return strings.ToLower(at.Host)
}

// allow remembers what a person allowed for later calls: host or all.
func allow(e *driver, host, what string) {
	if e.people.allowed == nil {
		e.people.allowed = map[string]bool{}
	}
	switch what {
	case "all":
		e.people.allowed["*"] = true
	case "host":
		e.people.allowed[host] = true
	}
}
