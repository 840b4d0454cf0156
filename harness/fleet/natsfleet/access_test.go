package natsfleet_test

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// A queue whose certificate has an unknown authority is not trusted, and the message says how it is.
func TestUnknownAuthority(t *testing.T) {
	t.Parallel()
	other := httptest.NewTLSServer(nil) // for its certificate
	t.Cleanup(other.Close)
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true, TLSConfig: &tls.Config{Certificates: other.TLS.Certificates}})
	require.NoError(t, err)
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	require.True(t, s.ReadyForConnections(30*time.Second))
	for _, scheme := range []string{"tls://", "nats://"} {
		_, err = natsfleet.Service{}.Dial(context.Background(), fleet.Access{URL: scheme + s.Addr().String(), Name: "test"})
		require.ErrorContains(t, err, "write its address as tls://HOST:PORT, and name the file of that authority with --queue-ca")
	}
	ca := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate().Raw}), 0o600))
	q, err := natsfleet.Service{}.Dial(context.Background(), fleet.Access{URL: "tls://" + s.Addr().String(), Name: "test", CA: ca})
	require.NoError(t, err)
	require.NoError(t, q.Close())
}
