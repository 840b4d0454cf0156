package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// ticketSuite has a tool that writes, which a Go function runs.
const ticketSuite = `
name: tickets
candidates: [{name: a, provider: sim-openai, model: m}]
tools:
  - {name: close_ticket, description: Closes one., write: true, schema: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}}
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 5, max_seconds: 30}}
tasks:
  - {id: T, request: Close it, replies: [unused], expect: {status: answered}}
`

// ticketAgent asks which ticket is meant, and closes it twice.
func ticketAgent(ctx context.Context, s foreignStart) (string, error) {
	tools, err := foreignTools(ctx, s)
	if err != nil {
		return "", err
	}
	defer func() { _ = tools.Close() }()
	said := ""
	call := func(name string, args map[string]any) error {
		res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
		if err == nil {
			said = res.Content[0].(*mcp.TextContent).Text
			_, _, err = foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: said}}})
		}
		return err
	}
	if err := call("ask_user", map[string]any{"question": "which ticket?"}); err != nil {
		return "", err
	}
	id := strings.Trim(said, `"`)
	return "done: " + id, errors.Join(call("close_ticket", map[string]any{"id": id}), call("close_ticket", map[string]any{"id": id}))
}

func ticketOptions(t *testing.T, agent func(context.Context, foreignStart) (string, error)) (harness.Options, *atomic.Int64) {
	t.Helper()
	o, ran := foreignOptions(t, foreignService(t, agent)), new(atomic.Int64)
	o.Suite = talkSuite(t, ticketSuite)
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	o.Tools = map[string]episode.ToolFunc{"close_ticket": func(_ context.Context, c tool.Call, _ episode.CallInfo) (tool.Result, error) {
		if n := ran.Add(1); n > 1 {
			return tool.Result{Outcome: tool.Error, Code: "E_CLOSED", Message: fmt.Sprint("closed before, ", n)}, nil
		}
		return tool.Result{Outcome: tool.OK, Value: c.Args, Duration: 70 * time.Millisecond}, nil
	}}
	return o, ran
}

// foreignReplays requires the rows of both kinds of a replay to be those of a recording.
func foreignReplays(t *testing.T, o harness.Options, rows ledger.Rows) {
	t.Helper()
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	for _, o.WithAgent = range []bool{false, true} {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)), "with the agent: %t", o.WithAgent)
	}
}

// TestForeignHuman: a person answers the questions of a foreign agent, and approves its calls,
// while no time passes. With what the person said in the task, a replay has the same rows; it
// runs no Go function.
func TestForeignHuman(t *testing.T) {
	o, ran := ticketOptions(t, ticketAgent)
	var asked []string
	o.Human = func(_ context.Context, q episode.Question) (episode.Answer, bool) {
		time.Sleep(300 * time.Millisecond)
		asked = append(asked, q.String())
		return episode.Answer{Text: "seven", Approved: len(asked) == 2}, true
	}
	for i := range o.Suite.Tasks {
		o.Suite.Tasks[i].Budgets.MaxTime = 800 * time.Millisecond
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	e := rows.Episodes[0]
	require.Equal(t, "answered_after_clarify", e.Status, "%s %s", e.StopReason, e.ErrorText)
	require.Equal(t, "done: seven", e.Answer)
	require.Equal(t, []string{"which ticket?", `Allow close_ticket with arguments {"id":"seven"}?`, `Allow close_ticket with arguments {"id":"seven"}?`}, asked)
	require.Equal(t, []string{"ok", "rejected"}, []string{rows.ToolCalls[0].Outcome, rows.ToolCalls[1].Outcome})
	require.Equal(t, int64(1), ran.Load())
	require.Equal(t, []episode.Answers{{Task: "T", Candidate: "foreign", Trial: 1, Replies: []string{"seven"}, Approvals: []bool{true, false}}}, res.Answers)

	o.Human = func(context.Context, episode.Question) (episode.Answer, bool) { panic("a replay has no person") }
	o.Suite.Tasks[0].Replies, o.Suite.Tasks[0].Approvals = res.Answers[0].Replies, res.Answers[0].Approvals
	foreignReplays(t, o, rows)
	require.Equal(t, int64(1), ran.Load())

	o.Suite.Tasks[0].Replies = []string{"eight"}
	o.Mode, o.Cassettes, o.Runs = recorder.Replay, os.DirFS(o.CassetteDir), ""
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Contains(t, rowsOf(t, res).Episodes[0].ErrorText, "call 1, of ask_user, answered seven when it was recorded and eight now")
}

// TestForeignGoTools: the results of Go functions, of which equal calls differ, are those of the
// recording, and a function that breaks ends the episode.
func TestForeignGoTools(t *testing.T) {
	o, ran := ticketOptions(t, ticketAgent)
	o.Suite.Tasks[0].Replies, o.Suite.Tasks[0].Approvals = []string{"seven"}, []bool{true, true}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered_after_clarify", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	require.Len(t, rows.ToolCalls, 2)
	require.Equal(t, []string{"ok", "", "error", "E_CLOSED"}, []string{rows.ToolCalls[0].Outcome, rows.ToolCalls[0].ErrorCode, rows.ToolCalls[1].Outcome, rows.ToolCalls[1].ErrorCode})
	foreignReplays(t, o, rows)
	require.Equal(t, int64(2), ran.Load(), "a replay runs no function")

	o, _ = ticketOptions(t, ticketAgent)
	o.Suite.Tasks[0].Replies, o.Suite.Tasks[0].Approvals = []string{"seven"}, []bool{true, true}
	o.Tools["close_ticket"] = func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
		return tool.Result{}, errors.New("the table of tickets is locked")
	}
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	e := rowsOf(t, res).Episodes[0]
	require.Equal(t, "harness_error", e.Status)
	require.Contains(t, e.ErrorText, "the table of tickets is locked")
}

