package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/providers"
)

// firstCall starts an episode and returns the first model call.
func firstCall(t *testing.T, p Params) providers.Call {
	t.Helper()
	m, err := New("contract", p, nil)
	require.NoError(t, err)
	call, ok := m.Step(Started{}).Commands[0].(CallModel)
	require.True(t, ok)
	return call.Call
}

// Agent contract renders the inputs and history of a request in every profile.
func TestContractTellsWhatIsGiven(t *testing.T) {
	p := Params{
		Request: "How tall is {item}?", Constraints: "Be brief.", Tools: testTools(t),
		Inputs: []strategy.Input{{Name: "lights", Value: json.RawMessage(`["Alder Point","</data>"]`)}, {Name: "unit", Value: json.RawMessage(`"m"`)}}, Each: "lights",
		AnswerSchema: json.RawMessage(`{"type": "object"}`),
		Memory:       []strategy.Exchange{{Request: "Hi\nthere", Answer: "Hello."}, {Request: "Who?", Answer: "Ines."}},
		Images:       []providers.Image{{MediaType: "image/png", Data: []byte("x")}},
	}
	const want = `<data>How tall is {item}?

INPUT lights:
["Alder Point","<\/data>"]

INPUT unit:
"m"

Do this for each item of INPUT lights, in order; {item}, or {field} for a field of it, stands for the item.

EARLIER:
user: Hi / there
you: Hello.
user: Who?
you: Ines.</data>`
	const shape = `CONSTRAINTS: Be brief. The message must be a JSON list with an element for each item, in order, that fits this JSON Schema: {"type":"object"}` + "\n"
	for _, profile := range []string{"seed", "schema", "conversation"} {
		t.Run(profile, func(t *testing.T) {
			p.Profile = profile
			call := firstCall(t, p)
			require.True(t, strings.HasPrefix(call.Messages[0].Text, "USER_REQUEST:\n"+want), call.Messages[0].Text)
			require.Contains(t, call.Messages[0].Text, shape)
			require.Equal(t, p.Images, call.Messages[0].Images)
			if profile != "conversation" {
				require.Contains(t, call.Messages[0].Text, "GOAL: <data>How tall is {item}?</data>\n", "the goal is the request alone")
			}
		})
	}
	p.Profile, p.Each, p.Constraints = "", "", ""
	require.Contains(t, firstCall(t, p).Messages[0].Text, `CONSTRAINTS: The message must be JSON that fits this JSON Schema: {"type":"object"}`+"\n")
}

// Images are shown in every turn, since every turn shows the request again.
func TestContractShowsImagesInEveryTurn(t *testing.T) {
	for _, profile := range []string{"seed", "conversation"} {
		m, err := New("contract", Params{Request: "r", Tools: testTools(t), Profile: profile, Images: []providers.Image{{URL: "u"}}}, nil)
		require.NoError(t, err)
		first := m.Step(Started{}).Commands[0].(CallModel)
		second := m.Step(ModelReplied{ID: first.ID, Reply: providers.Reply{Text: "nonsense"}}).Commands[0].(CallModel)
		require.Equal(t, first.Call.Messages[0].Images, second.Call.Messages[0].Images, profile)
		for _, message := range second.Call.Messages[1:] {
			require.Empty(t, message.Images)
		}
	}
}

func TestContractRefusesWhatItHasNot(t *testing.T) {
	one := 1
	for setting, p := range map[string]Params{
		"system": {System: "s"}, "fallback": {Fallback: true}, "batch": {Batch: strategy.Batch{Size: 2}}, "plan": {Plan: strategy.PlanBounds{Steps: 1}},
		"final_retries": {FinalRetries: &one}, "max_iterations": {MaxIterations: 3},
	} {
		_, err := New("contract", p, nil)
		require.ErrorContains(t, err, "agent: strategy contract: "+setting+": agent contract has no such setting; it is a setting of ")
	}
}

// Digests of prompts change with the rendered context, and only for tasks that have one.
func TestDigestsOfWhatIsGiven(t *testing.T) {
	plain := Digests("contract", Params{}, nil)["prompt"]
	seen := map[string]string{plain: "nothing"}
	for name, p := range map[string]Params{
		"inputs": {Inputs: []strategy.Input{{Name: "a", Value: json.RawMessage("1")}}}, "each": {Each: "a"}, "schema": {AnswerSchema: json.RawMessage(`{}`)}, "memory": {Memory: []strategy.Exchange{{Request: "a", Answer: "b"}}},
	} {
		digest := Digests("contract", p, nil)["prompt"]
		require.Empty(t, seen[digest], name)
		seen[digest] = name
	}
	require.Equal(t, Digests("contract", Params{Inputs: []strategy.Input{{Name: "a", Value: nil}}}, nil)["prompt"], Digests("contract", Params{Inputs: []strategy.Input{{Name: "b", Value: json.RawMessage("1")}, {Name: "c", Value: nil}}}, nil)["prompt"], "templates, not values")
	require.Equal(t, plain, Digests("contract", Params{Images: []providers.Image{{}}}, nil)["prompt"], "an image needs no words")
}
