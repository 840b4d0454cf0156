package sim

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const textSystem = "You are a helpful assistant.\n\nCONSTRAINTS: Weeks start on Monday.\n\n" + testTools +
	"3) ask_user: Asks the user.\nschema = {\"type\":\"object\",\"properties\":{\"question\":{\"type\":\"string\"}},\"required\":[\"question\"]}\n" +
	"4) cannot_proceed: Gives up.\nschema = {\"type\":\"object\",\"properties\":{\"reason\":{\"type\":\"string\"}},\"required\":[\"reason\"]}\n\n" +
	"Thought: what you know\nAction: the name of one tool\nAction Input: its arguments, one JSON object\nor\nThought: what you know\nFinal Answer: the answer to the user\n"

// texting is an inquiry in the text protocol: the user and the model take turns.
func texting(turns ...string) modelRequest {
	q := modelRequest{talk: talk{system: textSystem}}
	for i, text := range turns {
		q.messages = append(q.messages, utterance{at: i, own: i%2 == 1, text: text})
	}
	q.settle()
	return q
}

func TestTextProtocol(t *testing.T) {
	p, _ := profileFor("sim-strong")
	const (
		args   = `{"start_date":"2026-05-03","end_date":"2026-05-03","label":"angry"}`
		action = "Thought: x\nAction: get_counts\nAction Input: " + args
		counts = `Observation: {"label":"angry","start":"2026-05-03","end":"2026-05-03","value":31}`
	)
	for name, c := range map[string]struct {
		turns []string
		want  string // what follows the thought
	}{
		"a call":           {[]string{"angry on 2026-05-03?"}, "Action: get_counts\nAction Input: " + args},
		"one at a time":    {[]string{"angry and praise on 2026-05-03?"}, "Action: get_counts\nAction Input: " + args},
		"no arguments":     {[]string{"angry today?"}, "Action: today_range\nAction Input: {}"},
		"an answer":        {[]string{"angry on 2026-05-03?", action, counts}, "Final Answer: angry messages on 2026-05-03: 31."},
		"an error":         {[]string{"angry on 2026-05-03?", action, `Observation: {"error":{"code":"E_UPSTREAM","message":"x"}}`}, "Action: get_counts\nAction Input: " + args},
		"a question":       {[]string{"How many on 2026-05-03?"}, "Action: ask_user\nAction Input: {\"question\":\"Which label do you mean: angry, praise or info?\"}"},
		"a reply":          {[]string{"How many on 2026-05-03?", "Action: ask_user\nAction Input: {\"question\":\"Which?\"}", `Observation: "ANGRY"`}, "Action: get_counts\nAction Input: " + args},
		"giving up":        {[]string{"Delete the angry messages"}, "Action: cannot_proceed\nAction Input: {\"reason\":\"I can only count messages; I cannot change, delete or send anything.\"}"},
		"reflection":       {[]string{"angry on 2026-05-03?", action, counts, action, counts + "\n\nNothing new came of that.\nREFLECT: you repeated get_counts with identical arguments; choose a different action."}, "Final Answer: angry messages on 2026-05-03: 31."},
		"no room":          {[]string{"angry on 2026-05-03?", "Thought: x", noRoom + " results. Call no more tools: answer now with what you have."}, "Action: cannot_proceed\nAction Input: {\"reason\":\"I cannot give the count: no tool calls are left.\"}"},
		"an old violation": {[]string{"angry on 2026-05-03?", "I look.", "That could not be used:\n- react.format: neither an Action nor a Final Answer"}, "Action: get_counts\nAction Input: " + args},
	} {
		t.Run(name, func(t *testing.T) {
			out, ok := p.converse(texting(c.turns...), calm)
			require.True(t, ok)
			thought, rest, _ := strings.Cut(out.text, "\n")
			require.True(t, strings.HasPrefix(thought, "Thought: "), out.text)
			require.Equal(t, c.want, rest)
			require.Empty(t, out.calls)
		})
	}
}

// TestConversationInOneText: wires without messages send one text, which reads alike.
func TestConversationInOneText(t *testing.T) {
	p, _ := profileFor("sim-strong")
	turns := []string{"angry on 2026-05-03?", "Thought: x\nAction: today_range\nAction Input: {}", `Observation: {"start_date":"2026-05-13"}`}
	want, ok := p.converse(texting(turns...), calm)
	require.True(t, ok)
	one := modelRequest{messages: []utterance{user("System: " + textSystem + "\n\nUser: " + turns[0] + "\n\nAssistant: " + turns[1] + "\n\nUser: " + turns[2] + "\n\nAssistant:")}}
	one.settle()
	got, ok := p.converse(one, calm)
	require.True(t, ok)
	require.Equal(t, want, got)
}

// TestTextRates holds the text protocol to the documented rates.
func TestTextRates(t *testing.T) {
	for _, p := range profiles {
		t.Run(p.name, func(t *testing.T) {
			seen := map[textSlip]int{}
			for i := range protocolSamples {
				d := drawsFor(5, p.name, fmt.Sprint(i), nil)
				d.decision, d.trust = 1, 1
				out, _ := p.converse(texting(oneCount), d)
				switch {
				case !strings.Contains(out.text, "Action:"):
					seen[noLines]++
				case !strings.Contains(out.text, "Action Input:"):
					seen[noInput]++
				case !strings.HasPrefix(out.text, "Thought:"):
					seen[chatter]++
				}
			}
			for _, r := range p.text {
				requireRate(t, string(r.kind), seen[r.kind], protocolSamples, r.p*timesIn(p, oneCount))
			}
		})
	}
	a := answer("31.")
	require.Equal(t, "31.", misspeak(noLines, "Final Answer: 31.", a, 0))
	require.Equal(t, "Final Answer: 31.", misspeak(noInput, "Final Answer: 31.", a, 0), "it does not fit")
}

// TestOtherPromptsGetTheSentence: what is no protocol is answered as ever.
func TestOtherPromptsGetTheSentence(t *testing.T) {
	h := Handler(Config{Seed: 1})
	for name, a := range map[string]asked{
		"no tools":      {turns: []utterance{user("Hi")}},
		"unknown tools": {turns: []utterance{user("Hi")}, tools: []string{"f", "g"}},
		"a step":        {system: "You work on one step of a plan.", turns: []utterance{user("Hi")}},
		"a plan":        {system: plannerSystem, turns: []utterance{user("Hi")}, tools: []string{createTask}},
		"half a plan":   {system: plannerSystem, turns: []utterance{user("OBJECTIVE: none")}, tools: []string{createTask}},
		"half a step":   {system: "You work on one step of a plan.", turns: []utterance{user("STEP: a\nHi")}},
		"no TOOLS":      {system: "Action Input: x", turns: []utterance{user("Hi")}},
		"only comments": {system: textSystem, turns: []utterance{user("Observation: x")}},
	} {
		t.Run(name, func(t *testing.T) {
			a.model = "sim-strong"
			require.Equal(t, notContract, openAITongue.do(t, h, a).text)
		})
	}
}

// BenchmarkNativeReply is of a turn with a conversation behind it, without the wire.
// Floor: reading the request alone takes about 40 µs.
func BenchmarkNativeReply(b *testing.B) {
	p, _ := profileFor("sim-strong")
	q := countingUp(true)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.converse(q, calm); !ok {
			b.Fatal("no reply")
		}
	}
}
