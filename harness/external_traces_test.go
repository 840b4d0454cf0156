package harness_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// TestForeignTraces: what an agent's traces tell is in the row and the transcript of its episode, in
// a recording and in replays. Nothing of it counts twice, and bad traces harm nothing.
func TestForeignTraces(t *testing.T) {
	const traces = `{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}`
	span := func(id int, attributes ...string) string {
		var list []string
		for i := 0; i < len(attributes); i += 2 {
			list = append(list, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, attributes[i], attributes[i+1]))
		}
		return fmt.Sprintf(`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b1%02x","name":"x","kind":3,"startTimeUnixNano":"5","endTimeUnixNano":"6","attributes":[%s]}`, id, strings.Join(list, ","))
	}
	send := func(t *testing.T, s foreignStart, body string) int {
		resp, err := http.Post(s.Base+"/v1/traces", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.StatusCode
	}
	plain := func(ctx context.Context, s foreignStart) (string, error) {
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
		return m.Content, err
	}
	traced := func(ctx context.Context, s foreignStart) (string, error) {
		require.Equal(t, 200, send(t, s, fmt.Sprintf(traces, strings.Join([]string{
			span(1, "gen_ai.operation.name", "chat", "gen_ai.usage.input_tokens", "1000", "server.address", "127.0.0.1"),
			span(2, "gen_ai.operation.name", "chat", "server.address", "api.example.com"),
			span(3, "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "search", "gen_ai.agent.name", "clerk"),
			span(4, "gen_ai.operation.name", "execute_tool", "gen_ai.tool.name", "mcp__world__get_counts"),
			span(5, "gen_ai.agent.name", "sk-ant-api03-"+strings.Repeat("abcdEFGH0123", 8), "url.full", s.Base+"/x"),
		}, ","))))
		require.Equal(t, 400, send(t, s, "{"))
		return plain(ctx, s)
	}
	var without harness.Result
	for i, agent := range []func(context.Context, foreignStart) (string, error){plain, traced} {
		o := foreignOptions(t, foreignService(t, agent), "G01")
		o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
		var said []string
		o.Traced = func(_ ledger.EpisodeRows, list []episode.Trace) {
			for _, tr := range list {
				if tr.Update != nil {
					said = append(said, tr.Update.Status)
				}
			}
		}
		recorded, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		if i == 0 {
			without = recorded
			require.Empty(t, said)
			continue
		}
		rows := rowsOf(t, recorded)
		require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
		require.Equal(t, []string{"api.example.com"}, rows.Episodes[0].Hosts)
		require.Equal(t, rowsOf(t, without).Episodes[0].In, rows.Episodes[0].In)
		require.Len(t, rows.Turns, 1)
		require.Equal(t, []string{
			"tried to reach other hosts: api.example.com", "spans and log records in its traces: 5, of clerk, [secret]",
			"calls of models in its traces, beyond those at the proxy: 1", "ran tools of its own: search",
			"requests with traces that could not be read: 1, the first: near byte 1: the JSON ends early: the file was cut",
		}, said)
		for _, o.WithAgent = range []bool{false, true} {
			said, o.Mode, o.Cassettes = nil, recorder.Replay, os.DirFS(o.CassetteDir)
			replayed, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, replayed)))
			require.Len(t, said, 5)
		}
	}
}
