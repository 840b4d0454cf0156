package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/playbook/mistake"
)

// judged returns a turn of a native conversation and the actions of the solution in it.
func judged(t *testing.T, pairs ...string) (*turn, *playbook.Play, []playbook.Action) {
	t.Helper()
	tu := &turn{Conversation: native(1, pairs...), profile: profile(t, "sim-oracle"), books: deskBooks(t), draws: drawsFrom(seed(1))}
	require.True(t, tu.readConversation())
	play, ok := tu.find(tu.view.request)
	require.True(t, ok)
	return tu, play, tu.next(play, tu.view.seen)
}

// TestDecisionSlips checks the effect of each slip at each point, and where it does not
// apply.
func TestDecisionSlips(t *testing.T) {
	all := append(append([]string{}, counted...), "close", `{"id":"a1"}`, `{"done":true}`)
	for _, test := range []struct {
		slip  slip
		pairs []string
		want  string // part of the actions; empty if the slip does not apply
	}{
		{wrongArgument, counted[:3], "count"},
		{wrongArgument, nil, ""}, // today has no arguments
		{wrongArgument, all, ""},
		{wrongCall, counted, "call "},
		{wrongCall, nil, ""}, // no value is known for another call
		{wrongCall, all, ""},
		{repeatCall, counted, `call count {"label":"praise","day":"2026-05-13"}`},
		{repeatCall, nil, ""},
		{forgetCall, counted[:3], "count"},
		{forgetCall, nil, "count"},
		{forgetCall, counted, "answer 7 angry"},
		{answerEarly, nil, "answer"},
		{answerEarly, all, ""},
		{wrongNumber, all, "answer"},
		{wrongNumber, nil, ""},
		{needlessQuestion, counted, "ask Just to be sure"},
		{claimDone, counted, "answer 7 angry and 12 praise messages; closed."},
		{claimDone, nil, ""},
		{forbiddenChange, counted, "call remove"},
		{forbiddenChange, counted[:3], ""}, // no id is known yet
	} {
		t.Run(fmt.Sprint(test.slip, len(test.pairs)), func(t *testing.T) {
			tu, play, right := judged(t, test.pairs...)
			wrong, fits := tu.slip(play, test.slip, append([]playbook.Action{}, right...))
			require.Equal(t, test.want != "", fits)
			if !fits {
				return
			}
			var said []string
			for _, a := range wrong {
				said = append(said, strings.TrimSpace(fmt.Sprintf("%s %s%s %s", a.Kind, a.Tool, a.Text, a.Args)))
			}
			require.Contains(t, strings.Join(said, "\n"), test.want)
			require.NotEqual(t, right, wrong)
		})
	}
}

// TestMistakes: a model makes the mistakes of its profile on an automation instance.
func TestMistakes(t *testing.T) {
	tu, play, _ := judged(t, counted...)
	acts := []playbook.Action{{Kind: playbook.Call, Tool: "run-workflow", Args: json.RawMessage(`{"inputData":{"n":1},"workflowId":"wf_3"}`)}}
	for kind, want := range map[mistake.Kind]string{mistake.WrongID: "wf_", mistake.WrappedPayload: `{"n":1}}`, mistake.Unverified: "call"} {
		wrong, fits := tu.mistaken(play, kind, slices.Clone(acts))
		require.True(t, fits)
		require.NotEqual(t, acts, wrong)
		require.Contains(t, string(wrong[0].Kind)+string(wrong[0].Args), want)
	}
	_, fits := tu.mistaken(play, mistake.ForbiddenTool, acts)
	require.False(t, fits)
}

func TestMisargued(t *testing.T) {
	tu, _, _ := judged(t, counted...)
	for _, test := range []struct{ args, want string }{
		{`{"day":"2026-05-13"}`, `{"day":"2026-05-1`},
		{`{"label":"angry"}`, `{"label":"praise"}`},
		{`{"n":4}`, `{"n":`},
		{`{"query":"north coast"}`, `{"query":"north"}`},
		{`{"query":"north"}`, ""},
		{`{"list":[1]}`, ""},
	} {
		got, ok := tu.misargued(playbook.Action{Kind: playbook.Call, Tool: "count", Args: json.RawMessage(test.args)}, 3)
		require.Equal(t, test.want != "", ok, test.args)
		if ok {
			require.Contains(t, string(got), test.want)
			require.NotEqual(t, test.args, string(got))
		}
	}
}

