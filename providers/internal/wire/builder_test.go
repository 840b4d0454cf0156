package wire

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestIDsAreMadeUnique(t *testing.T) {
	for _, c := range []struct {
		name      string
		ids, want []string
	}{
		{"none", []string{"", ""}, []string{"call_1", "call_2"}},
		{"given", []string{"b", "a"}, []string{"b", "a"}},
		{"twice", []string{"a", "a", "a"}, []string{"a", "call_2", "call_3"}},
		{"a made one is given later", []string{"", "call_1"}, []string{"call_2", "call_1"}},
		{"a made one is given before", []string{"call_2", "", ""}, []string{"call_2", "call_3", "call_4"}},
		{"twice, and what would be made", []string{"a", "a", "call_2"}, []string{"a", "call_3", "call_2"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Builder{}
			for _, id := range c.ids {
				b.Call("", id, "n")
			}
			var got []string
			for _, call := range b.build("").Calls {
				got = append(got, call.ID)
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestPiecesBecomeAReply(t *testing.T) {
	var deltas []providers.Delta
	b := &Builder{emit: func(d providers.Delta) { deltas = append(deltas, d) }}
	require.False(t, b.HasText() || b.HasReasoning())
	b.Text("a")
	b.Text("")
	b.Reasoning("r")
	first := b.Call("0", "", "n")
	second := b.Call("1", "id", "o")
	require.Same(t, first, b.Open("0"))
	require.Nil(t, b.Open("2"))
	second.Args(`{"b"`)
	first.Args("")
	require.False(t, first.HasArgs())
	second.SetArgs(`{"b"`) // nothing new
	second.SetArgs(`{"b":2}`)
	b.Text("c")
	b.Warn("w %d", 1)
	b.Warn("w 1")
	b.Reply.Finish = providers.FinishStop
	require.True(t, b.HasText() && b.HasReasoning() && second.HasArgs())
	require.Equal(t, 2, b.Calls())
	require.Equal(t, providers.Reply{
		Text: "ac", Reasoning: "r", Finish: providers.FinishTools, Warnings: []string{"w 1"},
		Calls: []providers.ToolCall{{ID: "call_1", Name: "n", Args: "{}"}, {ID: "id", Name: "o", Args: `{"b":2}`}},
	}, b.build(""))
	require.Equal(t, []providers.Delta{
		{Kind: providers.DeltaText, Text: "a"}, {Kind: providers.DeltaReasoning, Text: "r"},
		{Kind: providers.DeltaCall, Text: "n"}, {Kind: providers.DeltaCall, Text: "o", Call: 1},
		{Kind: providers.DeltaArgs, Text: `{"b"`, Call: 1}, {Kind: providers.DeltaArgs, Text: `{"b":2}`, Call: 1},
		{Kind: providers.DeltaText, Text: "c"},
	}, deltas)
}

func TestFinishOfAReply(t *testing.T) {
	for _, c := range []struct {
		name    string
		said    providers.Finish
		call    bool
		refusal string
		want    providers.Finish
	}{
		{"stop", providers.FinishStop, false, "", providers.FinishStop},
		{"stop with calls", providers.FinishStop, true, "", providers.FinishTools},
		{"cut with calls", providers.FinishLength, true, "", providers.FinishLength},
		{"stop with a refusal", providers.FinishStop, false, "no", providers.FinishRefusal},
		{"calls with a refusal", providers.FinishTools, true, "no", providers.FinishRefusal},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Builder{}
			b.Reply.Finish = c.said
			b.Refusal(c.refusal)
			if c.call {
				b.Call("", "", "n")
			}
			got := b.build("")
			require.Equal(t, c.want, got.Finish)
			require.Equal(t, c.refusal, got.Refusal)
		})
	}
}

func TestTheForcedToolIsTheText(t *testing.T) {
	for _, c := range []struct {
		name  string
		calls [][2]string // name, arguments
		want  string
		warn  string
	}{
		{"called", [][2]string{{"n", ` {"a": 1.0}`}}, ` {"a": 1.0}`, ""},
		{"called without arguments", [][2]string{{"n", ""}}, "", ""},
		{"cut", [][2]string{{"n", `{"a`}}, `{"a`, ""},
		{"called twice", [][2]string{{"n", "1"}, {"n", "2"}}, "1", "forced_tool: 2 calls came, the first of n was taken"},
		{"after another", [][2]string{{"o", "1"}, {"n", "2"}}, "2", "forced_tool: 2 calls came, the first of n was taken"},
		{"another alone", [][2]string{{"o", "1"}}, "said", `forced_tool: the model called "o" instead of n, the text is what it said besides`},
		{"not called", nil, "said", "forced_tool: the model did not call n, the text is what it said instead"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Builder{}
			b.Text("said")
			for _, call := range c.calls {
				b.Call("", "", call[0]).Args(call[1])
			}
			got := b.build("n")
			require.Equal(t, c.want, got.Text)
			require.Len(t, got.Calls, len(c.calls))
			if c.warn == "" {
				require.Empty(t, got.Warnings)
				return
			}
			require.Equal(t, []string{c.warn}, got.Warnings)
		})
	}
}

func TestUsageOfAReply(t *testing.T) {
	read := func(u providers.Usage, ok bool, err error) func(json.RawMessage) (providers.Usage, bool, error) {
		return func(json.RawMessage) (providers.Usage, bool, error) { return u, ok, err }
	}
	b := &Builder{}
	b.Usage([]byte(" null "), nil, read(providers.Usage{Input: 9}, true, nil))
	b.Usage(nil, nil, read(providers.Usage{Input: 9}, true, nil))
	require.Equal(t, providers.Reply{}, b.build(""))
	b.Usage([]byte(`{"a":1}`), nil, read(providers.Usage{Input: 1}, true, nil))
	b.Usage([]byte(`{"a":2}`), nil, read(providers.Usage{}, false, nil))
	require.Equal(t, providers.Reply{Usage: providers.Usage{Reported: true, Input: 1}, RawUsage: []byte(`{"a":2}`)}, b.build(""))
	b.Usage([]byte(`[]0`), nil, read(providers.Usage{}, false, errors.New("odd")))
	require.Equal(t, []string{"usage: not understood, counted as not reported"}, b.build("").Warnings)
}

func TestGiven(t *testing.T) {
	for _, nothing := range []string{"", " null ", `""`, "{}", "[]", "false"} {
		require.False(t, Given([]byte(nothing)), nothing)
	}
	for _, something := range []string{"0", "true", `" "`, `{"a":null}`, "[0]"} {
		require.True(t, Given([]byte(something)), something)
	}
}
