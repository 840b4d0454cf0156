package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/mcp"
	"github.com/cupel-eval/cupel/providers/gateway"
	"github.com/cupel-eval/cupel/recorder"
)

// rerun lets an agent act against its recording: equal requests and tool calls get the
// recorded outcomes, the n-th the n-th. It is a player.
type rerun struct {
	record   Record
	rec      *recorder.Recorder // of its own
	upstream *Upstream
	wires    Wires
	rules    gateway.Rules
	special  []string // the tools that are not the task's
	path     string
	command  string
	end      context.CancelFunc

	mu   sync.Mutex
	left map[string][]int // the calls not made again, by what identifies them
	err  error
	over bool
	// asked is set once a question was asked that ends the episode.
	asked bool
}

// slack is how much longer than its budget an agent may take in a replay that was not stopped
// when it was recorded: rows have the recorded times, which a busy machine must not change.
const slack = time.Minute

// again runs the agent of a recorded episode, and returns the record with the agent's answer
// of now. The error is why the episode has no result: a miss, or calls that were not made
// again.
func (h *Host) again(ctx context.Context, v *drive.Env, p drive.Planned, s *rerun) (Record, error) {
	defer h.alone()()
	j, err := newJudge(p.Params)
	if err != nil {
		return s.record, err
	}
	inner, cancel := context.WithCancel(ctx)
	if t := p.Params.Budgets.MaxTime; t > 0 {
		if s.record.End.Stop == "" {
			t += slack
		}
		inner, cancel = context.WithTimeout(ctx, t)
	}
	defer cancel()
	tools := toolList(j, p.Suite)
	var known []string
	for _, t := range tools {
		known = append(known, t.Name)
	}
	s.special = known[len(known)-2:]
	s.path, s.command, s.end, s.rules, s.left = p.Cassette, v.Command(p.Task.ID, p.Candidate.Name, p.Trial), cancel, s.upstream.Rules, map[string][]int{}
	if err := s.index(); err != nil {
		return s.record, err
	}
	end, visited, err := h.visit(inner, s, tools, p, v, func(fixed gateway.Fixed) { s.rules.Fixed = fixed })
	if visited == nil {
		return s.record, err
	}
	s.mu.Lock()
	stopped := s.over
	s.over = true
	s.mu.Unlock()
	late, stop := context.WithTimeout(ctx, grace)
	defer stop()
	visited.Close(late)
	was := s.record.End
	if s.asked || was.Stop != "" { // where the recording ended, perhaps before an answer that comes now
		end.Answer, end.Status, end.Failure = was.Answer, was.Status, was.Failure
	}
	out := s.record
	out.End = visited.ended(end, known, out.Calls)
	out.End.At, out.End.Stop, out.End.Refused = was.At, was.Stop, was.Refused
	switch unused := s.unused(); {
	case s.err != nil:
		return out, s.err
	case ctx.Err() != nil:
		return out, ctx.Err()
	case stopped: // where the recording ended
	case s.asked && unused == 0:
	case errors.Is(inner.Err(), context.DeadlineExceeded):
		out.End.Stop = string(agent.MaxSeconds)
	case err != nil && !s.asked:
		return out, err
	case unused > 0:
		return out, &episode.StaleError{Path: s.path, Unused: unused, Command: s.command}
	}
	return out, nil
}

// index lists the recorded calls by what identifies them.
func (s *rerun) index() error {
	for i, c := range s.record.Calls {
		key := ""
		switch {
		case c.Model != nil:
			it := s.rec.Recording(c.Model.Digest)
			if it == nil {
				return fmt.Errorf("cassette %s: call %d of the agent is not in it; record it again with: %s", s.path, i+1, s.command)
			}
			r := gateway.Request{Wire: c.Model.Wire, Endpoint: c.Model.Endpoint, Method: it.Request.Method, Body: []byte(it.Request.Body)}
			compared, err := r.Compared(s.rules)
			if err != nil {
				return err
			}
			key = requestKey(compared)
		case c.Tool != nil:
			key = toolKey(c.Tool.Name, c.Tool.Args)
		default:
			key = "ask\n" + c.Ask.Text
		}
		s.left[key] = append(s.left[key], i)
	}
	return nil
}

// requestKey identifies a compared request.
func requestKey(r gateway.Request) string {
	body, err := jsontext.AppendFormat(nil, r.Body, jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		body = r.Body
	}
	return r.Wire + "\n" + r.Method + " " + r.Endpoint + "\n" + string(body)
}

func toolKey(name string, args json.RawMessage) string {
	if key, _, err := tool.Key(tool.Call{Name: name, Args: args}); err == nil {
		return "tool\n" + key
	}
	return "tool\n" + name + "|" + string(args)
}

// take uses up the first call of a key; the caller has locked.
func (s *rerun) take(key string) (c Call, ok bool) {
	list := s.left[key]
	if len(list) == 0 {
		return c, false
	}
	s.left[key] = list[1:]
	return s.record.Calls[list[0]], true
}