// TestForeignLive: a live run has the rows of a recording, but for its times, and writes no
// recording.
func TestForeignLive(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	o := foreignOptions(t, foreignService(t, simpleForeign), "G01", "G05", "G30")
	o.Candidates[0].Model = "sim-oracle"
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.CassetteDir, o.Cassettes = recorder.Live, "", nil
	live, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, "complete", live.Manifest.Status)
	was, is := rowsOf(t, recorded), rowsOf(t, live)
	require.Equal(t, episodeFacts(t, was), episodeFacts(t, is))
	require.Len(t, is.Turns, len(was.Turns))
	require.Len(t, is.ToolCalls, len(was.ToolCalls))
	for _, e := range is.Episodes {
		require.True(t, e.Solved, "%s: %s", e.TaskID, e.ErrorText)
		require.False(t, e.Replayed)
		require.Positive(t, *e.ElapsedUs)
	}
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	for _, d := range left {
		require.NotContains(t, d.Name(), "cupel-live-", "what a live run keeps for its rows is removed")
	}
}

// episodeFacts are the columns of episodes without times and digests.
func episodeFacts(t *testing.T, rows ledger.Rows) (facts []string) {
	t.Helper()
	for _, e := range rows.Episodes {
		text, err := json.Marshal([]any{e.TaskID, e.Status, e.Solved, e.Answer, e.Steps, e.ToolCalls, e.Clarifies, e.Tokens, e.CostNanoUSD})
		require.NoError(t, err)
		facts = append(facts, string(text))
	}
	return facts
}

// TestForeignUser: a simulated user answers the questions of a foreign agent while it acts. Its requests
// are recorded once; the rows and a replay, with the agent or without it, have its answer and its cost.
func TestForeignUser(t *testing.T) {
	o, _ := ticketOptions(t, ticketAgent)
	o.Suite = talkSuite(t, strings.Replace(ticketSuite, "replies: [unused]",
		"approvals: [approve, approve], user: {persona: Busy., goal: Less tickets., facts: {ticket: seven}, model: {provider: sim-anthropic, model: sim-oracle}}", 1))
	models, asked := testkit.Handled(sim.Handler(sim.Config{})), new(atomic.Int64)
	o.Transport = func(provider string) http.RoundTripper {
		if provider != "sim-anthropic" {
			return &scriptedModel{failed: map[string]int{}}
		}
		return testkit.Transport(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			return models(r)
		})
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	e := rows.Episodes[0]
	require.Equal(t, "answered_after_clarify", e.Status, "%s %s", e.StopReason, e.ErrorText)
	require.Equal(t, "done: The ticket is seven.", e.Answer)
	require.EqualValues(t, 1, e.UserCalls)
	require.Positive(t, *e.UserCostNanoUSD)
	require.Empty(t, e.UserFaults)
	require.EqualValues(t, 1, asked.Load())
	foreignReplays(t, o, rows)
	require.EqualValues(t, 1, asked.Load(), "a replay makes no request")

	o.Mode, o.CassetteDir = recorder.Live, ""
	res, err = harness.Run(context.Background(), o)
	require.NoError(t, err)
	live := rowsOf(t, res).Episodes[0]
	require.Equal(t, []any{e.Answer, e.UserCalls, *e.UserTokensIn}, []any{live.Answer, live.UserCalls, *live.UserTokensIn}, live.ErrorText)
	require.EqualValues(t, 2, asked.Load(), "once, while the agent acted")
}
