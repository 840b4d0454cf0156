package natsfleet_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/fleet"
	"github.com/cupel-eval/cupel/harness/fleet/natsfleet"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// Credentials that may only read an existing queue cannot begin a run, and the message says why.
func TestReadOnlyQueue(t *testing.T) {
	testkit.Slow(t) // it waits for an answer
	t.Parallel()
	may := func(allow ...string) *server.Permissions {
		return &server.Permissions{Publish: &server.SubjectPermission{Allow: allow}}
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
		Users: []*server.User{
			{Username: "writer", Password: "secret-of-the-writer"},
			{Username: "reader", Password: "secret-of-the-reader", Permissions: may("$JS.API.INFO", "$JS.API.STREAM.INFO.>", "$JS.API.STREAM.MSG.GET.>", "$JS.API.DIRECT.GET.>", "$JS.API.CONSUMER.>")},
		},
	})
	require.NoError(t, err)
	go s.Start()
	require.True(t, s.ReadyForConnections(10*time.Second))
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	log := &said{}
	as := func(user string) fleet.Queue {
		q, err := natsfleet.Service{}.Dial(context.Background(), fleet.Access{URL: s.ClientURL(), Name: "test", User: user, Password: "secret-of-the-" + user, Say: log.say})
		require.NoError(t, err)
		t.Cleanup(func() { _ = q.Close() })
		return q
	}
	as("writer")
	reader := as("reader")
	_, err = reader.Status(context.Background())
	require.NoError(t, err, "it may read")

	o := options(t, "strong")
	lead := reader.Coordinate(fleet.CoordinateOptions{Lease: 2 * time.Second})
	o.Executor = lead
	_, err = harness.Run(context.Background(), o)
	require.ErrorContains(t, err, "credentials may not")
	require.Contains(t, log.String(), "Permissions Violation for Publish")
	require.NotContains(t, err.Error()+log.String(), "secret-of-the")
}
