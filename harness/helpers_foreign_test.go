package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/recorder"
)

const judgedForeignSuite = `
name: judged
candidates: [{name: a, provider: sim-openai, model: m}]
judges: [{name: tone, rubric: The answer greets., provider: openai, model: gpt-4o, max_tokens: 300}]
worlds: {may: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: may, budgets: {max_steps: 5, max_seconds: 30}}
tasks:
  - {id: T, request: Say hello, expect: {status: answered, judge: {name: tone, at_least: 0.5}}}
`

// A program is judged like every agent: the judge sees its answer, its cost is apart, and a replay
// asks neither.
func TestJudgeOfForeignProgram(t *testing.T) {
	t.Setenv(foreignChild, "1")
	o := foreignOptions(t, "")
	o.Suite = talkSuite(t, judgedForeignSuite)
	o.Candidates = []goldens.Candidate{{Name: "foreign", Agent: "external", Provider: "sim-openai", Model: "sim-strong", Settings: settings.Settings{Exec: settings.Exec{Command: []string{os.Args[0]}, Env: []string{foreignChild + "=1"}}}}}
	var judged []string
	o.Providers = all.Factories()
	o.Transport = func(provider string) http.RoundTripper {
		if provider != "openai" {
			return &scriptedModel{failed: map[string]int{}}
		}
		return testkit.Transport(func(r *http.Request) (*http.Response, error) {
			var body struct{ Messages []struct{ Content string } }
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				return nil, err
			}
			judged = append(judged, body.Messages[1].Content)
			return testkit.Reply(r, http.StatusOK, `{"model":"m","choices":[{"message":{"content":"{\"reason\":\"it greets\",\"score\":0.75,\"pass\":true}"},"finish_reason":"stop"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`), nil
		})
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	e := rows.Episodes[0]
	require.Empty(t, e.ErrorText)
	require.True(t, e.Solved, e.Checks)
	require.Len(t, judged, 1)
	require.Contains(t, judged[0], "The answer greets.")
	require.Contains(t, judged[0], strings.TrimSpace(e.Answer))
	require.EqualValues(t, 1, e.JudgeCalls)
	require.EqualValues(t, 100, *e.JudgeTokensIn)
	require.EqualValues(t, 1, e.Steps, "the judge's call is not a step")
	require.Equal(t, "it greets", e.Scores[0].Reason)
	require.Equal(t, "judge.tone", res.Manifest.Judges[0].Check)

	foreignReplays(t, o, rows)
	require.Len(t, judged, 1, "a replay asks no judge")
}

// The result of a program that judges an external agent is kept like that of every agent: a replay
// does not run the program, unless the agent is run again, whose answer may be another one.
func TestScoreOfForeignProgramIsKept(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("sh is not on this machine")
	}
	t.Setenv(foreignChild, "1")
	ran := filepath.Join(t.TempDir(), "ran")
	o := foreignOptions(t, "")
	o.Suite = talkSuite(t, strings.NewReplacer("judge: {name: tone, at_least: 0.5}",
		fmt.Sprintf(`score: {name: brief, exec: [sh, -c, 'cat >%[1]s.in && echo . >>%[1]s && echo "{\"score\": 0.75, \"reason\": \"brief\"}"'], at_least: 0.5}`, ran),
		"judges: [{name: tone, rubric: The answer greets., provider: openai, model: gpt-4o, max_tokens: 300}]\n", "").Replace(judgedForeignSuite))
	o.Suite.Tasks[0].Expect[0].Scores[0].Dir = filepath.Dir(ran) // the suite is in memory
	o.Candidates = []goldens.Candidate{{Name: "foreign", Agent: "external", Provider: "sim-openai", Model: "sim-strong", Settings: settings.Settings{Exec: settings.Exec{Command: []string{os.Args[0]}, Env: []string{foreignChild + "=1"}}}}}
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	times := func() int {
		text, err := os.ReadFile(ran)
		require.NoError(t, err)
		return strings.Count(string(text), ".")
	}
	run := func(mode recorder.Mode) ledger.Rows {
		o.Mode, o.Cassettes = mode, os.DirFS(o.CassetteDir)
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		rows := rowsOf(t, res)
		require.Empty(t, rows.Episodes[0].ErrorText)
		require.True(t, rows.Episodes[0].Solved, rows.Episodes[0].Checks)
		require.Equal(t, "brief", rows.Episodes[0].Scores[0].Reason)
		return rows
	}
	run(recorder.Live)
	require.Equal(t, 1, times())
	rows := run(recorder.Record)
	require.Equal(t, 2, times())
	require.Equal(t, withoutRun(rows), withoutRun(run(recorder.Replay)))
	require.Equal(t, 2, times(), "a replay takes the result from the cassette")
	o.WithAgent = true
	require.Equal(t, withoutRun(rows), withoutRun(run(recorder.Replay)))
	require.Equal(t, 3, times(), "the program judges what the agent answers now")
}

// A person at the terminal answers an external agent in place of the simulated user, whose model is
// not asked.
func TestForeignHumanInPlaceOfUser(t *testing.T) {
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		defer func() { _ = tools.Close() }()
		res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: "ask_user", Arguments: map[string]any{"question": "which ticket?"}})
		if err != nil {
			return "", err
		}
		said := strings.Trim(res.Content[0].(*mcp.TextContent).Text, `"`)
		_, _, err = foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: said}}})
		return "closed " + said, err
	}))
	o.Suite = talkSuite(t, strings.Replace(ticketSuite, "replies: [unused]", "user: {persona: In a hurry., goal: Close it., model: {provider: openai, model: gpt-4o}}", 1))
	o.Providers = all.Factories()
	asked := 0
	o.Transport = func(provider string) http.RoundTripper {
		if provider == "openai" {
			asked++
		}
		return &scriptedModel{failed: map[string]int{}}
	}
	o.Tools = map[string]episode.ToolFunc{}
	o.Human = func(context.Context, episode.Question) (episode.Answer, bool) {
		return episode.Answer{Text: "seven"}, true
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	e := rowsOf(t, res).Episodes[0]
	require.Empty(t, e.ErrorText)
	require.Equal(t, "closed seven", e.Answer)
	require.Zero(t, e.UserCalls)
	require.Zero(t, asked)
	require.Equal(t, []string{"seven"}, res.Answers[0].Replies)

	// What the person said is in replies.yaml. A replay with the user in the task says that nothing
	// on the cassette answers in its place.
	o.Human = nil
	replay := o
	replay.Mode, replay.Cassettes, replay.Runs = recorder.Replay, os.DirFS(o.CassetteDir), ""
	replayed, err := harness.Run(context.Background(), replay)
	require.NoError(t, err)
	lost := rowsOf(t, replayed).Episodes[0]
	require.Equal(t, "replay_miss", lost.ErrorKind, lost.ErrorText)
	require.Contains(t, lost.ErrorText, "user user: ")
}
