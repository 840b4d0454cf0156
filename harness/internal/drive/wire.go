package drive

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/retry"
	"github.com/cupel-eval/cupel/recorder"
)

// WireOptions are a candidate's settings for its wire.
func WireOptions(c goldens.Candidate, key string, client *http.Client) providers.Options {
	o := providers.Options{
		Provider: c.Provider, BaseURL: c.BaseURL, Region: c.Region, Key: key,
		Header: c.Headers, Query: c.Query, HTTP: client,
	}
	if len(c.Body) > 0 {
		o.Extra, _ = json.Marshal(c.Body) // validated with the candidate
	}
	return o
}

// wire creates the model of a planned episode over a transport, with the prices of a day.
// Its requests use its lane, if it has one.
func (v *Env) wire(p Planned, t http.RoundTripper, rec *recorder.Recorder, day time.Time, again retry.Policy, lane *admission.Lane) (providers.Model, error) {
	prices := v.Prices
	model, err := p.Factory(WireOptions(p.Candidate, p.Key, modelClient(t)))
	if err != nil {
		return nil, err
	}
	model = settled{noRetryOnMiss{model}, p.Candidate.Provider, prices, day}
	if b := v.batches(p.Candidate.Provider); b != nil {
		model = batched{model, b}
	}
	if lane != nil {
		model = &admitted{model, lane, rec, p.Candidate, prices, day, v.batches(p.Candidate.Provider)}
	}
	return retry.New(model, again), nil
}

// modelClient sends the requests of models. It does not follow redirects, which would send
// the key to another host.
func modelClient(t http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// retryPolicy is the run's with a source of jitter. A replay makes the same attempts
// without waiting.
func (v *Env) retryPolicy(seed uint64) retry.Policy {
	p := v.Retry
	p.Seed = seed
	if v.Mode == recorder.Replay {
		return withoutWaits(p)
	}
	wait := p.Sleep
	if wait == nil {
		wait = pause.For
	}
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		return paused(ctx, func(ctx context.Context) error { return wait(ctx, d) })
	}
	return p
}

// sleepUnlessJournaled waits before the attempts of an episode, except before one that
// the journal of a resumed recording answers.
func sleepUnlessJournaled(p retry.Policy, rec *recorder.Recorder) retry.Policy {
	wait := p.Sleep
	p.Sleep = func(ctx context.Context, d time.Duration) error {
		if rec.Journaled(ctx) {
			return ctx.Err()
		}
		return wait(ctx, d)
	}
	return p
}

func withoutWaits(p retry.Policy) retry.Policy {
	p.Sleep = func(context.Context, time.Duration) error { return nil }
	return p
}

// noRetryOnMiss marks a cassette miss as permanent, because a retry would miss again.
type noRetryOnMiss struct{ providers.Model }

// Call implements providers.Model.
func (m noRetryOnMiss) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	reply, err := m.Model.Call(ctx, call)
	var failed *fault.Error
	var missing *recorder.MissError
	if errors.As(err, &missing) && errors.As(err, &failed) {
		failed.Permanent = true
	}
	return reply, err
}

// settled is a model whose usage is compared with its reported cost.
type settled struct {
	providers.Model
	provider string
	prices   price.Table
	day      time.Time
}

// Call implements providers.Model.
func (m settled) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	reply, err := m.Model.Call(ctx, call)
	m.prices.Settle(m.provider, call.Model, &reply, m.day)
	return reply, err
}
