package natsfleet_test

import (
	"context"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/admission/shared"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
)

// jetStream starts a queue, and returns connections to its JetStream.
func jetStream(t *testing.T) func() jetstream.JetStream {
	url, _ := serve(t, fleet.ServeOptions{Listen: "127.0.0.1:0", Dir: t.TempDir()})
	return func() jetstream.JetStream {
		c, err := nats.Connect(url)
		require.NoError(t, err)
		t.Cleanup(c.Close)
		js, err := jetstream.New(c)
		require.NoError(t, err)
		return js
	}
}

func TestKV(t *testing.T) {
	connect := jetStream(t)
	bucket, err := connect().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "limits"})
	require.NoError(t, err)
	kv := natsfleet.KV(bucket)
	_, _, err = kv.Get(t.Context(), "night")
	require.ErrorIs(t, err, shared.ErrNoKey)
	first, err := kv.Create(t.Context(), "night", []byte("a"))
	require.NoError(t, err)
	_, err = kv.Create(t.Context(), "night", []byte("b"))
	require.ErrorIs(t, err, shared.ErrConflict)
	second, err := kv.Update(t.Context(), "night", []byte("b"), first)
	require.NoError(t, err)
	_, err = kv.Update(t.Context(), "night", []byte("c"), first)
	require.ErrorIs(t, err, shared.ErrConflict)
	value, revision, err := kv.Get(t.Context(), "night")
	require.NoError(t, err)
	require.Equal(t, "b", string(value))
	require.Equal(t, second, revision)
}

// Processes that share a cap through JetStream stay below it.
func TestSharedLimits(t *testing.T) {
	connect := jetStream(t)
	bucket, err := connect().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "limits"})
	require.NoError(t, err)
	caps := admission.Caps{Requests: 50}
	_, err = shared.Create(t.Context(), natsfleet.KV(bucket), "night", shared.Config{Identity: "plan", Caps: caps})
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for range 4 {
		kv, err := connect().KeyValue(t.Context(), "limits")
		require.NoError(t, err)
		pool, err := shared.Open(t.Context(), natsfleet.KV(kv), "night", "plan")
		require.NoError(t, err)
		m := pool.Member(shared.Options{})
		c := admission.New(admission.Options{Caps: caps, Shared: true, Wanted: m.Wanted})
		leave, err := m.Join(c, "")
		require.NoError(t, err)
		wg.Go(func() {
			for {
				p, err := c.Lane("p", "k").Acquire(context.Background(), admission.Request{})
				if err != nil {
					break
				}
				mu.Lock()
				sent++
				mu.Unlock()
				p.Done(admission.Result{})
			}
			if err := leave(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Equal(t, 50, sent)
}
