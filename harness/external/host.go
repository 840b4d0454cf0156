package external

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent"
	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/guard"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/external/launch"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/otlp"
	"github.com/cupel-eval/cupel/harness/proxy"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// Host runs the sessions of one candidate. It is safe for concurrent use.
type Host struct {
	Server *proxy.Server
	Agent  launch.Agent
	// Secret makes sessions reachable at the stable URL; empty makes them not.
	Secret string
	// Folder is where commands get their folders.
	Folder string
	// Correlate is that of the candidate's settings.
	Correlate string

	replay string      // a random name, for what is not recorded
	turn   *sync.Mutex // of all candidates of a proxy: held by the one episode that acts, where nothing tells episodes apart
}

// player answers what an agent asks for.
type player interface {
	Model(ctx context.Context, r gateway.Request) (*http.Response, error)
	Call(ctx context.Context, name string, args json.RawMessage) (mcp.Answer, error)
}

// grace is how long replies in flight may take after an agent was stopped.
const grace = 2 * time.Second

// act is one task of a session: its environment, its plan and its sender.
type act struct {
	v      *drive.Env
	p      drive.Planned
	sender *Sender
}

// alone waits until the episode may act, and returns what ends that.
func (h *Host) alone() (end func()) {
	if h.Correlate != settings.ByNothing {
		return func() {}
	}
	h.turn.Lock()
	return h.turn.Unlock
}

// live runs a session and returns its record, which is then the last of the recording. The
// error is why the episode has no result; the record is then of what came before.
func (h *Host) live(ctx context.Context, o act) (r Record, err error) {
	defer h.alone()()
	r.Format = recordFormat
	j, err := newJudge(o.p.Params)
	if err != nil {
		return r, err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &Session{o: o, end: cancel, rules: o.sender.Upstream.Rules, replies: map[int][]providers.ToolCall{}}
	w := *o.v
	w.Tools, w.Human = s.tools(), s.human()
	if s.world, err = w.OpenWorld(ctx, o.p, o.sender.Recorder); err != nil {
		return r, err
	}
	tools := toolList(j, o.p.Suite)
	for _, t := range tools {
		s.known = append(s.known, t.Name)
	}
	end, v, err := h.visit(inner, s, tools, o.p, o.v, func(fixed gateway.Fixed) {
		s.rules.Fixed = fixed
		s.clock = startClock(o.p.Params.Budgets.MaxTime, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stopFor(agent.MaxSeconds)
		})
	})
	if v != nil {
		s.clock.stop()
		r, err = s.close(ctx, v, end, err)
	}
	if err = errors.Join(err, s.world.Close()); err == nil {
		err = r.keep(o.sender.Recorder)
	} else {
		o.sender.retract()
	}
	return r, err
}

// visit lets an agent act once against a player. Sessions that a service
// remembers belong to one run. opened gets the replaced addresses before the agent starts.
func (h *Host) visit(ctx context.Context, pl player, tools []mcp.Tool, p drive.Planned, env *drive.Env, opened func(fixed gateway.Fixed)) (end launch.End, v *visit, err error) {
	trace := traceID(p)
	v = &visit{secrets: env.Secrets}
	v.Handle, err = h.Server.Open(proxy.Session{
		Secret: h.Secret, TraceID: trace, Any: h.Correlate == settings.ByNothing, Model: pl.Model,
		MCP: mcp.Handler(mcp.ServerOptions{Name: "world", Version: "1", Tools: tools, Call: pl.Call}), OTLP: &v.traces,
	})
	if err != nil {
		return end, nil, err
	}
	run := env.RunID
	if env.Mode == recorder.Replay {
		run = h.replay
	}
	start := launch.Start{
		Request: p.Params.Request, Constraints: p.Params.Constraints, AnswerSchema: p.Params.AnswerSchema, History: p.Params.Memory,
		Inputs: map[string]json.RawMessage{}, Now: p.Task.World.Now, Zone: p.Task.World.Zone.String(),
		SessionID: drive.DigestOf("session", run, p.Suite.Name, p.Candidate.Name, cmp.Or(p.Task.Session, "task "+p.Task.ID), p.Trial)[:32],
		Base:      v.Base(), Token: v.Token(), MCP: v.Base() + "/mcp", Refuse: v.Refuse(),
		Folder:      filepath.Join(h.Folder, drive.DigestOf("folder", v.Token())[:16]),
		TraceParent: "00-" + trace + "-" + trace[:16] + "-01",
	}
	for _, in := range p.Params.Inputs {
		start.Inputs[in.Name] = in.Value
	}
	v.fixed = gateway.Fixed(launch.Marks(start))
	opened(v.fixed)
	end, err = h.Agent.Run(ctx, start)
	return end, v, err
}

