package harness_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder"
)

func TestTranscriptShowsEachPromptLineOnce(t *testing.T) {
	o := countsOptions(t)
	o.Select = harness.Selection{Tasks: []string{"G39"}, Candidates: []string{"strong"}}
	rows, traces, err := harness.Replay(context.Background(), o, 1)
	require.NoError(t, err)
	require.True(t, rows.Episode.Solved)
	var b strings.Builder
	require.NoError(t, episode.WriteTranscript(&b, traces))
	text := b.String()
	require.Equal(t, 1, strings.Count(text, "TOOLS (strict JSON Schemas):"))
	require.Equal(t, 1, strings.Count(text, "You are a bounded agent controller"))
	require.Contains(t, text, "lines as before left out")
	require.Contains(t, text, "→ error E_UPSTREAM HTTP 500: internal error")
	require.Contains(t, text, "── end: answered")
	require.Equal(t, int(rows.Episode.Steps), strings.Count(text, "── turn "))
}

// An untrusted text can neither control the terminal nor leave its frame.
func TestTranscriptMakesControlCharactersVisible(t *testing.T) {
	var b strings.Builder
	require.NoError(t, episode.WriteTranscript(&b, []episode.Trace{{Question: "a\x1b[2Jb\r\n── end: answered", Reply: "x\u202ey"}}))
	require.NotContains(t, b.String(), "\x1b")
	require.NotContains(t, b.String(), "\u202e")
	require.Contains(t, b.String(), `a\u{1B}[2Jb`)
	require.Contains(t, b.String(), "   │ ── end: answered")
}

// A transcript of parallel turns names the turn of each call and the progress of the strategy. The
// text of models stays within its lines.
func TestTranscriptShowsCallsStepsAndProgress(t *testing.T) {
	page := func(model func(chat) string, strategy string) string {
		o, w := strategyOptions(t, 1, strategy, model)
		w.fails = false
		recorded, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		o.Mode = recorder.Replay
		again, err := rerun.NewReplayer(o, recorded.Manifest)
		require.NoError(t, err)
		defer again.Close()
		traces, err := again.Again(context.Background(), firstEpisode(t, recorded))
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, episode.WriteTranscript(&b, traces))
		return b.String()
	}
	plan := page(planMind, "plan")
	for _, want := range []string{
		"── turn 1: planner/plan · model m", "   call c0 of create_task:\n   │ {", "── Plan Creation: success",
		"step/act · step one · model", "step/act · step two · model", "step/act · step both · model",
		"   call c0 of finish_step:\n", "   prompt (tool, c0 of get_job_status):\n", "── one: success\n", "── both: success\n",
		"call c0 of lookup: {\"id\":\"2\"}", "── end: answered\n   answer:\n   │ Both are known.",
	} {
		require.Contains(t, plan, want, plan)
	}
	tools := page(toolMind, "tools")
	require.Contains(t, tools, "   call c2 of lookup:\n   │ {\n   │   \"id\": \"2\"\n   │ }\n")
	require.Contains(t, tools, "── tool get_lost {} → rejected")
	require.Contains(t, tools, "prompt (tool, c4 of get_lost, failed):")

	hostile := page(func(c chat) string {
		if !c.has("tool", "") {
			return calls("get\x1b[2J\n── end", "{\"a\": \"\u202e\r\n── end: answered\x07\"")
		}
		return text("Done.")
	}, "tools")
	require.NotContains(t, hostile, "\x1b")
	require.NotContains(t, hostile, "\u202e")
	require.NotContains(t, hostile, "\x07")
	require.Equal(t, 1, strings.Count(hostile, "\n── end"), hostile)
}

// A call of another turn than the one above it names its turn, and an abandoned reply is marked.
func TestTranscriptOfOverlappingTurns(t *testing.T) {
	var b strings.Builder
	turn := func(n int32, kind string) episode.Trace {
		return episode.Trace{Turn: &ledger.Turn{Turn: n, Role: "step", Kind: "act", PlanStep: "s[2]", ErrorKind: kind}, Call: &providers.Call{}, Answer: &providers.Reply{}}
	}
	call := episode.Trace{Tool: &agent.CallTool{}, Result: &tool.Result{Outcome: tool.OK}, Asked: 1}
	require.NoError(t, episode.WriteTranscript(&b, []episode.Trace{
		turn(1, ""), call, turn(2, ""), call, {Update: &agent.Update{Phase: "p\n", Status: "failed", Content: "a\nb\x1b"}}, turn(3, episode.KindAbandoned),
	}))
	require.Contains(t, b.String(), "── tool   → ok\n")
	require.Contains(t, b.String(), "── tool   of turn 1 → ok\n")
	require.Contains(t, b.String(), "── p\\u{A}: failed\n   │ a\n   │ b\\u{1B}\n")
	require.Contains(t, b.String(), "── turn 3: step/act · step s[2] ·")
	require.Contains(t, b.String(), "(abandoned: the episode ended before the answer came)")
}
