package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/internal/mcphost"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
)

// Session is one episode of a foreign agent while it acts. Its methods are safe for
// concurrent use.
type Session struct {
	o     act
	rules gateway.Rules
	clock *clock
	known []string
	end   context.CancelFunc // ends the agent

	world drive.World
	acts  sync.Mutex // held while a tool runs or the user is asked
	// own and approved are of the tool that runs.
	own      *tool.Result
	approved *bool
	mu       sync.Mutex // of what follows
	// calls and replies have the same places; a reply is what its model call proposed.
	calls   []Call
	replies map[int][]providers.ToolCall
	used    guard.Used
	stop    agent.StopReason
	err     error
	over    bool
	// asked is when an unanswered question or giving up ended the episode; nil if neither did.
	// refused lists the requests that came afterwards.
	asked   *time.Duration
	refused []string
}

// errOver is why a request after the end is refused.
var errOver = errors.New("the episode has ended; nothing more is run")

// Model answers a request of the agent.
func (s *Session) Model(ctx context.Context, r gateway.Request) (*http.Response, error) {
	to, limit := s.o.sender.Upstream.resolve(r.Model)
	limited := r.Kind == gateway.Chat && r.MaxOutput == 0 && limit > 0
	r, err := prepare(r, to, limit)
	if err != nil {
		return nil, err
	}
	compared, err := r.Compared(s.rules)
	key := requestKey(gateway.Request{Wire: r.Provider, Method: r.Method, Endpoint: compared.Endpoint, Body: compared.Body})
	if err == nil {
		err = s.spend(r.Kind, key)
	}
	if err != nil {
		return nil, err
	}
	out := &outgoing{Request: r, to: to, stored: compared.Body, wait: s.clock.pause, call: &ModelCall{
		Kind: r.Kind, Endpoint: compared.Endpoint, Wire: r.Provider, Provider: to.provider, Model: to.model, Stream: r.Stream, Offered: s.foreign(r), Limited: limited,
	}}
	out.admitted = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.over {
			return s.refuse(key)
		}
		s.calls = append(s.calls, Call{At: s.clock.now().Microseconds(), Model: out.call})
		out.place = len(s.calls)
		return nil
	}
	out.over = func(x recorder.Exchange, reply providers.Reply, cost *int64) { s.replied(out, x, reply, cost) }
	resp, err := s.o.sender.send(ctx, out)
	if refused := (*refusedError)(nil); err != nil && !errors.As(err, &refused) {
		s.fail(err)
	}
	return resp, err
}

// prepare makes a request that of its model, with an output limit if it lacks one.
func prepare(r gateway.Request, to target, limit int) (out gateway.Request, err error) {
	if r.Model != to.model {
		r, err = r.WithModel(to.model)
	}
	if err == nil && r.Kind == gateway.Chat && r.MaxOutput == 0 && limit > 0 {
		r, err = r.WithMaxOutput(limit, to.provider)
	}
	return r, err
}

// spend counts a model call of a key, unless a budget is spent: the agent is stopped then.
func (s *Session) spend(kind gateway.Kind, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return s.refuse(key)
	}
	used, b := s.used, s.o.p.Params.Budgets
	used.Elapsed = s.clock.now()
	var spent agent.StopReason
	switch {
	case b.OutOfTime(used):
		spent = agent.MaxSeconds
	case kind == gateway.Chat && b.OutOfSteps(used):
		spent = agent.MaxSteps
	case kind == gateway.Chat && b.OutOfTokens(used):
		spent = agent.MaxTokens
	case kind == gateway.Chat && b.OutOfCost(used):
		spent = agent.MaxCost
	default:
		if kind == gateway.Chat {
			s.used.Steps++
		}
		return nil
	}
	s.stopFor(spent)
	return fmt.Errorf("the budget %s of this episode is spent; it ends here", spent)
}

// stopFor ends the agent, because a budget is spent; the caller has locked.
func (s *Session) stopFor(why agent.StopReason) {
	if !s.over {
		s.over, s.stop = true, why
		s.end()
	}
}

// refuse says that the episode is over, and keeps what is asked for after a question; the
// caller has locked.
func (s *Session) refuse(key string) error {
	if s.asked != nil && len(s.refused) < maxRefused {
		s.refused = append(s.refused, digestOf(key))
	}
	return errOver
}

// fail ends the agent and its episode without a result.
func (s *Session) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.over, s.err = true, err
		s.end()
	}
}

// foreign are the tools of a request that are not the task's.
func (s *Session) foreign(r gateway.Request) (names []string) {
	for _, name := range offered(r.Body) {
		if _, known := mcphost.Name(name, s.known); !known {
			names = append(names, name)
		}
	}
	return names
}

// replied takes the end of an exchange.
func (s *Session) replied(sent *outgoing, x recorder.Exchange, reply providers.Reply, cost *int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := sent.call
	m.Digest, m.Abandoned = x.Digest, m.Abandoned || s.over
	s.replies[sent.place] = reply.Calls
	s.used.Tokens += reply.Usage.Total()
	s.used.TokensUnknown = s.used.TokensUnknown || !reply.Usage.Reported
	if cost == nil {
		s.used.CostUnknown = true
	} else {
		s.used.CostNanoUSD += *cost
	}
}

