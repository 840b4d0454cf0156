package transcripts

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/rerun"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/recorder/secrets"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// Parallel turns are listed in the order of the ledger, each with its calls and the strategy's
// updates.
func TestDetailOfTurnsAtOnce(t *testing.T) {
	turn := func(n int, calls ...string) episode.Trace {
		reply := &providers.Reply{Text: fmt.Sprint("turn ", n)}
		for _, c := range calls {
			reply.Calls = append(reply.Calls, providers.ToolCall{Name: c, Args: "{}"})
		}
		images := []providers.Image{{URL: "x"}, {URL: "y"}}
		return episode.Trace{Turn: &ledger.Turn{Turn: int32(n)}, Call: &providers.Call{Messages: []providers.Message{{Role: "user", Text: fmt.Sprint(n), Images: images}}}, Answer: reply}
	}
	ran := func(name string) episode.Trace {
		return episode.Trace{Tool: &agent.CallTool{Call: tool.Call{Name: name, Args: []byte("{}")}}, Result: &tool.Result{Outcome: tool.OK, Value: []byte(`"` + name + `"`)}}
	}
	phase := func(name string) episode.Trace {
		return episode.Trace{Update: &agent.Update{Phase: name, Status: "started"}}
	}
	d := newDetailBuilder(func(_, s string) string { return s }).detail([]episode.Trace{
		phase("planning"), turn(1, "create_task"), phase("a"), phase("b"),
		turn(3, "open", "extract"), ran("open"), ran("extract"), turn(2, "search"), ran("search"), phase("b done"),
		{Finish: &agent.Finish{Answer: "41"}},
	})
	var got []string
	for _, u := range d.Turns {
		line := u.Output
		for _, c := range u.Calls {
			line += " calls " + c.Tool
		}
		for _, s := range u.Steps {
			line += " ran " + s.Tool + s.Result
		}
		for _, p := range u.Updates {
			line += " phase " + p.Phase
		}
		got = append(got, line)
	}
	require.Equal(t, []string{
		"turn 1 calls create_task phase planning phase a phase b", `turn 2 calls search ran search"search" phase b done`, `turn 3 calls open calls extract ran open"open" ran extract"extract"`,
	}, got)
	require.Equal(t, "41", d.Answer)
	require.Equal(t, "1\n[images: 2]\n", d.Turns[0].Prompt[0].Text)
}

// Missing details have a reason, without names that differ between episodes.
func TestWhyMissing(t *testing.T) {
	for kind, want := range map[string]string{
		rerun.KindLive: "live run", rerun.KindLost: "without a result", episode.KindCassetteCorrupt: "cannot be trusted",
	} {
		require.Contains(t, whyMissing(fmt.Errorf("x: %w", &rerun.NoReplayError{Kind: kind, Err: errors.New("G01: secret place")})), want)
	}
}

func TestDetailKeepsToItsBounds(t *testing.T) {
	turn := func(n int, prompt, output string) episode.Trace {
		return episode.Trace{
			Turn: &ledger.Turn{Turn: int32(n)}, Call: &providers.Call{System: "s", Messages: []providers.Message{{Role: "user", Text: prompt}}},
			Answer: &providers.Reply{Text: output},
		}
	}
	plain := func(_, s string) string { return s }
	long := strings.Repeat("é", maxDetailText) // twice the bound, in bytes
	d := newDetailBuilder(plain).detail([]episode.Trace{turn(1, "a\nb\nb\n", "x"+long), turn(2, "b\nc\na\n", "y")})
	require.Equal(t, []transcript.Message{{Role: "user", Text: "a\nb\nb\n"}}, d.Turns[0].Prompt, "what a prompt says twice stays")
	require.Equal(t, []transcript.Message{{Role: "user", Text: "c\n", Same: 2}}, d.Turns[1].Prompt)
	require.True(t, utf8.ValidString(d.Turns[0].Output))
	require.True(t, strings.HasSuffix(d.Turns[0].Output, "é… (65538 bytes more)"), d.Turns[0].Output[maxDetailText-10:])

	var traces []episode.Trace
	for n := range 100 {
		traces = append(traces, turn(n+1, fmt.Sprint(n), fmt.Sprint(n)+long), episode.Trace{Question: "q", Silent: true})
	}
	traces = append(traces, episode.Trace{Finish: &agent.Finish{Answer: long}})
	d = newDetailBuilder(plain).detail(traces)
	require.Less(t, len(fmt.Sprint(d)), maxDetail+8<<10)
	require.Equal(t, 100, len(d.Turns)+d.More)
	require.Greater(t, len(d.Turns), 10)
	require.Equal(t, []transcript.DetailStep{{Question: "q", Outcome: "silence"}}, d.Turns[0].Steps)
	require.Equal(t, "… (131072 bytes more)", d.Answer)
}

// Every text is searched for credentials before it is truncated.
func TestDetailHoldsNoSecret(t *testing.T) {
	const canary = "canary-0123456789"
	finder := secrets.New(canary)
	traces := []episode.Trace{
		{
			Turn: &ledger.Turn{Turn: 1}, Answer: &providers.Reply{Text: strings.Repeat("x", maxDetailText-5) + canary, Calls: []providers.ToolCall{{Name: canary, Args: canary}}},
			Call: &providers.Call{System: canary, Messages: []providers.Message{{Text: "a\n" + canary + "\n"}}},
		},
		{Tool: &agent.CallTool{Call: tool.Call{Name: canary, Args: []byte(`"` + canary + `"`)}}, Result: &tool.Result{Outcome: tool.OK, Value: []byte(`"` + canary + `"`)}},
		{Tool: &agent.CallTool{}, Result: &tool.Result{Outcome: tool.Error, Code: canary, Message: canary}},
		{Question: canary, Reply: canary},
		{Update: &agent.Update{Phase: canary, Status: canary, Content: canary}},
		{Turn: &ledger.Turn{Turn: 2}, Call: &providers.Call{System: "now " + canary}, Err: errors.New(canary)},
		{Finish: &agent.Finish{Answer: canary}},
	}
	d := newDetailBuilder(finder.Redact).detail(traces)
	text := fmt.Sprintf("%+v", d)
	require.NotContains(t, text, "canar")
	require.Equal(t, 17, strings.Count(text, secrets.Hidden))
	require.True(t, strings.HasSuffix(d.Turns[0].Output, "x[secr… (3 bytes more)"), "cut afterwards")
}
