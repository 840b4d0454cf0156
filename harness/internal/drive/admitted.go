package drive

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/retry"
	"github.com/cupel-eval/cupel/recorder"
)

// admitted is a model that waits for admission before every attempt.
type admitted struct {
	providers.Model
	lane      *admission.Lane
	recorder  *recorder.Recorder // nil for the canary
	candidate goldens.Candidate
	prices    price.Table
	day       time.Time
	batches   *batching.Collector // nil unless the requests are batched
}

// Call implements providers.Model. The wait for admission does not count towards the
// episode's time.
func (m *admitted) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	if m.recorder != nil && m.recorder.Resumes() { // exchanges in the journal were admitted when they were made
		var recorded http.Header
		reply, err := m.Model.Call(recorder.OnlyJournaled(ctx, func(h http.Header) { recorded = h }), call)
		if !errors.Is(err, recorder.ErrNotJournaled) {
			m.lane.Settle(recorded.Get("X-Client-Request-Id"), m.result(call, reply, err))
			return reply, err
		}
	}
	provider := m.candidate.Provider
	if m.batches != nil {
		var done bool
		var reply providers.Reply
		var err error
		if ctx, reply, done, err = m.claim(ctx, call); done {
			return reply, err
		}
	}
	worst := m.worst(call)
	var permit *admission.Permit
	err := paused(ctx, func(ctx context.Context) (err error) {
		return m.batches.Waiting(ctx, func() error {
			permit, err = m.lane.Acquire(ctx, worst)
			return err
		})
	})
	if err != nil {
		kind := fault.Transport
		if errors.Is(err, admission.ErrCapped) {
			kind = fault.Quota
		}
		return providers.Reply{}, &fault.Error{Kind: kind, Provider: provider, Model: call.Model, Permanent: true, Err: err}
	}
	reply, err := m.Model.Call(context.WithValue(ctx, permitKey{}, permit), call)
	if !batching.IsWaiting(err) { // or else it stays reserved, since it is going to be billed
		permit.Done(m.result(call, reply, err))
	}
	return reply, err
}

// result returns a request's result for admission.
func (m *admitted) result(call providers.Call, reply providers.Reply, err error) admission.Result {
	result := admission.Result{Err: err, Usage: reply.Usage}
	if len(reply.Usage.NotUnderstood) > 0 {
		result.Usage.Reported = false // more may have been used
	}
	if cost, ok := m.prices.Cost(m.candidate.Provider, call.Model, reply.Usage, m.day); ok {
		result.CostNanoUSD = &cost
	}
	return result
}

// worst returns the worst case of a request; unknown numbers are negative.
func (m *admitted) worst(call providers.Call) admission.Request {
	r := admission.Request{
		Candidate: m.candidate.Name, ID: call.RequestID, Model: call.Model, CostNanoUSD: -1,
		Price: func(input, output int64) (int64, bool) {
			if m.batches != nil {
				return m.prices.WorstOf(batch.Tier, m.candidate.Provider, call.Model, input, output, m.day)
			}
			return m.prices.Worst(m.candidate.Provider, call.Model, input, output, m.day)
		},
	}
	var ok bool
	if r.Input, r.Output, ok = price.WorstTokens(call); !ok {
		r.Output = -1
	}
	r.Text, r.Other = price.TextBytes(call)
	if body, err := json.Marshal(m.candidate.Body); err == nil && len(m.candidate.Body) > 0 {
		r.Input += int64(len(body)) // text of the request, which also counts
		r.Other += int64(len(body))
	}
	if cost, known := r.Price(r.Input, r.Output); known {
		r.CostNanoUSD = cost
	}
	return r
}

// permitKey is the context key of the permit of a request.
type permitKey struct{}

// observed passes the headers of replies to permits, because providers state their
// remaining limits there.
type observed struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (o observed) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := o.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Header.Del(batching.Header) // which only a batch sets
	}
	if permit, ok := req.Context().Value(permitKey{}).(*admission.Permit); ok && err == nil {
		permit.Header(resp.Header)
	}
	return resp, err
}

// PlainModel returns a candidate's model as in its episodes, but without a recorder.
func (v *Env) PlainModel(c goldens.Candidate, factory providers.Factory, key string, seed uint64) (providers.Model, error) {
	var base http.RoundTripper
	if v.Base != nil {
		base = v.Base(c.Provider)
	}
	model, err := factory(WireOptions(c, key, modelClient(observed{v.Secrets.Watch(base)})))
	if err != nil {
		return nil, err
	}
	return retry.New(&admitted{model, v.lane(c, key), nil, c, v.Prices, v.Today.Truncate(24 * time.Hour), nil}, v.retryPolicy(seed)), nil
}
