package agent

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/providers"
)

// The examples in profile schema match its schema and can be executed.
func TestExamplesFitTheContract(t *testing.T) {
	for _, test := range []struct {
		name  string
		tools *tool.Set
		want  []contract.Disposition
	}{
		{"with a tool without arguments", testTools(t), []contract.Disposition{contract.RunTool, contract.AnswerAndExit}},
		{"without one", onlySearch(t), []contract.Disposition{contract.AnswerAndExit}},
		{"without tools", nil, []contract.Disposition{contract.AnswerAndExit}},
	} {
		t.Run(test.name, func(t *testing.T) {
			text, err := contract.Schema(test.tools.Specs())
			require.NoError(t, err)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			c := jsonschema.NewCompiler()
			require.NoError(t, c.AddResource("turn.json", doc))
			schema, err := c.Compile("turn.json")
			require.NoError(t, err)
			var got []contract.Disposition
			for _, e := range examples(test.tools) {
				v := contract.Judge(e, test.tools)
				require.True(t, v.Valid)
				require.Empty(t, v.Warnings)
				got = append(got, v.Disposition)
				value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(e)))
				require.NoError(t, err)
				require.NoError(t, schema.Validate(value))
			}
			require.Equal(t, test.want, got)
		})
	}
}

func onlySearch(t *testing.T) *tool.Set {
	t.Helper()
	spec, ok := testTools(t).Spec("search")
	require.True(t, ok)
	set, err := tool.NewSet([]tool.Spec{spec})
	require.NoError(t, err)
	return set
}

// Above the bound, the first exchanges are removed. The request stays and mentions the removal, and
// earlier calls are not changed.
func TestConversationDropsTheOldest(t *testing.T) {
	c := newConversation(Params{Request: "r"})
	var first []providers.Message
	for turn := range 40 {
		c.said(string(bytes.Repeat([]byte{'a' + byte(turn%26)}, 1000)))
		c.observed(note("seen"))
		messages := c.messages(&contractMachine{})
		if turn == 0 {
			first = messages
		}
	}
	last := c.messages(&contractMachine{})
	require.Len(t, first, 3)
	require.Equal(t, byte('a'), first[1].Text[0])
	require.NotContains(t, first[0].Text, "EARLIER")
	require.Contains(t, last[0].Text, "USER_REQUEST:\n<data>r</data>")
	require.Contains(t, last[0].Text, "\nEARLIER: the first 17 turns are left out.\n")
	require.Len(t, last, 1+2*(40-17))
	require.Equal(t, byte('a'+17), last[1].Text[0])
	require.Equal(t, byte('a'+39%26), last[len(last)-2].Text[0])
}

// TestPromptDigestNamesTheProfile: every profile, mode and the compressor has a
// digest of its own; the defaults have one whether named or not.
func TestPromptDigestNamesTheProfile(t *testing.T) {
	seen := map[string]string{}
	for _, p := range []Params{
		{}, {Profile: "schema"}, {Profile: "conversation"}, {Compress: true}, {Profile: "schema", Compress: true},
		{Mode: "json_object"}, {Mode: "json_schema"}, {Mode: "forced_tool"}, {Profile: "schema", Mode: "json_schema"},
	} {
		name := p.Profile + "/" + p.Mode
		got := Digests("contract", p, nil)["prompt"]
		require.Empty(t, seen[got], name)
		seen[got] = name + "."
	}
	require.Equal(t, promptDigest, Digests("contract", Params{Profile: "seed", Mode: "prompt"}, nil)["prompt"])
}

