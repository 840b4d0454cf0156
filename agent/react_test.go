package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/turn"
	"github.com/cupel-eval/cupel/providers"
)

func TestReadReact(t *testing.T) {
	call := func(name, args string) []providers.ToolCall { return []providers.ToolCall{{Name: name, Args: args}} }
	format := func(detail string) *fault { return &fault{violationReact, detail} }
	for _, test := range []struct {
		name, text string
		want       parsedReply
	}{
		{"action", "Thought: x\nAction: search\nAction Input: {\"q\":1}", parsedReply{calls: call("search", `{"q":1}`)}},
		{"without a thought", "Action: search\nAction Input: {}", parsedReply{calls: call("search", `{}`)}},
		{"several lines of input", "Action: s\nAction Input: {\n  \"q\": 1\n}\n", parsedReply{calls: call("s", "{\n  \"q\": 1\n}")}},
		{"a code fence", "Action: s\nAction Input: ```json\n{\"q\":1}\n```\nmore", parsedReply{calls: call("s", `{"q":1}`)}},
		{"a fence inside JSON", "Action: s\nAction Input: {\"q\":\"```\"}", parsedReply{calls: call("s", "{\"q\":\"```\"}")}},
		{"input that is no JSON", "Action: s\nAction Input: q=1", parsedReply{calls: call("s", "q=1")}},
		{"bold and quoted", "**Action**: \"s\"\n**Action Input**: {}", parsedReply{calls: call("s", "{}")}},
		{"a thought behind", "Action: s\nAction Input: {}\nThought: now I wait", parsedReply{calls: call("s", "{}")}},
		{"an observation made up", "Action: s\nAction Input: {}\nObservation: 7\nFinal Answer: 7", parsedReply{parsedReply: "Action: s\nAction Input: {}", calls: call("s", "{}")}},
		{"answer", "Thought: x\nFinal Answer: It is\n7.\nThought: y", parsedReply{text: "It is\n7.\nThought: y"}},
		{"answer that names a marker", "Final Answer: the line Action: x is not one", parsedReply{text: "the line Action: x is not one"}},
		{"empty answer", "Final Answer:", parsedReply{text: ""}},
		{"nothing", " \n", parsedReply{fault: &fault{violationEmpty, tellEmpty}}},
		{"nothing but an observation", "Observation: 7", parsedReply{parsedReply: "", fault: &fault{violationEmpty, tellEmpty}}},
		{"prose", "It is 7.", parsedReply{fault: format("neither an Action nor a Final Answer")}},
		{"lower case", "action: s\naction input: {}", parsedReply{fault: format("neither an Action nor a Final Answer")}},
		{"no input", "Action: s", parsedReply{fault: format("an Action without an Action Input")}},
		{"two actions", "Action: s\nAction Input: {}\nAction: t\nAction Input: {}", parsedReply{fault: format("more than one Action in a turn")}},
		{"both", "Action: s\nAction Input: {}\nFinal Answer: 7", parsedReply{fault: format("both an Action and a Final Answer in a turn")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.want.parsedReply == "" && !strings.HasPrefix(test.text, "Observation") {
				test.want.parsedReply = test.text
			}
			require.Equal(t, test.want, readReact(test.text))
		})
	}
}

// FuzzReadReact checks that every output is one call, one answer or one fault, and that an invented
// observation is not stored with a call.
func FuzzReadReact(f *testing.F) {
	for _, s := range append(hostileReplies, "Thought: x\nAction: s\nAction Input: {}", "Final Answer: 7", "Action Input: {}\nAction: s\nObservation: 1", strings.Repeat("Action:", 5000), "*Action:*\n\tFinal Answer:") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s := readReact(text)
		require.LessOrEqual(t, len(s.calls), 1)
		require.True(t, s.fault == nil || len(s.calls) == 0 && s.text == "")
		require.Contains(t, text, s.parsedReply)
		for _, c := range s.calls {
			require.Contains(t, text, c.Name)
			require.Contains(t, text, c.Args)
			require.NotRegexp(t, `(?m)^Observation:`, s.parsedReply)
		}
		require.Contains(t, text, s.text)
		require.Equal(t, s.parsedReply, readReact(text).parsedReply, "deterministic")
	})
}

// FuzzReactTurn checks that with any output and tool result, the episode continues or ends, and the
// text of a result begins with Observation.
func FuzzReactTurn(f *testing.F) {
	for _, s := range append(hostileReplies, "Action: search\nAction Input: {\"query\":\"x\"}", "Final Answer: 7") {
		f.Add(s)
	}
	tools := testTools(f)
	f.Fuzz(func(t *testing.T, text string) {
		r := runTools(t, Params{Tools: tools, Profile: profileReact}, nil, saying(text))
		if r.finish.Status != "" {
			require.Contains(t, []Status{Answered, respondError}, r.finish.Status)
			require.Contains(t, text, "Final Answer")
			require.Contains(t, text, r.finish.Answer)
			return
		}
		last := r.last()
		require.Len(t, last, 3)
		require.Equal(t, []string{"user", "assistant", "user"}, roles(r))
		if len(r.run) > 0 {
			require.True(t, strings.HasPrefix(last[2].Text, reactObservation))
		}
	})
}

// The result of an action and the note on its repetition are one message, so that there are never two
// consecutive user messages.
func TestReactRepetition(t *testing.T) {
	again := saying("Thought: hm\nAction: search\nAction Input: {\"query\":\"x\"}")
	r := runTools(t, Params{Profile: "react"}, nil, again, again)
	require.Equal(t, []string{"user", "assistant", "user", "assistant", "user"}, roles(r))
	require.Equal(t, reactObservation+`{"query":"x"}`+"\n\n"+tellRepeated("search"), r.last()[4].Text)
	require.Equal(t, reactObservation+`{"query":"x"}`, r.last()[2].Text, "what was sent does not change")
	require.Equal(t, turn.KindReflect, r.asked[2].Kind)
}
