package natsfleet

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/cupel-eval/cupel/harness/admission/shared"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// sharedKey is the key of the caps and limits of a run.
func sharedKey(run string) string { return "limits." + run }

// share makes the caps and limits of the run known to its workers.
func share(ctx context.Context, c *coordinator, m manifest.Manifest) error {
	if m.Mode == "replay" {
		return nil
	}
	_, err := shared.Create(ctx, buckets{c.runs}, sharedKey(m.RunID), shared.Config{Identity: m.RunID, Caps: c.o.Caps, Limits: c.o.Limits})
	return err
}

// limits takes part in the caps and limits of a run; nil for a replay.
func (w *worker) limits(ctx context.Context, a announcement) (*fleet.Shared, error) {
	if a.Manifest.Mode == "replay" {
		return nil, nil
	}
	pool, err := shared.Open(ctx, buckets{w.runs}, sharedKey(a.Manifest.RunID), a.Manifest.RunID)
	if err != nil {
		return nil, err
	}
	config := pool.Config()
	return &fleet.Shared{Caps: config.Caps, Limits: config.Limits, Sharing: pool.Member(shared.Options{Name: w.access.Client, Notice: w.access.Say})}, nil
}

// addSpent adds what the workers of a run have spent, unless the run has no limits yet, or no more.
func addSpent(ctx context.Context, q *queue, run string, s *fleet.Status) error {
	if s.Run.Mode == "replay" {
		return nil
	}
	var state shared.State
	pool, err := shared.Open(ctx, buckets{q.runs}, sharedKey(run), run)
	if err == nil {
		state, err = pool.State(ctx)
	}
	switch {
	case errors.Is(err, shared.ErrNoKey):
		return nil
	case err != nil:
		return err
	}
	s.Spent, s.Granted, s.Caps, s.Limits = &state.Spent, &state.Granted, state.Caps, state.Limits
	return nil
}

// buckets is a shared.KV.
type buckets struct{ kv jetstream.KeyValue }

// Get implements shared.KV.
func (b buckets) Get(ctx context.Context, key string) ([]byte, uint64, error) {
	e, err := b.kv.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, 0, shared.ErrNoKey
	}
	if err != nil {
		return nil, 0, err
	}
	return e.Value(), e.Revision(), nil
}

// Create implements shared.KV.
func (b buckets) Create(ctx context.Context, key string, value []byte) (uint64, error) {
	revision, err := b.kv.Create(ctx, key, value)
	return revision, conflict(err)
}

// Update implements shared.KV.
func (b buckets) Update(ctx context.Context, key string, value []byte, was uint64) (uint64, error) {
	revision, err := b.kv.Update(ctx, key, value, was)
	return revision, conflict(err)
}

// conflict tells apart that another change was first.
func conflict(err error) error {
	var api *jetstream.APIError
	if errors.Is(err, jetstream.ErrKeyExists) || errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return shared.ErrConflict
	}
	return err
}