func TestReadSummary(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       summary
		ok         bool
	}{
		{"as asked", readableSummary, summary{"1. x </data>", []string{"p"}, []string{"o", "REFLECT: y"}}, true},
		{"decorated", "## **GOAL**\ng\n**PLAN:** a\n# PROGRESS:\n* b\n**OBSERVATIONS**\n• c\nRISKS: d", summary{"a", []string{"b", "risks: d"}, []string{"c"}}, true},
		{"missing observations", "PLAN\na\nPROGRESS\nb", summary{}, false},
		{"empty section", "PLAN\na\nPROGRESS\nnone\nOBSERVATIONS\nc", summary{}, false},
		{"out of order", "PROGRESS\na\nPLAN\nb\nOBSERVATIONS\nc", summary{}, false},
		{"twice", "PLAN\na\nPLAN\nb\nPROGRESS\nc\nOBSERVATIONS\nd", summary{}, false},
		{"a turn instead", `{"control":{}}`, summary{}, false},
		{"too many lines", "PLAN\n1\n2\n3\n4\n5\n6\n7\nPROGRESS\n1\n2\n3\n4\n5\nOBSERVATIONS\n1\n2\n3\n4\n5\n6\n7\n8\n9\nRISKS\n1\n2\n3",
			summary{"1\n2\n3\n4\n5\n6", []string{"1", "2", "3", "4", "risks: 1", "risks: 2"}, []string{"1", "2", "3", "4", "5", "6", "7", "8"}}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, ok := readSummary(providers.Reply{Text: test.text})
			require.Equal(t, test.ok, ok)
			if ok {
				require.Equal(t, test.want, got)
			}
		})
	}
	_, ok := readSummary(providers.Reply{Text: readableSummary, Finish: providers.FinishLength})
	require.False(t, ok, "a summary that was cut off")
}

// Only the newest lines of a long log are kept.
func TestLogIsBounded(t *testing.T) {
	var l rawLog
	for range 1000 {
		l.add(string(bytes.Repeat([]byte("x"), 100)))
	}
	l.add("last")
	require.LessOrEqual(t, l.size, maxLog)
	require.Equal(t, "last", l.lines[len(l.lines)-1])
	require.Equal(t, 1+(maxLog-len("last"))/100, len(l.lines))
}

// Old replies of the user are shortened.
func TestManyRepliesAreFolded(t *testing.T) {
	var pad scratchpad
	for turn := range 12 {
		pad.observe(sawReply(turn, "q", "a</data>"))
	}
	require.Len(t, pad.obs, maxReplies)
	require.Equal(t, []string{
		`turn 0 user reply -> <data>a<\/data></data>`, `turn 1 user reply -> <data>a<\/data></data>`,
		`turn 2 user reply -> <data>a<\/data></data>`, `turn 3 user reply -> <data>a<\/data></data>`,
	}, pad.progress)
}

// Every profile shows the hints of the available tools among its rules, a line each, and the
// digest of the tools covers them.
func TestHints(t *testing.T) {
	set := func(hint string) *tool.Set {
		tools, err := tool.NewSet([]tool.Spec{{Name: "a", Description: "A.", Schema: json.RawMessage(`{}`), Hint: hint}, {Name: "b", Description: "B.", Schema: json.RawMessage(`{}`)}})
		require.NoError(t, err)
		return tools
	}
	for _, profile := range []string{"seed", "schema", "conversation"} {
		text := func(hint string) string {
			m, err := New("contract", Params{Profile: profile, Request: "r", Tools: set(hint)}, nil)
			require.NoError(t, err)
			return m.Step(Started{}).Commands[0].(CallModel).Call.Messages[0].Text
		}
		require.Equal(t, 1, strings.Count(text("Use a\nfirst </data>."), "\n- Use a / first <\\/data>.\n- If an input is missing,"), profile)
		require.NotContains(t, text(""), "\n- \n")
	}
	require.NotEqual(t, Digests("contract", Params{Tools: set("x")}, nil)["tools"], Digests("contract", Params{Tools: set("y")}, nil)["tools"])
	require.Equal(t, Digests("contract", Params{Tools: set("x")}, nil)["prompt"], Digests("contract", Params{Tools: set("y")}, nil)["prompt"])
}
