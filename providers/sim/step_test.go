package sim

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const stepSystem = "You work on one step of a plan.\n\nOBJECTIVE: <data>Compare angry and praise today</data>\nCONSTRAINTS: Weeks start on Monday.\n\nToday's date is 2026-05-13\n"

// stepping is the inquiry of a step; finish is the schema of its result, if it has one.
func stepping(instructions, rest, finish string, tools []string, turns ...utterance) modelRequest {
	text := "STEP: s\nINSTRUCTIONS:\n<data>" + instructions + "</data>\n" + rest + "Carry out the instructions and finish the step."
	q := modelRequest{talk: talk{system: stepSystem}, messages: append([]utterance{user(text)}, turns...)}
	for _, name := range tools {
		q.offer(name, nil)
	}
	if finish != "" {
		q.offer(finishStep, json.RawMessage(`{"type":"object","properties":{"result":`+finish+`},"required":["result"]}`))
	}
	q.settle()
	return q
}

func called(name, args, answer string) []utterance {
	return []utterance{{own: true, calls: []invocation{{"c1", name, args}}}, {results: []result{{id: "c1", text: answer}}}}
}

func TestSteps(t *testing.T) {
	p, _ := profileFor("sim-strong")
	const (
		args   = `{"start_date":"2026-05-13","end_date":"2026-05-13","label":"angry"}`
		counts = `{"label":"angry","start":"2026-05-13","end":"2026-05-13","value":449}`
		today  = "\nRESULT OF today:\n<data>{\"start_date\":\"2026-05-13\"}</data>\n"
	)
	for name, c := range map[string]struct {
		inquiry modelRequest
		want    string // the call, or the text
	}{
		"today":         {stepping("Find out today's date with today_range.", "", todaySchema, []string{todayRange}), "today_range {}"},
		"today known":   {stepping("Find out today's date with today_range.", "", todaySchema, []string{todayRange}, called(todayRange, "{}", `{"start_date":"2026-05-13","end_date":"2026-05-13"}`)...), `finish_step {"result":{"start_date":"2026-05-13"}}`},
		"count":         {stepping("Count the angry messages today with get_counts.", today, countSchema, []string{getCounts}), "get_counts " + args},
		"today by date": {stepping("Count the angry messages today with get_counts.", "", countSchema, []string{getCounts}), "get_counts " + args},
		"counted":       {stepping("Count the angry messages today with get_counts.", today, countSchema, []string{getCounts}, called(getCounts, args, counts)...), `finish_step {"result":{"end":"2026-05-13","label":"angry","note":"","start":"2026-05-13","value":449}}`},
		"no data": {stepping("Count the angry messages today with get_counts.", today, countSchema, []string{getCounts}, called(getCounts, args, `{"label":"angry","start":"2026-05-13","end":"2026-05-13","value":null}`)...),
			`finish_step {"result":{"end":"2026-05-13","label":"angry","note":"","start":"2026-05-13","value":null}}`},
		"a text":   {stepping("Count the angry messages today with get_counts.", today, "", []string{getCounts}, called(getCounts, args, counts)...), "angry messages on 2026-05-13: 449."},
		"a number": {stepping("Count the angry messages today with get_counts.", today, `{"type":"integer"}`, []string{getCounts}, called(getCounts, args, counts)...), `finish_step {"result":449}`},
		"a string": {stepping("Count the angry messages today with get_counts.", today, `{"type":"string"}`, []string{getCounts}, called(getCounts, args, counts)...), `finish_step {"result":"angry messages on 2026-05-13: 449."}`},
		"gives up": {stepping("Delete the angry messages.", "", `{"type":"object","properties":{"note":{"type":"string"},"value":{"type":["integer","null"]}}}`, nil), `finish_step {"result":{"note":"I can only count messages; I cannot change, delete or send anything.","value":null}}`},
		"a bad finish": {stepping("Find out today's date with today_range.", "", todaySchema, []string{todayRange}, append(called(todayRange, "{}", `{"start_date":"2026-05-13"}`), called(finishStep, "{}", "- step.schema: result is missing")...)...),
			`finish_step {"result":{"start_date":"2026-05-13"}}`},
		"the answer": {stepping("Compare angry and praise today", today+"\nRESULT OF angry:\n<data>"+counts+"</data>\n\nRESULT OF praise:\n<data>{\"label\":\"praise\",\"start\":\"2026-05-13\",\"end\":\"2026-05-13\",\"value\":749,\"note\":\"\"}</data>\n", "", []string{todayRange, getCounts}),
			"On 2026-05-13: angry 449, praise 749. More praise than angry, by 300."},
		"texts as results": {stepping("Compare angry and praise on 2026-05-13", "\nRESULT OF angry:\n<data>\"angry messages on 2026-05-13: 449.\"</data>\n\nRESULT OF praise:\n<data>\"praise messages on 2026-05-13: 749.\"</data>\n", "", nil),
			"On 2026-05-13: angry 449, praise 749. More praise than angry, by 300."},
		"a list": {stepping("Compare angry and praise on 2026-05-13", "\nINPUT known:\n<data>["+counts+",{\"label\":\"praise\",\"start\":\"2026-05-13\",\"end\":\"2026-05-13\",\"value\":749}]</data>\n", `{"type":"object","properties":{"angry":{"type":"integer"},"praise":{"type":"integer"},"difference":{"type":"number"},"answer":{"type":"string"}}}`, nil),
			`finish_step {"result":{"angry":449,"answer":"On 2026-05-13: angry 449, praise 749. More praise than angry, by 300.","difference":300,"praise":749}}`},
		"a failed result": {stepping("Count the angry messages on 2026-05-13.", "\nRESULT OF angry:\n<data>{\"label\":\"angry\",\"start\":\"2026-05-13\",\"end\":\"2026-05-13\",\"value\":null,\"note\":\"get_counts keeps failing\"}</data>\n", "", nil),
			"I cannot give the count: no tool on offer counts messages."},
	} {
		t.Run(name, func(t *testing.T) {
			out, ok := p.converse(c.inquiry, calm)
			require.True(t, ok)
			got := out.text
			for _, call := range out.calls {
				got += call.name + " " + call.args
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestStepsHaveNobodyToAsk: a needless question does not happen where no one answers.
func TestStepsHaveNobodyToAsk(t *testing.T) {
	p, _ := profileFor("sim-weak")
	for i := range uint64(protocolSamples) {
		d := calm
		d.decision, d.decisionDetail = float64(i)/protocolSamples, i*0x9e3779b97f4a7c15
		out, _ := p.converse(stepping("Count the angry messages on 2026-05-03 with get_counts.", "", countSchema, []string{getCounts}), d)
		require.Len(t, out.calls, 1, "%+v", out)
		require.Contains(t, []string{getCounts, finishStep}, out.calls[0].name)
	}
}
