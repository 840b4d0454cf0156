package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/harness"
)

// sayHello asks a model once.
func sayHello(ctx context.Context, s foreignStart) (string, error) {
	m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
	return m.Content, err
}

// TestForeignAgentMisusesTools: calls that cannot be carried out are answered with the reason, and
// the episode continues. Those of a tool of the task are rows that were not executed.
func TestForeignAgentMisusesTools(t *testing.T) {
	var said []string
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		for _, c := range []struct{ name, args string }{
			{"drop_tables", `{}`}, {"get_counts", `{"start_date":5}`}, {"get_counts", `[]`},
			{"get_counts", `{"start_date":"2026-05-10","end_date":"2026-05-10","label":"angry"}`},
		} {
			res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: c.name, Arguments: json.RawMessage(c.args)})
			if err != nil {
				said = append(said, err.Error())
				continue
			}
			said = append(said, fmt.Sprint(res.IsError, res.Content[0].(*mcp.TextContent).Text))
		}
		answer, err := sayHello(ctx, s)
		return answer, errors.Join(err, tools.Close())
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	require.Len(t, said, 4)
	require.Contains(t, said[0], `unknown tool "drop_tables"`)
	require.Contains(t, said[1], "true")
	require.Contains(t, said[1], "E_ARGS")
	require.Contains(t, said[2], "the arguments of get_counts must be an object")
	require.Contains(t, said[3], "338")
	require.Len(t, rows.ToolCalls, 2)
	require.Equal(t, []any{"rejected", "E_ARGS", false, "ok", true}, []any{
		rows.ToolCalls[0].Outcome, rows.ToolCalls[0].ErrorCode, rows.ToolCalls[0].Executed, rows.ToolCalls[1].Outcome, rows.ToolCalls[1].Executed,
	})
}

// TestForeignAgentKeepsItsURL: a service that keeps the URL of its first episode reaches nothing
// with it in a later one, which has no result and says why.
func TestForeignAgentKeepsItsURL(t *testing.T) {
	var first atomic.Pointer[foreignStart]
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		first.CompareAndSwap(nil, &s)
		_, status, _ := foreignChat(ctx, *first.Load(), map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
		return fmt.Sprint(status), nil
	}), "G01", "G05")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	o.Concurrency = 1
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Len(t, rows.Turns, 1)
	require.Equal(t, []string{"answered", "200"}, []string{rows.Episodes[0].Status, rows.Episodes[0].Answer})
	require.Equal(t, "harness_error", rows.Episodes[1].Status)
	require.Contains(t, rows.Episodes[1].ErrorText, "no model request of the agent reached the proxy: does it read its base URL")
}

// TestForeignAgentCallsHosts: the other hosts that a command tries to reach are in the row.
func TestForeignAgentCallsHosts(t *testing.T) {
	o := foreignOptions(t, "http://127.0.0.1:1/", "G01")
	o.Candidates[0].Settings = settings.Settings{Exec: settings.Exec{Command: []string{os.Args[0]}, Env: []string{foreignChild + "=https://telemetry.example/v1"}}}
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	e := rowsOf(t, res).Episodes[0]
	require.Equal(t, "answered", e.Status, e.ErrorText)
	require.Equal(t, []string{"telemetry.example"}, e.Hosts)
}