// Call answers a call of a tool.
func (s *Session) Call(_ context.Context, name string, args json.RawMessage) (mcp.Answer, error) {
	s.acts.Lock()
	defer s.acts.Unlock()
	s.mu.Lock()
	if s.over {
		defer s.mu.Unlock()
		return mcp.Answer{}, s.refuse(toolKey(name, []byte(s.rules.Fixed.Replace(string(args)))))
	}
	at := s.clock.now()
	s.calls = append(s.calls, Call{At: at.Microseconds()})
	place := len(s.calls)
	refused := s.o.p.Params.Budgets.OutOfToolCalls(s.used)
	s.mu.Unlock()
	if special := s.known[len(s.known)-2:]; slices.Contains(special, name) {
		return s.ask(place, name == special[1], args)
	}
	c := &ToolCall{Name: name, Args: []byte(s.rules.Fixed.Replace(string(args))), Refused: refused}
	if refused {
		c.take(tool.Result{Outcome: tool.Rejected, Code: "E_BUDGET", Message: "no tool calls left: it was not run. Do not call it again; answer with what you have"})
	} else {
		s.own, s.approved = nil, nil
		res, err := s.world.Run(recorder.Ordered(s.o.sender.Run, place), tool.Call{Name: name, Args: c.Args}, at)
		c.Own, c.Approved = s.own, s.approved
		if err != nil {
			s.fail(err)
			return mcp.Answer{}, errOver
		}
		c.take(res)
		s.clock.advance(at + res.Duration)
	}
	s.set(place, Call{Tool: c})
	return c.answer(), nil
}

// answer is what the agent is told of a call.
func (c *ToolCall) answer() mcp.Answer {
	if c.Outcome == tool.OK {
		return mcp.Answer{Value: c.Value}
	}
	return mcp.Answer{Code: c.Code, Message: c.Message}
}

// set completes a call that has begun.
func (s *Session) set(place int, c Call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.At = s.calls[place-1].At
	s.calls[place-1] = c
	if c.Tool != nil && !c.Tool.Refused {
		s.used.ToolCalls++
	}
	if c.Ask.last() && !s.over { // as for other agents; this one may make its other parallel requests, and end by itself
		s.over, s.asked = true, new(s.clock.now())
		time.AfterFunc(grace, s.end)
	}
}

// take keeps a result.
func (c *ToolCall) take(r tool.Result) {
	c.Outcome, c.Code, c.Message, c.Value, c.Duration = r.Outcome, r.Code, r.Message, r.Value, r.Duration.Microseconds()
}

// tools keep the results of Go functions.
func (s *Session) tools() map[string]episode.ToolFunc {
	out := map[string]episode.ToolFunc{}
	for name, run := range s.o.v.Tools {
		out[name] = func(ctx context.Context, c tool.Call, info episode.CallInfo) (tool.Result, error) {
			res, err := run(ctx, c, info)
			s.own = &res
			return res, err
		}
	}
	return out
}

// human asks the person while no virtual time passes; nil if there is none.
func (s *Session) human() episode.Human {
	if s.o.v.Human == nil {
		return nil
	}
	return func(ctx context.Context, q episode.Question) (a episode.Answer, ok bool) {
		s.clock.pause(func() { a, ok = s.o.v.Human(ctx, q) })
		if q.Call != nil {
			s.approved = new(a.Approved && ok)
		}
		return a, ok
	}
}

// ask asks the user, or records the reason for which the agent gives up.
func (s *Session) ask(place int, giveUp bool, args json.RawMessage) (mcp.Answer, error) {
	q := &Question{Text: said([]byte(s.rules.Fixed.Replace(string(args)))), GiveUp: giveUp}
	if q.Text == "" {
		special, member := s.known[len(s.known)-2:], "question"
		c := &ToolCall{Name: special[0], Args: args, Refused: true, Outcome: tool.Rejected, Code: "E_ARGS"}
		if giveUp {
			c.Name, member = special[1], "reason"
		}
		c.Message = "args." + member + " must be a text"
		s.set(place, Call{Tool: c})
		return c.answer(), nil
	}
	if !giveUp {
		s.clock.pause(func() { q.Answer, q.Silent = s.world.Ask(s.o.sender.Run, q.Text) })
	}
	s.set(place, Call{Ask: q})
	return q.answer(), nil
}

// said is what a question asks, or why the agent gives up.
func said(args []byte) string {
	var text struct{ Question, Reason string }
	_ = json.Unmarshal(args, &text) // what is missing is empty
	return strings.TrimSpace(text.Question + text.Reason)
}

// last reports that an episode ends with a question.
func (q *Question) last() bool { return q != nil && (q.GiveUp || q.Silent) }

// answer is what the agent is told of a question.
func (q *Question) answer() mcp.Answer {
	switch {
	case q.GiveUp:
		return mcp.Answer{Value: json.RawMessage(`"noted; end here"`)}
	case q.Silent:
		return mcp.Answer{Code: "E_SILENT", Message: "the user does not answer; end here"}
	}
	text, _ := json.Marshal(q.Answer) // a string always encodes
	return mcp.Answer{Value: text}
}

// offered are the names of a request's tools, in any API's form.
func offered(body []byte) (names []string) {
	type declared struct {
		Name     string
		Function struct{ Name string }
		ToolSpec struct{ Name string }
		Decls    []struct{ Name string } `json:"functionDeclarations"`
	}
	var request struct {
		Tools      []declared
		ToolConfig struct{ Tools []declared }
	}
	_ = json.Unmarshal(body, &request) // of another form, there are none
	for _, t := range append(request.Tools, request.ToolConfig.Tools...) {
		names = append(names, t.Name+t.Function.Name+t.ToolSpec.Name)
		for _, d := range t.Decls {
			names = append(names, d.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}
