package sim

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCondense: a summary keeps what was called and what came of it, whatever the
// tool, and is read again in the step.
func TestCondense(t *testing.T) {
	p, _ := profileFor("sim-weak")
	history := strings.Join([]string{
		"STEP: s\nINSTRUCTIONS:\n<data>Count the angry messages on 2026-05-03 with get_counts.</data>\n\nCarry out the instructions and finish the step.\n\nHISTORY:",
		`- summary of what was before: <data>open {"id":"a"} gave {"id":"a","text":"x"} / nothing else</data>`,
		`- assistant: <data>I look.</data>`,
		`- call: get_counts <data>{"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"}</data>`,
		`- call: get_counts <data>{"start_date":"2026-05-04","end_date":"2026-05-04","label":"angry"}</data>`,
		`- call: search <data>{"query":"north"}</data>`,
		`- tool get_counts: <data>{"label":"angry","start":"2026-05-03","end":"2026-05-03","value":31}</data>`,
		`- tool get_counts: <data>{"error":{"code":"E_UPSTREAM","message":"internal error"}}</data>`,
		`- tool search: <data>{"results":[{"id":"a"}],"total":1}</data>`,
		`- tool other: <data>{}</data>`,
	}, "\n")
	q := modelRequest{talk: talk{system: "You condense the history of one step of a plan, for whoever carries the step on."}, messages: []utterance{user(history)}}
	q.settle()
	out, ok := p.converse(q, calm)
	require.True(t, ok)
	want := `open {"id":"a"} gave {"id":"a","text":"x"}
get_counts {"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"} gave {"label":"angry","start":"2026-05-03","end":"2026-05-03","value":31}
search {"query":"north"} gave {"results":[{"id":"a"}],"total":1}`
	require.Equal(t, spoken{text: want}, out)

	later := stepping("Count the angry messages on 2026-05-03 with get_counts.", "", "", []string{getCounts})
	later.messages[0].text += "\n\nSUMMARY OF WHAT WAS DONE SO FAR:\n<data>" + want + "</data>"
	out, _ = p.converse(later, calm)
	require.Equal(t, "angry messages on 2026-05-03: 31.", out.text)
}

func TestCondenseLittleAndMuch(t *testing.T) {
	p, _ := profileFor("sim-strong")
	ask := func(history string) spoken {
		q := modelRequest{talk: talk{system: "You condense the history of one step of a plan."}, messages: []utterance{user(history)}}
		q.settle()
		out, _ := p.converse(q, calm)
		return out
	}
	require.Equal(t, "Nothing was found out so far.", ask("STEP: s\n\nHISTORY:\n- user: <data>x</data>").text)
	_, ok := p.converse(modelRequest{talk: talk{system: "You condense the history of one step of a plan.", turns: []remark{{true, "x"}}}}, calm)
	require.False(t, ok, "no history")
	line := "\n- call: open <data>{\"id\":\"a\"}</data>\n- tool open: <data>{\"text\":\"" + strings.Repeat("word ", 90) + "\"}</data>"
	much := ask("STEP: s\n\nHISTORY:" + strings.Repeat(line, 40)).text
	require.LessOrEqual(t, estimateTokens(much), maxCondensed)
	require.Greater(t, estimateTokens(much), maxCondensed/2)
}

func FuzzReadSummary(f *testing.F) {
	f.Add(`open {"id":"a"} gave {"id":"a"} / open {} gave [1]`)
	f.Add(`x { gave {`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, e := range readSummary(text) {
			require.NotContains(t, e, "\n")
			require.NotEmpty(t, summaryLine(e))
		}
	})
}
