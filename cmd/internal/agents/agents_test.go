package agents

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

func TestInspect(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }))
	defer server.Close()
	lookup := func(name string) (string, bool) {
		if name == "SECRET" {
			return "s3cret", true
		}
		return os.LookupEnv(name)
	}
	for _, test := range []struct {
		name string
		s    external.Settings
		want []Line
	}{
		{"a command", external.Settings{Exec: external.Exec{Command: []string{"sh", "-c", "x"}}}, []Line{{"command", "sh -c x"}}},
		{"no command", external.Settings{Exec: external.Exec{Command: []string{"no-such-program"}, Env: []string{"NONE_OF_THESE"}}}, []Line{{"command", "exec.env needs the environment variable NONE_OF_THESE; set it, or take it out"}}},
		{"a service", external.Settings{
			HTTP: external.HTTP{URL: server.URL, Ready: external.Ready{URL: server.URL}}, Proxy: external.Proxy{Listen: "127.0.0.1:4100", TokenEnv: "SECRET"},
		}, []Line{{"service", server.URL + ", which answers"}, {"base URL", "http://127.0.0.1:4100/s/s3cret/v1"}, {"MCP", "http://127.0.0.1:4100/s/s3cret/mcp"}}},
		{"a service for containers", external.Settings{
			HTTP: external.HTTP{URL: server.URL}, Correlate: external.ByNothing, Proxy: external.Proxy{Listen: "0.0.0.0:4100", Advertise: "http://host.docker.internal:4100", TokenEnv: "NONE_OF_THESE"},
		}, []Line{
			{"service", server.URL + ", which answers"}, {"base URL", "NONE_OF_THESE is not set; set it to a secret of your own, such as 32 random letters"},
			{"in turn", "its episodes run one at a time, because correlate: none leaves nothing to tell their requests apart"},
			{"warning", "programs outside of this machine may reach the model proxy at http://host.docker.internal:4100"},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			require.Equal(t, test.want, Inspect(t.Context(), test.s, lookup, nil))
		})
	}
	require.Regexp(t, `^(, Python 3\.|, but python3 --version fails: )`, version(t.Context(), "python3"))
	require.Empty(t, version(t.Context(), "sh"))
}

func TestWarn(t *testing.T) {
	open := external.Settings{Proxy: external.Proxy{Listen: "0.0.0.0:4100", Advertise: "http://host.docker.internal:4100"}}
	o := harness.Options{}
	o.Candidates = []goldens.Candidate{
		{Name: "mine", Agent: strategy.External, Settings: open}, {Name: "local", Agent: strategy.External}, {Name: "theirs", Agent: strategy.External, Settings: open},
	}
	warned := func(mode recorder.Mode, withAgent bool, selected ...string) string {
		var b bytes.Buffer
		o.Mode, o.WithAgent, o.Select.Candidates = mode, withAgent, selected
		Warn(&b, o)
		return b.String()
	}
	const why = ": programs outside of this machine may reach the model proxy at http://host.docker.internal:4100\n"
	require.Equal(t, "warning: candidate mine"+why+"warning: candidate theirs"+why, warned(recorder.Record, false))
	require.Equal(t, "warning: candidate mine"+why, warned(recorder.Live, false, "m*", "local"))
	require.Equal(t, "warning: candidate theirs"+why, warned(recorder.Replay, true, "theirs"))
	require.Empty(t, warned(recorder.Replay, false))
}