// TestFormSlips checks that each slip has the effect of its name on a contract object.
func TestFormSlips(t *testing.T) {
	tu := &turn{}
	text := tu.contract(playbook.Action{Kind: playbook.Answer, Text: "7"}, "p", 90)
	for slip, want := range map[formSlip]string{
		fenced: "```json\n{", prose: "\n{", truncated: "Thought 4", extraKey: `"thoughts"`, wrongCase: `{"Control":`, badConfidence: `"confidence":"high"`,
	} {
		require.Contains(t, misform(slip, text, 0, 100), want, slip)
	}
	require.NotContains(t, misform(missingField, text, 0, 100), "state_update")
	require.NotContains(t, misform(missingField, text, 1, 100), "confidence")
	require.True(t, Conversation{JSON: true}.rulesOut(prose))
	require.False(t, Conversation{JSON: true}.rulesOut(extraKey))
	require.True(t, Conversation{Arguments: true}.rulesOut(extraKey))
	require.False(t, Conversation{Arguments: true}.rulesOut(truncated))
}

// TestNativeSlips checks the effect of each slip on calls, and that a required tool is
// called.
func TestNativeSlips(t *testing.T) {
	for _, test := range []struct {
		slip nativeSlip
		must string
		call Call
		want Said
	}{
		{cutArguments, "", Call{Name: "count", Args: `{"a":1}`}, Said{Calls: []Call{{Name: "count", Args: `{"a"`}}}},
		{unknownTool, "", Call{Name: "count", Args: `{}`}, Said{Calls: []Call{{Name: "counts", Args: `{}`}}}},
		{unknownTool, "count", Call{Name: "count", Args: `{}`}, Said{Calls: []Call{{Name: "count", Args: `{}`}}}},
		{missingArgument, "", Call{Name: "count", Args: `{"a":1,"b":2}`}, Said{Calls: []Call{{Name: "count", Args: `{"b":2}`}}}},
		{announce, "", Call{Name: "count", Args: `{}`}, Said{Text: announcements[0]}},
		{announce, "count", Call{Name: "count", Args: `{}`}, Said{Calls: []Call{{Name: "count", Args: `{}`}}}},
		{emptyReply, "", Call{Name: "count", Args: `{}`}, Said{}},
		{emptyReply, "count", Call{Name: "count", Args: `{}`}, Said{Calls: []Call{{Name: "count", Args: `{}`}}}},
		{finalAsText, "", Call{Name: finalAnswer, Args: `{}`}, Said{Text: "t"}},
		{wrongType, "", Call{Name: finalAnswer, Args: `{"a":"x","n":1}`}, Said{Calls: []Call{{Name: finalAnswer, Args: `{"a":"x","n":"about 1"}`}}}},
		{wrongType, "", Call{Name: finishStep, Args: `{"result":{"a":"x"}}`}, Said{Calls: []Call{{Name: finishStep, Args: `{"result":{"a":["x"]}}`}}}},
		{wrongType, "", Call{Name: "count", Args: `{"n":1}`}, Said{Calls: []Call{{Name: "count", Args: `{"n":1}`}}}},
	} {
		tu := &turn{Conversation: Conversation{Must: test.must}}
		require.Equal(t, test.want, tu.fumble(test.slip, Said{Calls: []Call{test.call}}, playbook.Action{Text: "t"}, 0), "%s %s", test.slip, test.must)
	}
}

func TestTextSlips(t *testing.T) {
	a := playbook.Action{Kind: playbook.Call, Tool: "count"}
	text := Said{Calls: []Call{{Name: "count", Args: "{}"}}}.inText(a)
	require.Equal(t, &Call{Name: "count", Args: "{}"}, spokenCall(text))
	require.NotContains(t, misspeak(noInput, text, a, 0), "Action Input")
	require.True(t, strings.HasSuffix(misspeak(chatter, text, a, 0), "helps!"))
	require.Equal(t, announcements[1], misspeak(noLines, text, a, 1))
	require.Equal(t, "7", misspeak(noLines, text, playbook.Action{Kind: playbook.Answer, Text: "7"}, 1))
}

// answerOf returns an answer with a value, or without one if value is empty.
func answerOf(text, value string) playbook.Action {
	a := playbook.Action{Kind: playbook.Answer, Text: text}
	if value != "" {
		a.Value = json.RawMessage(value)
	}
	return a
}
