package natsstore

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/admission/shared"
	"github.com/cupel-eval/cupel/harness/store"
	"github.com/cupel-eval/cupel/harness/store/storetest"
)

// start starts a server in the process, and returns connections to it.
func start(t *testing.T, o server.Options) (*server.Server, func() jetstream.JetStream) {
	t.Helper()
	o.Host, o.Port, o.JetStream, o.StoreDir, o.NoLog, o.NoSigs = "127.0.0.1", server.RANDOM_PORT, true, t.TempDir(), true, true
	s, err := server.NewServer(&o)
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(10*time.Second))
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	return s, func() jetstream.JetStream {
		c, err := nats.Connect(s.ClientURL())
		require.NoError(t, err)
		t.Cleanup(c.Close)
		js, err := jetstream.New(c)
		require.NoError(t, err)
		return js
	}
}

func TestContract(t *testing.T) {
	_, connect := start(t, server.Options{})
	n := 0
	storetest.Run(t, func(t *testing.T) func() store.Store {
		n++
		name := fmt.Sprint("store", n)
		return func() store.Store {
			s, err := Open(t.Context(), connect(), name)
			require.NoError(t, err)
			return s
		}
	})
	s, err := Open(t.Context(), connect(), "probe")
	require.NoError(t, err)
	require.NoError(t, store.Probe(t.Context(), s))
}

func TestKV(t *testing.T) {
	_, connect := start(t, server.Options{})
	bucket, err := connect().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "limits"})
	require.NoError(t, err)
	kv := KV(bucket)
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
	_, connect := start(t, server.Options{})
	bucket, err := connect().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "limits"})
	require.NoError(t, err)
	caps := admission.Caps{Requests: 50}
	_, err = shared.Create(t.Context(), KV(bucket), "night", shared.Config{Identity: "plan", Caps: caps})
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for range 4 {
		kv, err := connect().KeyValue(t.Context(), "limits")
		require.NoError(t, err)
		pool, err := shared.Open(t.Context(), KV(kv), "night", "plan")
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

func TestFailures(t *testing.T) {
	s, connect := start(t, server.Options{})
	js := connect()
	objects, err := Open(t.Context(), js, "store")
	require.NoError(t, err)
	_, err = js.UpdateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "store", MaxBytes: 100_000})
	require.NoError(t, err)
	_, err = objects.Put(t.Context(), "big", strings.NewReader(strings.Repeat("x", 300_000)), store.None)
	require.ErrorIs(t, err, store.ErrFull)
	require.ErrorContains(t, err, "put big: the store is full")
	_, _, err = objects.Get(t.Context(), "big")
	require.ErrorIs(t, err, store.ErrNotFound)

	s.Shutdown()
	s.WaitForShutdown()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err = objects.Put(ctx, "a", strings.NewReader("x"), store.None)
	require.ErrorIs(t, err, store.ErrUnavailable)
	_, err = KV(objects.(*bucket).names).Update(ctx, "a", nil, 1)
	require.ErrorIs(t, err, store.ErrUnavailable)
}
