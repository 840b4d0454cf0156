package natsstore

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

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

func TestFailures(t *testing.T) {
	s, connect := start(t, server.Options{})
	js := connect()
	_, err := Open(t.Context(), js, "store")
	require.NoError(t, err)
	_, err = js.UpdateObjectStore(t.Context(), jetstream.ObjectStoreConfig{Bucket: "store", MaxBytes: 100_000})
	require.NoError(t, err)
	objects, err := Open(t.Context(), js, "store")
	require.NoError(t, err, "with the settings that it has got")
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
}
