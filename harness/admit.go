package harness

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// newControl admits the requests of a recording or live run; a replay makes none.
func (r *runner) newControl(s *store) *admission.Control {
	if r.Mode == recorder.Replay {
		return nil
	}
	if r.Watch != nil {
		r.changes = make(chan admission.Change, maxChanges)
	}
	return admission.New(admission.Options{
		Caps: r.Caps, Providers: r.Limits, Concurrency: cmp.Or(r.LaneConcurrency, max(DefaultConcurrency, r.Concurrency)), Log: s.spending,
		Changed: func(c admission.Change) { s.keepLimit(c); r.heed(c) },
	})
}

// keepLimit adds to the history of limits in the run folder. It is called by one
// goroutine at a time.
func (s *store) keepLimit(c admission.Change) {
	if s.limits == nil {
		return
	}
	line, err := json.Marshal(limitLine{c.At.UTC(), c.Provider, c.Lane, c.Limit, c.Why, c.Until.UTC(), c.Gap.Microseconds()})
	if err == nil {
		_, _ = s.limits.Write(append(line, '\n')) // a history, not a result
	}
}

// limitLine is a line of limits.jsonl; see admission.Change.
type limitLine struct {
	At       time.Time     `json:"at"`
	Provider string        `json:"provider"`
	Lane     int           `json:"lane"`
	Limit    int           `json:"limit"`
	Why      admission.Why `json:"why"`
	Until    time.Time     `json:"until,omitzero"`
	GapUs    int64         `json:"gap_us,omitempty"`
}

// lane is what the requests of an episode pass; nil when nothing limits them.
func (r *runner) lane(p planned) *admission.Lane {
	if r.control == nil || p.candidate.Provider == ScriptedCandidate {
		return nil
	}
	return r.control.Lane(p.candidate.Provider, p.candidate.BaseURL+"\x00"+p.key)
}

// admitted is a model that asks for admission before every attempt.
type admitted struct {
	providers.Model
	lane      *admission.Lane
	recorder  *recorder.Recorder // nil for the canary
	candidate goldens.Candidate
	prices    providers.Prices
	day       time.Time
}

// Call implements providers.Model. The wait for admission is no time of the
// episode's.
func (m admitted) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if m.recorder != nil && m.recorder.Resumes() { // what is in the journal was admitted when it was made
		var recorded http.Header
		reply, err := m.Model.Call(recorder.OnlyJournaled(ctx, func(h http.Header) { recorded = h }), call)
		if !errors.Is(err, recorder.ErrNotJournaled) {
			m.lane.Settle(recorded.Get("X-Client-Request-Id"), m.result(call, reply, err))
			return reply, err
		}
	}
	provider := m.candidate.Provider
	worst := m.worst(call)
	var permit *admission.Permit
	err := paused(ctx, func(ctx context.Context) (err error) {
		permit, err = m.lane.Acquire(ctx, worst)
		return err
	})
	if err != nil {
		kind := providers.Transport
		if errors.Is(err, admission.ErrCapped) {
			kind = providers.Quota
		}
		return providers.Reply{}, &providers.Error{Kind: kind, Provider: provider, Model: call.Model, Permanent: true, Err: err}
	}
	reply, err := m.Model.Call(context.WithValue(ctx, permitKey{}, permit), call)
	permit.Done(m.result(call, reply, err))
	return reply, err
}

// result is what admission learns of a request that has ended.
func (m admitted) result(call providers.Call, reply providers.Reply, err error) admission.Result {
	result := admission.Result{Err: err, Usage: reply.Usage}
	if len(reply.Usage.NotUnderstood) > 0 {
		result.Usage.Reported = false // it may have been more
	}
	if cost, ok := m.prices.Cost(m.candidate.Provider, call.Model, reply.Usage, m.day); ok {
		result.CostNanoUSD = &cost
	}
	return result
}

// worst is what a request can come to; where that is unknown it is negative.
func (m admitted) worst(call providers.Call) admission.Request {
	r := admission.Request{
		Candidate: m.candidate.Name, ID: call.RequestID, Model: call.Model, CostNanoUSD: -1,
		Price: func(input, output int64) (int64, bool) {
			return m.prices.Worst(m.candidate.Provider, call.Model, input, output, m.day)
		},
	}
	var ok bool
	if r.Input, r.Output, ok = providers.WorstTokens(call); !ok {
		r.Output = -1
	}
	r.Text, r.Other = providers.TextBytes(call)
	if body, err := json.Marshal(m.candidate.Body); err == nil && len(m.candidate.Body) > 0 {
		r.Input += int64(len(body)) // text of the request, too
		r.Other += int64(len(body))
	}
	if cost, known := r.Price(r.Input, r.Output); known {
		r.CostNanoUSD = cost
	}
	return r
}

// permitKey is that of the permit of the request that is being sent, in its context.
type permitKey struct{}

// observed shows permits the headers of the replies: providers say there how much is
// left.
type observed struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(req)
	if permit, ok := req.Context().Value(permitKey{}).(*admission.Permit); ok && err == nil {
		permit.Header(resp.Header)
	}
	return resp, err
}
