package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// scriptedModel answers chat requests and proposes the calls that their text names. The n-th
// request that says "fail N" fails while n is at most N, and "status N" always with that status.
type scriptedModel struct {
	asked  atomic.Int64
	mu     sync.Mutex
	failed map[string]int
}

// RoundTrip implements http.RoundTripper.
func (m *scriptedModel) RoundTrip(req *http.Request) (*http.Response, error) {
	m.asked.Add(1)
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var asked struct{ Messages []chatMessage }
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	text := asked.Messages[len(asked.Messages)-1].Content
	reply := func(status int, body string) (*http.Response, error) {
		return &http.Response{Status: http.StatusText(status), StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
			ContentLength: int64(len(body)), Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var times int
	if _, err := fmt.Sscanf(text, "fail %d", &times); err == nil {
		if m.failed[text]++; m.failed[text] <= times {
			return reply(http.StatusInternalServerError, `{"error":{"message":"later"}}`)
		}
	}
	var status int
	if _, err := fmt.Sscanf(text, "status %d", &status); err == nil {
		return reply(status, `{"error":{"message":"no"}}`)
	}
	message := chatMessage{Role: "assistant", Content: "reply to " + text}
	if _, calls, ok := strings.Cut(text, "calls "); ok {
		for i, args := range strings.Fields(calls) {
			c := chatCall{ID: fmt.Sprintf("call_%d_%d", m.asked.Load(), i), Type: "function"}
			c.Function.Name, c.Function.Arguments = "mcp__world__get_counts", args
			message.ToolCalls = append(message.ToolCalls, c)
		}
	}
	out, err := json.Marshal(map[string]any{"id": "x", "model": "m", "choices": []any{map[string]any{"message": message, "finish_reason": "stop"}},
		"usage": map[string]int{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
	if err != nil {
		return nil, err
	}
	return reply(http.StatusOK, string(out))
}

// scriptedForeign is an agent that does what a seed says, in an order that differs from one
// execution to the next: rounds of parallel model requests, some equal, some repeated after
// failures, then parallel tool calls, some equal; a question beside the last requests, which
// ends the episode; and calls after its end. executed counts the calls of tools that got a result.
func scriptedForeign(seed uint64, late *sync.WaitGroup, executed *atomic.Int64) func(context.Context, foreignStart) (string, error) {
	return func(ctx context.Context, s foreignStart) (string, error) {
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		plan := rand.New(rand.NewPCG(seed, uint64(len(s.Request))))
		rounds, last := 1+plan.IntN(3), plan.IntN(4)
		for round := range rounds {
			var calls []string
			for range plan.IntN(4) {
				calls = append(calls, fmt.Sprintf(`{"start_date":"2026-05-%02d","end_date":"2026-05-20"}`, 1+plan.IntN(3)))
			}
			var texts []string
			for range 1 + plan.IntN(4) {
				switch plan.IntN(3) {
				case 0:
					texts = append(texts, fmt.Sprintf("fail %d in round %d", 1+plan.IntN(2), round))
				case 1:
					texts = append(texts, "again and again")
				default:
					texts = append(texts, fmt.Sprintf("round %d of %d calls %s", round, plan.IntN(2), strings.Join(calls, " ")))
				}
			}
			question := ""
			if round == rounds-1 && last < 2 {
				question = []string{"cannot_proceed", "ask_user"}[last]
				texts, calls = append(texts, question), append(calls, "{}")
			}
			inParallel(texts, func(text string) {
				if text == question {
					_, _ = tools.CallTool(ctx, &mcp.CallToolParams{Name: text, Arguments: json.RawMessage(`{"question":"which?","reason":"none"}`)})
					return
				}
				for range 4 {
					if _, status, _ := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: text}}}); status != http.StatusInternalServerError {
						return
					}
				}
			})
			inParallel(calls, func(args string) {
				if res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: "get_counts", Arguments: json.RawMessage(args)}); err == nil && !res.IsError {
					executed.Add(1)
				}
			})
		}
		late.Add(1)
		go func() {
			defer late.Done()
			time.Sleep(50 * time.Millisecond)
			_, _, _ = foreignChat(context.Background(), s, map[string]any{"messages": []chatMessage{{Role: "user", Content: "late"}}})
			_, _ = tools.CallTool(context.Background(), &mcp.CallToolParams{Name: "get_counts", Arguments: map[string]any{}})
			_ = tools.Close()
		}()
		return "done", nil
	}
}

// inParallel calls f with every item, in any order.
func inParallel(items []string, f func(string)) {
	var wg sync.WaitGroup
	for _, i := range rand.Perm(len(items)) {
		wg.Go(func() { f(items[i]) })
	}
	wg.Wait()
}

// TestForeignAgentProperty: whatever a foreign agent does in whatever order, each model call is
// a turn and each executed tool call is a row, and the ledger of a recording is that of its
// replays, with the agent and without it.
func TestForeignAgentProperty(t *testing.T) {
	for seed := range uint64(testkit.SlowN(4, 12)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			var late sync.WaitGroup
			var executed atomic.Int64
			model := &scriptedModel{failed: map[string]int{}}
			o := foreignOptions(t, foreignService(t, scriptedForeign(seed, &late, &executed)), "G01", "G05")
			for i := range o.Suite.Tasks {
				o.Suite.Tasks[i].Budgets.MaxToolCalls, o.Suite.Tasks[i].Budgets.MaxSteps = 100, 100
			}
			o.Transport = func(string) http.RoundTripper { return model }
			recorded, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			late.Wait()
			rows := rowsOf(t, recorded)
			for _, e := range rows.Episodes {
				require.Contains(t, []string{"answered", "respond_error", "cannot_proceed", "clarify"}, e.Status, "%s: %s", e.ErrorKind, e.ErrorText)
			}
			require.Len(t, rows.Turns, int(model.asked.Load()))
			ran := int64(0)
			for _, c := range rows.ToolCalls {
				if c.Executed && c.Outcome == "ok" {
					ran++
				}
			}
			require.Equal(t, executed.Load(), ran)
			o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
			replayed, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, replayed)))
			o.WithAgent = true
			for range 2 {
				again, err := harness.Run(context.Background(), o)
				require.NoError(t, err)
				late.Wait()
				require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, again)))
			}
			require.Len(t, rows.Turns, int(model.asked.Load()), "a replay asks no model")
		})
	}
}

// TestForeignAgentCaps: the requests of many agents at the same time never pass a cap.
func TestForeignAgentCaps(t *testing.T) {
	var late sync.WaitGroup
	model := &scriptedModel{failed: map[string]int{}}
	o := foreignOptions(t, foreignService(t, scriptedForeign(3, &late, new(atomic.Int64))))
	o.Transport = func(string) http.RoundTripper { return model }
	o.Trials, o.Caps = 3, admission.Caps{Requests: 40}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	late.Wait()
	require.LessOrEqual(t, model.asked.Load(), int64(40))
	require.Equal(t, "partial", res.Manifest.Status)
	for _, e := range rowsOf(t, res).Episodes {
		require.NotEqual(t, "harness_error", e.Status, e.ErrorText)
	}
}
