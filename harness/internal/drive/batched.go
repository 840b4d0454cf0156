package drive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"

	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/batch"
	"github.com/cupel-eval/cupel/providers/fault"
)

// batches returns what collects the requests of a provider; nil if they are sent one by one.
func (v *Env) batches(provider string) *batching.Collector {
	if v.Batches == nil || !batch.Has(provider) {
		return nil
	}
	return v.Batches
}

// batched is a model whose requests wait for batches, which takes none of the episode's time.
type batched struct {
	providers.Model
	batches *batching.Collector
}

// Call implements providers.Model. A request that goes on in a batch is not sent again.
func (m batched) Call(ctx context.Context, call providers.Call) (reply providers.Reply, err error) {
	_ = paused(ctx, func(ctx context.Context) error {
		reply, err = m.Model.Call(ctx, call)
		return err
	})
	if failed, ok := errors.AsType[*fault.Error](err); ok && batching.IsWaiting(err) {
		failed.Permanent = true
	}
	return reply, err
}

// claim returns the context of a call with what a resumed run knows it by. If an earlier process
// of the run has put the call into a batch, it waits for its reply, and done is set: the
// reservation of that process covers it.
func (m *admitted) claim(ctx context.Context, call providers.Call) (_ context.Context, reply providers.Reply, done bool, err error) {
	asked := digestOfCall(call)
	held := m.batches.Claim(call.RequestID, asked)
	ctx = batching.Identify(ctx, call.RequestID, asked, held)
	if held == nil {
		return ctx, reply, false, nil
	}
	reply, err = m.Model.Call(ctx, call)
	if !batching.IsWaiting(err) && ctx.Err() == nil {
		m.lane.Settle(held.ID(), m.result(call, reply, err))
	}
	return ctx, reply, true, err
}

// digestOfCall is the SHA-256 hex of what a call asks, without its id.
func digestOfCall(c providers.Call) string {
	text, err := json.Marshal([]any{c.Model, c.System, c.Messages, c.Tools, c.Choice, c.Serial, c.MaxTokens, c.Temperature, c.Seed, c.Stop, c.Format, c.LogProbs})
	if err != nil {
		return c.RequestID // it has raw JSON that is not JSON, and is refused
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// saved is what a batched turn would have cost more without a batch; nil if unknown.
func saved(b *rowBuilder, m *modelCall, o outcome) *int64 {
	full := o.reply
	full.Usage.SetTier("")
	whole := b.cost(m, full)
	if whole == nil || o.cost == nil {
		return nil
	}
	return new(*whole - *o.cost)
}
