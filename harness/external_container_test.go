package harness_test

import (
	"context"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// freeAddress is an address of this machine that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, free.Close())
	return free.Addr().String()
}

// TestForeignContainer: agents get the advertised URL, by which they reach models and tools, and
// another address of the proxy is no difference in a replay.
func TestForeignContainer(t *testing.T) {
	var base atomic.Value
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		base.Store(s.Base + " " + s.MCP)
		s.Request += " at " + s.Base
		return simpleForeign(ctx, s)
	}), "G01")
	name := func(at string) string { return "http://" + strings.Replace(at, "127.0.0.1", "localhost", 1) }
	at := freeAddress(t)
	o.Candidates[0].Proxy = settings.Proxy{Listen: at, Advertise: name(at)}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	got, _ := base.Load().(string)
	require.Regexp(t, `^`+name(at)+`/e/[0-9a-f]{32} `+name(at)+`/e/[0-9a-f]{32}/mcp$`, got)

	other := freeAddress(t)
	o.Candidates[0].Proxy = settings.Proxy{Listen: other, Advertise: name(other)}
	o.Mode, o.Cassettes, o.WithAgent, o.Runs = recorder.Replay, os.DirFS(o.CassetteDir), true, ""
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	again := rowsOf(t, res).Episodes[0]
	require.Equal(t, []string{"answered", rows.Episodes[0].Answer}, []string{again.Status, again.Answer}, again.ErrorText)
}

// TestForeignStable: a service that reads its base URL once is told its episodes apart by the
// key or the trace of each request, also while several act.
func TestForeignStable(t *testing.T) {
	at := freeAddress(t)
	for _, correlate := range []string{settings.ByKey, settings.ByTraceparent, settings.ByNothing} {
		var most, acting atomic.Int64
		o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
			most.Store(max(most.Load(), acting.Add(1)))
			defer acting.Add(-1)
			s.Base = "http://" + at + "/s/a-secret-of-the-user"
			s.MCP, s.OnlyTrace = s.Base+"/mcp", correlate == settings.ByTraceparent
			if correlate == settings.ByNothing {
				s.Key = "none"
			}
			return simpleForeign(ctx, s)
		}), "G01", "G02", "G05")
		o.LookupEnv = func(name string) (string, bool) { return "a-secret-of-the-user", name == "SECRET" }
		o.Candidates[0].Proxy, o.Candidates[0].Correlate = settings.Proxy{Listen: at, TokenEnv: "SECRET"}, correlate
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		for _, e := range rowsOf(t, res).Episodes {
			require.Equal(t, "answered", e.Status, "%s %s: %s", correlate, e.TaskID, e.ErrorText)
			require.True(t, e.Solved, "%s %s: of another episode", correlate, e.TaskID)
		}
		if correlate == settings.ByNothing {
			require.Equal(t, int64(1), most.Load(), "one episode at a time")
		}
	}
}
