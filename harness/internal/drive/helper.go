package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/persona"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

// helperTimeout bounds one call of a helper, without waits.
const helperTimeout = 5 * time.Minute

// helperUse is what the calls of one role have used so far.
type helperUse struct {
	calls   int32
	in, out int64
	cost    int64
	// unread and unpriced say that a call's tokens or cost are unknown.
	unread, unpriced bool
}

// askHelper asks the model of a helper: one that takes part in the episode besides the
// candidate. Its requests are recorded and replayed on the episode's cassette, in the helper's
// role and at a place (see recorder.Ordered), which is the id of the command that it answers.
// They need admission, so that caps of the run cover them. They are no turns: no step, budget
// or row of the candidate counts them, and the virtual clock stands still. Tokens and cost are
// in the episode's columns of the role.
//
// Only the driver's goroutine calls it. An error is a failure of the provider or the cassette,
// never of the candidate; after one the episode must end without a result, see failHelper.
func askHelper(ctx context.Context, e *driver, h helper.Helper, place int, call providers.Call) (providers.Reply, error) {
	use := e.rows.helpers.of(h.Role)
	use.calls++
	model, day, err := helperModel(e, h, use.calls)
	if err != nil {
		return providers.Reply{}, fmt.Errorf("%s %s: %w", h.Role, h.Model.Name, err)
	}
	ctx, cancel := WithBudget(ctx, helperTimeout)
	defer cancel()
	ctx = recorder.InRole(recorder.Ordered(WithTransport(ctx, e.helpers.base(h.Model.Provider)), place), string(h.Role))
	call.Model, call.RequestID = h.Model.Model, e.id+"-"+string(h.Role)+"-"+strconv.Itoa(int(use.calls))
	call.Temperature = h.Model.Temperature
	if h.Model.MaxTokens != nil {
		call.MaxTokens = *h.Model.MaxTokens
	}
	reply, err := model.Call(ctx, call)
	use.add(reply, func() (int64, bool) { return e.Prices.Cost(h.Model.Provider, call.Model, reply.Usage, day) })
	if err != nil {
		return reply, fmt.Errorf("%s %s: %w", h.Role, h.Model.Name, err)
	}
	return reply, nil
}

// userTokens bounds what a simulated user without max_tokens says at once.
const userTokens = 500

// userSays returns what the simulated user of the task says next, to a message of the agent; ok
// is false without one, and if it says nothing any more. place is that of askHelper.
func userSays(ctx context.Context, e *driver, place int, heard string) (said string, ok bool) {
	u := e.Task.User
	if u == nil || u.Done(e.rows.talk) {
		return "", false
	}
	call := providers.Call{System: u.Prompt(), MaxTokens: userTokens}
	for _, m := range u.Messages(e.Task.Request, e.rows.talk, heard) {
		role := providers.RoleUser
		if m.Own {
			role = providers.RoleAssistant
		}
		call.Messages = append(call.Messages, providers.Message{Role: role, Text: m.Text})
	}
	reply, err := askHelper(ctx, e, u.Helper(), place, call)
	if err != nil {
		failHelper(ctx, e, place, err)
		return "", false
	}
	said = persona.Read(reply.Text)
	e.rows.talk = append(e.rows.talk, persona.Exchange{Heard: heard, Said: said})
	return said, said != ""
}

// helperModel returns the model of a helper for its n-th call, and the day of its prices.
func helperModel(e *driver, h helper.Helper, n int32) (providers.Model, time.Time, error) {
	// What an external agent did a moment ago is replayed by e.Env and e.recorder. The user has
	// answered it then; a judge is asked afterwards, by the run's own.
	v, rec, after := e.Env, e.recorder, h.Role == helper.Judge
	if after {
		if v = e.helpers; rec != nil {
			rec = rec.Source()
		}
	}
	p := Planned{Candidate: e.Candidate.Asking(h.Model), Factory: v.Factories[h.Model.Provider]}
	if v.Mode != recorder.Replay && v.HelperKey != nil {
		var err error
		if p.Key, err = v.HelperKey(p.Candidate); err != nil {
			return nil, time.Time{}, err
		}
	}
	again := v.retryPolicy(uint64(e.Seed.Int64()) + uint64(n))
	lane := v.lane(p.Candidate, p.Key)
	switch {
	case e.recorder == nil && v.Mode == recorder.Replay:
		return nil, time.Time{}, e.missing
	case e.recorder == nil || after && v.Mode == recorder.Live && e.Candidate.Agent == strategy.External: // whose recorder has ended
		day := v.Today.Truncate(24 * time.Hour)
		model, err := v.wire(p, v.base(p.Candidate.Provider), nil, day, again, lane)
		return model, day, err
	}
	day := v.PriceDay(rec)
	model, err := v.wire(p, rec, rec, day, sleepUnlessJournaled(again, rec), lane)
	return model, day, err
}

// base is the transport of a provider's requests below the recorder. A replay does not use it.
func (v *Env) base(provider string) http.RoundTripper {
	if b := v.batches(provider); b != nil {
		return b.Transport(provider)
	}
	if v.Base != nil {
		return observed{v.Base(provider)}
	}
	return observed{http.DefaultTransport}
}

// failHelper ends the episode without a result because a helper failed at a place.
func failHelper(ctx context.Context, e *driver, place int, err error) {
	if ctx.Err() != nil || isDrained(ctx) && errors.Is(err, context.Canceled) {
		e.finish = &agent.Finish{Status: agent.Interrupted}
		return
	}
	e.fail(err)
	e.failedBy = place // a resumed run asks again
}

func (u *helperUse) add(r providers.Reply, price func() (int64, bool)) {
	if !r.Usage.Reported {
		u.unread, u.unpriced = true, true
		return
	}
	u.in += r.Usage.Input + r.Usage.CacheRead + r.Usage.CacheWrite
	u.out += r.Usage.Output + r.Usage.Reasoning
	if cost, ok := price(); ok {
		u.cost += cost
	} else {
		u.unpriced = true
	}
}

// helperUses are what each role has used.
type helperUses struct{ judge, user helperUse }

// of returns the use of a role.
func (u *helperUses) of(role helper.Role) *helperUse {
	if role == helper.User {
		return &u.user
	}
	return &u.judge
}

// fill fills in the columns of an episode.
func (u *helperUses) fill(ep *ledger.Episode) {
	ep.JudgeCalls, ep.UserCalls = u.judge.calls, u.user.calls
	ep.JudgeTokensIn, ep.JudgeTokensOut, ep.JudgeCostNanoUSD = u.judge.columns()
	ep.UserTokensIn, ep.UserTokensOut, ep.UserCostNanoUSD = u.user.columns()
}

func (u *helperUse) columns() (in, out, cost *int64) {
	if !u.unread {
		in, out = &u.in, &u.out
	}
	if !u.unpriced {
		cost = &u.cost
	}
	return in, out, cost
}
