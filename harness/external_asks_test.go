package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// TestForeignAgentAsksAgain: an agent whose library asks the model again after it gave up, or
// after a question that nobody answered, ends where cupel's own agents do. What it does
// afterwards is refused, and is in no row.
func TestForeignAgentAsksAgain(t *testing.T) {
	ask := func(ctx context.Context, s foreignStart, text string) (int, error) {
		_, status, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: text}}})
		return status, err
	}
	call := func(ctx context.Context, tools *mcp.ClientSession, name, args string) string {
		res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(args)})
		if err != nil {
			return err.Error()
		}
		return res.Content[0].(*mcp.TextContent).Text
	}
	const counts = `{"start_date":"2026-05-04","end_date":"2026-05-04"}`
	var order atomic.Bool // of what the agent does in parallel
	order.Store(true)
	for _, c := range []struct {
		name, status, answer string
		tools                int
		agent                func(context.Context, foreignStart, *mcp.ClientSession) (string, error)
	}{
		{"gives up", "cannot_proceed", "no data", 0, func(ctx context.Context, s foreignStart, tools *mcp.ClientSession) (string, error) {
			if said := call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`); !strings.Contains(said, "end here") {
				return "", errors.New(said)
			}
			_, err := ask(ctx, s, "and now?")
			return "sorry", err
		}},
		{"asks without an answer", "clarify", "which day?", 0, func(ctx context.Context, s foreignStart, tools *mcp.ClientSession) (string, error) {
			_ = call(ctx, tools, "ask_user", `{"question":"which day?"}`)
			status, err := ask(ctx, s, "and now?")
			if status != http.StatusBadRequest || !strings.Contains(err.Error(), "the episode has ended") {
				return "", nil
			}
			<-ctx.Done() // it is stopped
			return "", ctx.Err()
		}},
		{"gives up and answers", "cannot_proceed", "no data", 0, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
			return "sorry", nil
		}},
		{"gives up and fails", "cannot_proceed", "no data", 0, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
			return "", errors.New("broken")
		}},
		{"gives up and never ends", "cannot_proceed", "no data", 0, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
			<-ctx.Done()
			return "", ctx.Err()
		}},
		{"gives up beside a call", "cannot_proceed", "no data", 0, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			if order.Load() {
				_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
				_ = call(ctx, tools, "get_counts", counts)
			} else {
				_ = call(ctx, tools, "get_counts", counts)
				_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
			}
			return "sorry", nil
		}},
		{"calls, and gives up", "cannot_proceed", "no data", 1, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			if order.Load() {
				_ = call(ctx, tools, "get_counts", counts)
				_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
			} else {
				_ = call(ctx, tools, "cannot_proceed", `{"reason":"no data"}`)
				_ = call(ctx, tools, "get_counts", counts)
			}
			return "sorry", nil
		}},
		{"gives up for no reason", "respond_error", "sorry", 1, func(ctx context.Context, _ foreignStart, tools *mcp.ClientSession) (string, error) {
			if said := call(ctx, tools, "cannot_proceed", `{"reason":""}`); !strings.Contains(said, "args.reason must be a text") {
				return "", errors.New(said)
			}
			return "sorry", nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "asks without an answer" || c.name == "gives up and never ends" {
				t.Parallel() // they wait, and have no order
			}
			order.Store(true)
			o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
				tools, err := foreignTools(ctx, s)
				if err != nil {
					return "", err
				}
				defer func() { _ = tools.Close() }()
				if _, err := ask(ctx, s, "hello"); err != nil {
					return "", err
				}
				return c.agent(ctx, s, tools)
			}), "G01")
			o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
			begun := time.Now()
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			rows := rowsOf(t, res)
			e := rows.Episodes[0]
			require.Equal(t, []string{c.status, c.answer}, []string{e.Status, e.Answer}, e.ErrorText)
			require.Empty(t, e.ErrorText)
			require.Equal(t, int32(1), e.Steps)
			require.Len(t, rows.Turns, 1)
			require.Len(t, rows.ToolCalls, c.tools)
			o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
			for _, parallel := range []bool{true, false} {
				order.Store(parallel)
				for _, o.WithAgent = range []bool{false, true} {
					res, err := harness.Run(context.Background(), o)
					require.NoError(t, err)
					require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
				}
			}
			require.Less(t, time.Since(begun), 40*time.Second, "the agent is stopped, long before max_seconds")
		})
	}
}

// TestForeignAgentGivesUpAlone: an agent that gives up without a model may not have found it.
func TestForeignAgentGivesUpAlone(t *testing.T) {
	res, err := harness.Run(context.Background(), foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		_, err = tools.CallTool(ctx, &mcp.CallToolParams{Name: "cannot_proceed", Arguments: json.RawMessage(`{"reason":"no model"}`)})
		return "sorry", errors.Join(err, tools.Close())
	}), "G01"))
	require.NoError(t, err)
	e := rowsOf(t, res).Episodes[0]
	require.Equal(t, "harness_error", e.Status)
	require.Contains(t, e.ErrorText, "no model request of the agent reached the proxy")
}

// TestForeignAgentAsksSimulated: with a model that knows the answers, tasks which end with a
// question or by giving up are solved, although their bounds allow no step more.
func TestForeignAgentAsksSimulated(t *testing.T) {
	o := foreignOptions(t, foreignService(t, simpleForeign), "G30", "C51")
	o.Candidates[0].Model = "sim-oracle"
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Len(t, rows.Episodes, 2)
	for _, e := range rows.Episodes {
		require.True(t, e.Solved, "%s: %s %s: %s", e.TaskID, e.Status, e.StopReason, e.ErrorText)
	}
}

// TestForeignAgentCancels: a request that the agent cancels is paid for, is a turn, and counts as
// asked in a replay in which the agent does without it.
func TestForeignAgentCancels(t *testing.T) {
	var without atomic.Bool
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		if !without.Load() {
			inner, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, _, err := foreignChat(inner, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "a title"}}})
			if err == nil {
				return "", errors.New("the title came before it was cancelled")
			}
			time.Sleep(700 * time.Millisecond) // the reply comes while the episode continues
		}
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: s.Request}}})
		return m.Content, err
	}), "G01")
	model := &scriptedModel{failed: map[string]int{}}
	o.Transport = func(string) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := model.RoundTrip(req)
			if model.asked.Load() == 1 {
				time.Sleep(300 * time.Millisecond)
			}
			return resp, err
		})
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	require.Len(t, rows.Turns, 2)
	require.Equal(t, int64(20), *rows.Episodes[0].In, "both were paid for")
	o.Mode, o.Cassettes, o.WithAgent = recorder.Replay, os.DirFS(o.CassetteDir), true
	without.Store(true)
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
}
