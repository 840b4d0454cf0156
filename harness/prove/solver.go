package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/providers"
)

// solution says what a reference solution does next; *playbook.Play is one.
type solution interface {
	Next(playbook.Seen) ([]playbook.Action, error)
}

// group is the calls of one tool that a solution makes at the same time: a step of it.
type group struct {
	calls   []playbook.Action
	results []playbook.Result // as the solution saw them
}

// The special tools of the strategy tools.
const (
	askTool   = "ask_user"
	quitTool  = "cannot_proceed"
	finalTool = "format_final_json_response"
)

// maxGroups bounds a solution that never comes to an end.
const maxGroups = 200

// solver is the model of one episode of the strategy tools: it does what a solution says,
// with one change. It is safe for concurrent use.
type solver struct {
	solution solution
	task     goldens.Task
	change   change

	mu    sync.Mutex
	talks map[string]*talk // by their first message: of a batch there is one for each item
	first *talk
}

func newSolver(s solution, t goldens.Task, c change) *solver {
	return &solver{solution: s, task: t, change: c, talks: map[string]*talk{}}
}

// Call implements providers.Model.
func (s *solver) Call(_ context.Context, call providers.Call) (providers.Reply, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	opening := call.Messages[0].Text
	t := s.talks[opening]
	if t == nil {
		t = &talk{solution: s.solution, opening: opening, seen: playbook.Seen{Given: s.given(opening)}}
		if ref := s.change.ref; ref != nil && ref.opening == opening {
			t.change = s.change
		}
		s.talks[opening] = t
		if s.first == nil {
			s.first = t
		}
	}
	reply := t.reply(call)
	reply.Usage = providers.Usage{Reported: true, Input: 1, Output: 1}
	reply.CostNanoUSD = new(int64)
	return reply, nil
}

// itemHeading comes before the item of a batch in its first message.
const itemHeading = "\n\nITEM:\n"

// given are the values that come with the request of a conversation.
func (s *solver) given(opening string) map[string]json.RawMessage {
	given := map[string]json.RawMessage{}
	for _, in := range s.task.Inputs {
		if in.Name != s.task.Each {
			given[in.Name] = in.Value
		}
	}
	if _, shown, ok := strings.Cut(opening, itemHeading); ok && s.task.Each != "" {
		from, to := strings.IndexByte(shown, '>'), strings.LastIndexByte(shown, '<')
		if from >= 0 && to > from {
			given["item"] = json.RawMessage(shown[from+1 : to])
		}
	}
	return given
}

// talk is one conversation with the solver.
type talk struct {
	solution solution
	change   change
	opening  string
	seen     playbook.Seen
	groups   []group // what the solution wanted, in order
	queue    []group // of what it wants next, the steps that have not begun
	flight   []issued
	after    *group          // a step that is made once more, or late, when nothing is in flight
	end      playbook.Action // how the solution ended
	calls    int             // issued so far
	began    bool
}

// issued is a call in flight.
type issued struct {
	id    string
	call  playbook.Action // as the solution wanted it
	group int             // its place in groups; -1 if the solution does not see what comes of it
}

// reply reads the results that have come and says what is done next.
func (t *talk) reply(call providers.Call) providers.Reply {
	t.land(call.Messages)
	if !t.began {
		t.began = true
		switch t.change.kind {
		case answerFirst:
			return t.finish(call, t.change.ref.end)
		case askFirst:
			return t.issue(-1, t.change.calls, t.change.calls)
		}
	}
	if again := t.after; again != nil {
		t.after = nil
		return t.issue(-1, again.calls, again.calls)
	}
	for len(t.groups) < maxGroups {
		if len(t.queue) == 0 {
			if end, over := t.advance(); over {
				if t.change.kind == extraCall {
					t.change.kind = noChange
					return t.issue(-1, t.change.calls, t.change.calls)
				}
				return t.finish(call, end)
			}
		}
		if reply := t.start(); len(reply.Calls) > 0 {
			return reply
		}
	}
	return t.finish(call, playbook.Action{Kind: playbook.GiveUp, Text: fmt.Sprintf("the solution takes more than %d steps", maxGroups)})
}

