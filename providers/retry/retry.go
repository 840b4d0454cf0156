// Package retry asks a model again when a call failed in a way that may pass.
package retry

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Policy says when and how often a failed call is made again. The zero
// value is usable: four attempts, waits of up to a second that double up to 30 s,
// two minutes of waiting in all.
type Policy struct {
	// Attempts bounds how often a call is sent, the first time included; 0 means 4,
	// 1 never retries.
	Attempts int
	// Base is the longest wait before the second attempt; it doubles with every
	// further one, up to Max. 0 means 1 s and 30 s.
	Base, Max time.Duration
	// Budget bounds the waits of one call together; a wait that does not fit is not
	// started. 0 means 2 min.
	Budget time.Duration
	// Seed is the source of jitter, with the call's RequestID: equal calls wait
	// equally long.
	Seed uint64
	// Partial also retries calls of which part of the reply had come. A caller who
	// has been given the pieces gets them again.
	Partial bool
	// Sleep waits, or returns ctx's error early; nil waits for real. A replay has
	// nothing to wait for.
	Sleep func(ctx context.Context, d time.Duration) error
}

// New makes a model that asks m again when that may help: see
// fault.Error.Retryable. The wait is drawn uniformly between zero and the bound (full
// jitter: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
// 2015); where the provider says how long to wait, it is that, and up to a tenth more,
// at most Base. Usage that failed attempts reported is added to the reply's, which stays
// unknown if the last attempt reported none. Later attempts carry the RequestID with
// their number behind it. Attempts of the Reply, or of the *fault.Error, says how often the
// request was sent.
func New(m providers.Model, p Policy) providers.Model {
	r := retrying{m, p.withDefaults()}
	if f, ok := m.(providers.Formatter); ok {
		return formatting{r, f}
	}
	return r
}

func (p Policy) withDefaults() Policy {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&p.Base, time.Second}, {&p.Max, 30 * time.Second}, {&p.Budget, 2 * time.Minute}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if p.Attempts <= 0 {
		p.Attempts = 4
	}
	if p.Sleep == nil {
		p.Sleep = pause.For
	}
	return p
}

// retrying is a model that asks again.
type retrying struct {
	model  providers.Model
	policy Policy
}

// formatting is one whose wire has output modes.
type formatting struct {
	retrying
	providers.Formatter
}

// Call implements Model.
func (r retrying) Call(ctx context.Context, call providers.Call) (providers.Reply, error) {
	var (
		id     = call.RequestID
		spent  providers.Usage
		waited time.Duration
		jitter *rand.Rand // from the first wait on
	)
	for attempt := 1; ; attempt++ {
		if attempt > 1 && id != "" {
			call.RequestID = fmt.Sprintf("%s-%d", id, attempt) // every request has its own
		}
		reply, err := r.model.Call(ctx, call)
		reply.Attempts = attempt
		add(&reply, spent)
		var failed *fault.Error
		if !errors.As(err, &failed) {
			return reply, err
		}
		failed.Attempts = attempt
		if attempt == r.policy.Attempts || ctx.Err() != nil || !failed.Retryable() || failed.Partial && !r.policy.Partial {
			return reply, err
		}
		if jitter == nil {
			jitter = r.policy.jitter(id)
		}
		wait := r.policy.wait(attempt, failed.RetryAfter, jitter)
		if waited += wait; waited > r.policy.Budget {
			return reply, err
		}
		spent = reply.Usage
		if r.policy.Sleep(ctx, wait) != nil {
			return reply, err // the failure says more than the end of the wait
		}
	}
}

// jitter is the source of one call's waits.
func (p Policy) jitter(requestID string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(requestID)) // a hash does not fail
	return rand.New(rand.NewPCG(p.Seed, h.Sum64()))
}

// wait is how long to wait after an attempt.
func (p Policy) wait(attempt int, advice time.Duration, jitter *rand.Rand) time.Duration {
	bound := p.Max
	if doublings := attempt - 1; doublings < 32 && p.Base<<doublings > 0 {
		bound = min(p.Max, p.Base<<doublings)
	}
	if advice > 0 {
		return advice + time.Duration(jitter.Int64N(int64(min(p.Base, advice/10))+1)) // not all at the same moment
	}
	return time.Duration(jitter.Int64N(int64(bound) + 1))
}

// add counts what earlier attempts used.
func add(r *providers.Reply, spent providers.Usage) {
	if !spent.Reported || spent.Total() == 0 {
		return
	}
	r.Usage = r.Usage.Plus(spent)
	r.Warnings = append(r.Warnings, fmt.Sprintf("usage: includes %d tokens of failed attempts", spent.Total()))
}