// unused is how many recorded calls were not made again, without those whose replies the
// agent did not wait for.
func (s *rerun) unused() (n int) {
	for _, list := range s.left {
		for _, i := range list {
			if m := s.record.Calls[i].Model; m == nil || !m.Abandoned {
				n++
			}
		}
	}
	return n
}

// Model answers a request of the agent.
func (s *rerun) Model(ctx context.Context, r gateway.Request) (*http.Response, error) {
	to, limit := s.upstream.resolve(r.Model)
	r, err := prepare(r, to, limit)
	if err != nil {
		return nil, err
	}
	compared, err := r.Compared(s.rules)
	if err != nil {
		return nil, err
	}
	key := requestKey(gateway.Request{Wire: r.Provider, Method: r.Method, Endpoint: compared.Endpoint, Body: compared.Body})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return nil, errOver
	}
	c, ok := s.take(key)
	if !ok && s.refuses(key) {
		return nil, errOver
	}
	if !ok {
		return nil, s.miss(s.propose(s.nearest(ctx, r, compared.Body, to), r.Provider, compared))
	}
	for {
		resp, err := recorded(ctx, s.rec, c.Model.Digest)
		if err != nil && errors.As(err, new(*recorder.MissError)) {
			return nil, s.miss(err)
		}
		if err != nil || resp.StatusCode >= http.StatusBadRequest { // a repetition of a failed request gives its outcome
			if next, more := s.take(key); more {
				c = next
				if err == nil {
					_ = resp.Body.Close() // only read: nothing can be lost
				}
				continue
			}
		}
		if err != nil {
			return badGateway(r.Wire, err), nil
		}
		return resp, nil
	}
}

// nearest explains a request that was not recorded.
func (s *rerun) nearest(ctx context.Context, r gateway.Request, body []byte, to target) error {
	req, err := r.HTTP(ctx, s.wires.Factories[to.provider], s.upstream.Options[to.provider])
	if err != nil {
		return err
	}
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(strings.NewReader(string(body))), int64(len(body)), nil
	resp, err := s.rec.RoundTrip(req)
	if err == nil {
		_ = resp.Body.Close() // only read: nothing can be lost
		err = &recorder.MissError{Path: s.path, Nearest: -1, Command: s.command}
	}
	return err
}

// mostProposed bounds the recorded requests that a miss is compared with for rules.
const mostProposed = 16

// propose adds to a miss the rules under which the request is the first recorded one that
// was not made again and could be it. The caller has locked.
func (s *rerun) propose(err error, wire string, now gateway.Request) error {
	var miss *recorder.MissError
	if !errors.As(err, &miss) {
		return err
	}
	left := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(s.left))...)))
	for _, i := range left[:min(len(left), mostProposed)] {
		m := s.record.Calls[i].Model
		if m == nil || m.Wire != wire || m.Endpoint != now.Endpoint {
			continue
		}
		was, err := gateway.Request{Body: []byte(s.rec.Recording(m.Digest).Request.Body)}.Compared(s.rules)
		if err != nil {
			continue
		}
		if rules := gateway.Propose(was.Body, now.Body).Lines(); len(rules) > 0 {
			miss.Diff = append(miss.Diff, "only volatile texts differ from call "+strconv.Itoa(i+1)+" of the agent; if they do not matter, add to the candidate:")
			miss.Diff = append(miss.Diff, rules...)
			break
		}
	}
	return miss
}

// refuses reports that a call, which was not recorded, comes after the question that ended the
// episode, or did when it was recorded. The caller has locked.
func (s *rerun) refuses(key string) bool {
	return s.asked || slices.Contains(s.record.End.Refused, digestOf(key))
}

// miss ends the agent because it does something that was not recorded; where the recording
// was stopped, that is its end. The caller has locked.
func (s *rerun) miss(err error) error {
	if s.over = true; s.record.End.Stop == "" {
		s.err = err
	}
	s.end()
	return err
}

// Call answers a call of a tool.
func (s *rerun) Call(_ context.Context, name string, args json.RawMessage) (mcp.Answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.over {
		return mcp.Answer{}, errOver
	}
	plain := json.RawMessage(s.rules.Fixed.Replace(string(args)))
	if slices.Contains(s.special, name) {
		if c, ok := s.take("ask\n" + said(plain)); ok {
			if c.Ask.last() && !s.asked {
				s.asked = true
				time.AfterFunc(grace, s.end)
			}
			return c.Ask.answer(), nil
		}
	}
	c, ok := s.take(toolKey(name, plain))
	if !ok && s.refuses(toolKey(name, plain)) {
		return mcp.Answer{}, errOver
	}
	if !ok {
		return mcp.Answer{}, s.miss(&recorder.MissError{Path: s.path, Nearest: -1, Command: s.command, Diff: []string{
			fmt.Sprintf("the agent calls %s with %s, which it did not when it was recorded", name, clip.Bytes(string(plain), 300)),
		}})
	}
	return c.Tool.answer(), nil
}