// land takes the results of the calls in flight.
func (t *talk) land(messages []providers.Message) {
	came := map[string]providers.Message{}
	for _, m := range messages {
		if m.Role == providers.RoleTool {
			came[m.CallID] = m
		}
	}
	for _, f := range t.flight {
		m, ok := came[f.id]
		switch {
		case !ok || f.group < 0:
		case f.call.Kind == playbook.Ask:
			var text string
			_ = json.Unmarshal([]byte(m.Text), &text) // a string, by the strategy
			t.seen.Replies = append(t.seen.Replies, text)
		default:
			t.saw(f.group, resultOf(f.call, m))
		}
	}
	t.flight = nil
}

// saw shows the solution a result.
func (t *talk) saw(group int, r playbook.Result) {
	t.seen.Results = append(t.seen.Results, r)
	if group >= 0 {
		t.groups[group].results = append(t.groups[group].results, r)
	}
}

// resultOf reads the message that answers a call.
func resultOf(call playbook.Action, m providers.Message) playbook.Result {
	r := playbook.Result{Tool: call.Tool, Args: call.Args}
	if !m.Failed {
		if r.Value = json.RawMessage(m.Text); !json.Valid(r.Value) { // cut
			r.Value, _ = json.Marshal(m.Text)
		}
		return r
	}
	var failed struct {
		Error struct{ Code, Message string }
	}
	_ = json.Unmarshal([]byte(m.Text), &failed) // a code and a message, by the strategy
	r.Code, r.Message = failed.Error.Code, failed.Error.Message
	return r
}

// advance asks the solution what comes next. over says that it ends the episode.
func (t *talk) advance() (end playbook.Action, over bool) {
	actions, err := t.solution.Next(t.seen)
	if err != nil {
		return playbook.Action{Kind: playbook.GiveUp, Text: err.Error()}, true
	}
	for _, a := range actions {
		if a.Kind != playbook.Call && a.Kind != playbook.Ask {
			return a, true
		}
		i := slices.IndexFunc(t.queue, func(g group) bool { return g.calls[0].Line == a.Line })
		if i < 0 {
			i, t.queue = len(t.queue), append(t.queue, group{})
		}
		t.queue[i].calls = append(t.queue[i].calls, a)
	}
	if len(t.queue) == 0 {
		return playbook.Action{Kind: playbook.GiveUp, Text: "the solution says nothing"}, true
	}
	return playbook.Action{}, false
}

// start begins the steps that the solution wants next, with the change. Where they are left
// out it calls nothing.
func (t *talk) start() (reply providers.Reply) {
	for _, g := range t.queue {
		at := len(t.groups)
		t.groups = append(t.groups, group{calls: g.calls})
		made := g.calls
		switch c := t.change; {
		case c.kind == swapSteps && at == c.at+1:
			t.after = &t.groups[c.at]
		case at != c.at:
		case c.kind == dropStep || c.kind == swapSteps:
			for _, r := range c.results {
				t.saw(at, r)
			}
			continue
		case c.kind == repeatStep:
			t.after = &g
		case c.kind == changeArgs:
			made = c.calls
		}
		reply.Calls = append(reply.Calls, t.issue(at, g.calls, made).Calls...)
	}
	t.queue = nil
	return reply
}

// issue makes calls in the place of those that the solution wanted.
func (t *talk) issue(group int, wanted, made []playbook.Action) (reply providers.Reply) {
	for i, a := range made {
		t.calls++
		f := issued{id: fmt.Sprintf("c%d", t.calls), call: wanted[min(i, len(wanted)-1)], group: group}
		c := providers.ToolCall{ID: f.id, Name: a.Tool, Args: string(a.Args)}
		if a.Kind == playbook.Ask {
			text, _ := json.Marshal(map[string]string{"question": a.Text}) // a string always encodes
			c.Name, c.Args = askTool, string(text)
		}
		t.flight = append(t.flight, f)
		reply.Calls = append(reply.Calls, c)
	}
	return reply
}

// finish ends the conversation.
func (t *talk) finish(call providers.Call, end playbook.Action) providers.Reply {
	t.end = end
	if end.Kind != playbook.Answer {
		text, _ := json.Marshal(map[string]string{"reason": end.Text}) // a string always encodes
		return providers.Reply{Calls: []providers.ToolCall{{ID: "end", Name: quitTool, Args: string(text)}}}
	}
	for _, o := range call.Tools {
		if o.Name != finalTool {
			continue
		}
		args := string(end.Value)
		if !strings.HasPrefix(args, "{") {
			args = `{"output":` + args + `}`
		}
		return providers.Reply{Calls: []providers.ToolCall{{ID: "end", Name: finalTool, Args: args}}}
	}
	return providers.Reply{Text: end.Text}
}
