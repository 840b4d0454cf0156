package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/plan"
)

func TestPacked(t *testing.T) {
	for _, saved := range []string{`{}`, `{"env":{"a":"<b>"}}`, `{"env":{"a":[` + strings.Repeat(`{"id":"alder-point","value":41},`, 60) + `1]}}`} {
		text, ok := packed(json.RawMessage(saved))
		require.True(t, ok)
		require.NotContains(t, text, "<")
		got, ok := unpacked(text)
		require.True(t, ok)
		require.JSONEq(t, saved, string(got))
	}
	for _, bad := range []string{"AAAA", "-", "{"} {
		_, ok := unpacked(bad)
		require.False(t, ok, bad)
	}
}

// TestPlanFits checks that a planner returns an executable plan, and that each slip
// makes a plan that is not, or none.
func TestPlanFits(t *testing.T) {
	b := deskBooks(t)
	text := "OBJECTIVE:\n<data>" + request + "</data>\n\nCONSTRAINTS: none\n\nINPUTS: none\n\nOUTPUT SCHEMA: none\n\nTOOLS:\n- today: T | Args: none\n- count: C | Args: day (required)\n- close: C | Args: id\n- remove: R | Args: id"
	c := Conversation{System: "You are the planner.", Messages: []Message{{Text: text}}, Tools: []string{createTask}, Must: createTask}
	said := profile(t, "sim-oracle").Reply(c, b)
	require.Len(t, said.Calls, 1)
	var made planOf
	require.NoError(t, json.Unmarshal([]byte(said.Calls[0].Args), &made))
	require.Equal(t, []string{"step_1", "step_2", "step_3", "answer"}, ids(made))
	read := func(p planOf) []plan.Fault {
		_, faults := plan.Read(string(JSON(p)), plan.Known{Tools: []string{"today", "count", "close", "remove"}, MaxSteps: 50})
		return faults
	}
	require.Empty(t, read(made))
	for _, slip := range []planSlip{cyclic, unknownStep, duplicateStep, unknownTools, brokenSchema, noSteps} {
		require.NotEmpty(t, read(misplan(slip, made)), slip)
	}
	require.Contains(t, planAsText(made), " Then: ")
	require.Len(t, profile(t, "sim-nop").Reply(c, b).Calls, 1)
}

func ids(p planOf) (out []string) {
	for _, s := range p.Steps {
		out = append(out, s.ID)
	}
	return out
}

// A step of a plan receives the outputs of the earlier ones, executes its part and returns its
// output.
func TestStepsOfAPlan(t *testing.T) {
	b, oracle := deskBooks(t), profile(t, "sim-oracle")
	system := "You work on one step of a plan.\nOBJECTIVE: <data>" + request + "</data>\nCONSTRAINTS: none\nToday's date is 2026-05-13\n"
	step := func(id, given string, tools []string, pairs ...string) Said {
		c := native(1, pairs...)
		c.System, c.Tools = system, append(tools, finishStep)
		c.Messages[0].Text = "STEP: " + id + "\nINSTRUCTIONS:\n<data>x</data>\n" + given + "\nCarry out the instructions and finish the step."
		return oracle.Reply(c, b)
	}
	require.Equal(t, []Call{{Name: "today", Args: "{}"}}, step("step_1", "", []string{"today"}).Calls)
	said := step("step_1", "", []string{"today"}, counted[:3]...)
	require.Equal(t, []Call{{Name: finishStep, Args: `{"result":{"today":{"date":"2026-05-13"}}}`}}, said.Calls)
	given := "\nRESULT OF step_1:\n<data>{\"today\":{\"date\":\"2026-05-13\"}}</data>\n"
	require.Len(t, step("step_2", given, []string{"count"}).Calls, 2)
	said = step("step_2", given, []string{"count"}, counted[3:]...)
	require.Equal(t, finishStep, said.Calls[0].Name)
	require.Contains(t, said.Calls[0].Args, `"value":7`)
	require.Contains(t, step("step_2", "", []string{"count"}).Calls[0].Args, "I was not given today", "a value is missing")
}