// visit is an open session of the proxy, with what its traces tell.
type visit struct {
	*proxy.Handle
	fixed   gateway.Fixed
	secrets *secrets.Finder
	traces  otlp.Receiver
}

// ended is what an agent said and did, once the session is closed.
func (v *visit) ended(end launch.End, world []string, calls []Call) End {
	e := End{
		Answer: v.fixed.Replace(end.Answer), Status: end.Status, Failure: v.fixed.Replace(end.Failure), Stderr: v.fixed.Replace(end.Stderr),
		Leftover: end.Leftover, Hosts: v.Hosts(), Late: v.Late(), Traces: v.traces.Seen(),
	}
	if e.Traces != nil {
		e.tell(v, world, calls)
	}
	return e
}

// close ends a session once its agent has ended.
func (s *Session) close(ctx context.Context, v *visit, end launch.End, failed error) (Record, error) {
	s.mu.Lock()
	at := s.clock.now()
	stopped := s.over
	s.over = true
	if s.asked != nil { // what the agent did afterwards does not count
		at, end.Answer, end.Status, end.Failure = *s.asked, "", "", ""
	}
	s.mu.Unlock()
	wait := s.o.p.Params.Budgets.TimeLeft(usedTime(at))
	if stopped || wait == 0 {
		wait = grace
	}
	inner, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	v.Close(inner)
	s.acts.Lock() // a tool that still runs is the last
	defer s.acts.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := Record{Format: recordFormat, Calls: s.finished()}
	r.End = v.ended(end, s.known, r.Calls)
	r.End.At, r.End.Stop, r.End.Refused = at.Microseconds(), string(s.stop), s.refused
	if n := len(r.Calls); n > 0 {
		r.End.At = max(r.End.At, r.Calls[n-1].At)
	}
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case s.err != nil:
		return r, s.err
	case s.stop != "":
		return r, nil
	case failed != nil && s.asked == nil:
		return r, failed
	case end.Failure != "" && s.o.sender.failed() != nil:
		return r, s.o.sender.failed()
	case end.Failure == "" && len(s.refused) == 0 && !slices.ContainsFunc(r.Calls, func(c Call) bool { return c.Model != nil }):
		return r, errNoModel
	}
	return r, nil
}

// traceID is the trace of an episode.
func traceID(p drive.Planned) string { return hex.EncodeToString(p.Seed[:16]) }

// errNoModel means that an agent answered without a model.
var errNoModel = errors.New("no model request of the agent reached the proxy: does it read its base URL, such as OPENAI_BASE_URL, and pass it to its model client?")

// usedTime is what of the budgets a time uses.
func usedTime(d time.Duration) guard.Used { return guard.Used{Elapsed: d} }

// toolList are the tools that an agent is offered.
func toolList(j judge, suite *goldens.Suite) (list []mcp.Tool) {
	for _, t := range j.Tools() {
		list = append(list, mcp.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema, ReadOnly: suite.Approval(t.Name) == goldens.ApproveAlways})
	}
	return list
}