// TestSummariesAreReadAgain checks that a model uses its own summary like the original
// messages.
func TestSummariesAreReadAgain(t *testing.T) {
	b, oracle := deskBooks(t), profile(t, "sim-oracle")
	history := "x\n\nHISTORY:\n- summary of what was before: <data>today {} gave {\"date\":\"2026-05-13\"}</data>\n- call: count <data>" + counted[4] + "</data>\n- tool count: <data>" + counted[5] +
		"</data>\n- call: count <data>{}</data>\n- tool count: <data>{\"error\":{\"code\":\"E_X\",\"message\":\"m\"}}</data>"
	summary := oracle.Reply(Conversation{System: "You condense the history of one step of a plan, for whoever.", Messages: []Message{{Text: history}}}, b).Text
	require.Equal(t, "today {} gave {\"date\":\"2026-05-13\"}\ncount "+counted[4]+" gave "+counted[5], summary)
	require.Len(t, readSummary(summary), 2)

	c := native(1)
	c.System = "You work on one step of a plan.\nOBJECTIVE: <data>" + request + "</data>\n"
	c.Messages[0].Text = "STEP: step_2\nINSTRUCTIONS:\n<data>x</data>\n\nRESULT OF step_1:\n<data>{\"today\":{\"date\":\"2026-05-13\"}}</data>\n\nSUMMARY OF WHAT WAS DONE SO FAR:\n<data>" + summary + "</data>"
	require.Equal(t, []Call{{Name: "count", Args: `{"day":"2026-05-13","label":"praise"}`}}, oracle.Reply(c, b).Calls)

	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "- call: count <data>{\"n\":%d}</data>\n- tool count: <data>{\"v\":%d}</data>\n", i, i)
	}
	summary = oracle.Reply(Conversation{System: "You condense the history of one step of a plan.", Messages: []Message{{Text: "x\n\nHISTORY:\n" + long.String()}}}, b).Text
	require.LessOrEqual(t, Tokens(summary), maxCondensed)
	require.Contains(t, summary, `{"n":99}`)
}

// TestTextProtocol checks calls and answers in lines, with the tools that the prompt
// lists.
func TestTextProtocol(t *testing.T) {
	b, oracle := deskBooks(t), profile(t, "sim-oracle")
	system := "1) today: T.\nschema = {}\n2) count: C.\nschema = " + countSchema + "\n3) close: C.\nschema = {}\n4) remove: R.\nschema = {}\n5) ask_user: A.\nschema = {}\nAction Input: its arguments"
	c := Conversation{System: system, Messages: []Message{{Text: request}}}
	require.Equal(t, "Thought: I need what today returns.\nAction: today\nAction Input: {}", oracle.Reply(c, b).Text)
	for i := 0; i < len(counted); i += 3 {
		c.Messages = append(c.Messages, Message{Own: true, Text: "Thought: t\nAction: " + counted[i] + "\nAction Input: " + counted[i+1]}, Message{Text: "Observation: " + counted[i+2]})
	}
	require.Contains(t, oracle.Reply(c, b).Text, "Action: close")
	c.Messages = append(c.Messages, Message{Own: true, Text: "Action: close\nAction Input: {\"id\":\"a1\"}"}, Message{Text: "Observation: {}"})
	require.Contains(t, oracle.Reply(c, b).Text, "Final Answer: 7 angry and 12 praise messages; closed.")
	whole := "System: " + system
	for _, m := range c.Messages {
		whole += "\n\n" + map[bool]string{true: "Assistant: ", false: "User: "}[m.Own] + m.Text
	}
	require.Contains(t, oracle.Reply(Conversation{Messages: []Message{{Text: whole}}}, b).Text, "Final Answer: 7 angry", "one text, as wires without messages have it")
}

// TestCompress checks that a summary has the seven headings in their order and keeps
// the plan, which is the model's memory.
func TestCompress(t *testing.T) {
	log := "GOAL: <data>" + request + "</data>\nCONSTRAINTS: c\nPLAN: Call count, then go on; known at turn 1: {\"at\":1}\nPROGRESS:\nOBS:\nRAW_LOG:\n- tool result: turn 2 count {} -> ok <data>{\"value\":7}</data>\n- noted: turn 2 <data>x</data>\n"
	system := strings.Join(summaryParts, "\n")
	text := profile(t, "sim-strong").Reply(Conversation{System: system, Messages: []Message{{Text: log}}}, nil).Text
	at := -1
	for _, heading := range summaryParts {
		next := strings.Index(text, heading+":")
		require.Greater(t, next, at, heading)
		at = next
	}
	require.Contains(t, text, `known at turn 1: {"at":1}`)
	require.Contains(t, text, "- tool result: turn 2 count")
	require.LessOrEqual(t, Tokens(text), 600)
}

// TestShaped checks that an answer for a schema is its value, or the only member that
// the tool has.
func TestShaped(t *testing.T) {
	require.True(t, slices.Contains(agentTools, finalAnswer))
	for _, test := range []struct{ schema, value, want string }{
		{`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`, `{"n":7}`, `{"n":7}`},
		{`{"type":"object","properties":{"output":{"type":"array"}},"required":["output"]}`, `[1]`, `{"output":[1]}`},
		{`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, ``, `{"text":"t"}`},
		{``, `5`, `{"output":5}`},
	} {
		tu := &turn{Conversation: Conversation{Schemas: map[string]json.RawMessage{finalAnswer: json.RawMessage(test.schema)}}}
		a := answerOf("t", test.value)
		require.JSONEq(t, test.want, string(JSON(tu.shaped(finalAnswer, a))))
	}
}
