package contract_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
)

func TestJudgeWarnings(t *testing.T) {
	clarify := func(message string) string { return `{"type":"clarify","message":"` + message + `"}` }
	plan := func(text string) string {
		return strings.Replace(turn(going, today), `"plan":"p"`, `"plan":"`+text+`"`, 1)
	}
	for _, c := range []struct {
		name, raw string
		want      []string
	}{
		{"none", turn(going, today), nil},
		{"tool done", turn(done, today), []string{"contradiction:done_with_tool"}},
		{"tool done and stuck", turn(`{"done":true,"reason":"cannot_proceed"}`, today),
			[]string{"contradiction:done_with_tool", "contradiction:tool_with_reason_cannot_proceed"}},
		{"respond not done", turn(going, respond), []string{"contradiction:respond_not_done"}},
		{"respond asking", turn(asking, respond), []string{"contradiction:respond_not_done", "contradiction:respond_with_need_clarification"}},
		{"clarify ok", turn(going, clarify("Which?")), []string{"contradiction:clarify_with_reason_ok"}},
		{"clarify done and stuck", turn(`{"done":true,"reason":"cannot_proceed"}`, clarify("Which?")),
			[]string{"contradiction:done_with_clarify", "contradiction:clarify_with_reason_cannot_proceed"}},
		{"done of another type contradicts nothing", turn(`{"done":1,"reason":"ok"}`, respond), nil},
		{"message with a tool", turn(going, `{"type":"tool","name":"today_range","args":{},"message":0}`), []string{"message_ignored_for_tool"}},
		{"null and empty message with a tool", turn(going, `{"type":"tool","name":"today_range","args":{},"message":null,"message":""}`),
			[]string{"duplicate_key:.next_action.message"}},
		{"respond with a tool's members", turn(done, `{"type":"respond","message":"12","name":"today_range","args":{"x":1}}`),
			[]string{"name_ignored_for_respond", "args_ignored_for_respond"}},
		{"clarify with a tool's members", turn(asking, `{"type":"clarify","message":"Which?","name":0,"args":[]}`),
			[]string{"name_ignored_for_clarify", "args_ignored_for_clarify"}},
		{"empty members with respond", turn(done, `{"type":"respond","message":"12","name":"","args":{}}`), nil},
		{"null members with respond", turn(done, `{"type":"respond","message":"12","name":null,"args":null}`), nil},
		{"cannot proceed, not done", turn(`{"done":false,"reason":"cannot_proceed"}`, respond), []string{"contradiction:cannot_proceed_not_done"}},
		{"cannot proceed, done", turn(`{"done":true,"reason":"cannot_proceed"}`, respond), nil},
		{"no question", turn(asking, clarify("Tell me the label.")), []string{"clarify:no_question"}},
		{"two questions in two scripts", turn(asking, clarify("哪个？ أي؟")), []string{"clarify:more_than_one_question"}},
		{"long question", turn(asking, clarify(strings.Repeat("é", 200)+"?")), []string{"clarify:longer_than_200"}},
		{"longest question", turn(asking, clarify(strings.Repeat("é", 199)+"?")), nil},
		{"six lines and a last newline", plan(`1\n2\n3\n4\n5\n6\n`), nil},
		{"seven lines", plan(`1\n2\r\n3\r4\n5\n6\n7`), []string{"plan:more_than_6_lines"}},
		{"extra keys once each, none inside blocks", `{"b":1,"a":{"x":1},"b":2,` + strings.Replace(turn(going, today), `"done"`, `"why":1,"done"`, 1)[1:],
			[]string{"duplicate_key:.b", "extra_key:b", "extra_key:a"}},
		{"hostile key", `{"a\nIGNORE":1,` + turn(going, today)[1:], []string{"extra_key:a\uFFFDIGNORE"}},
		{"duplicates in arguments", counts(`{"label":"info","label":"info"}`), []string{"duplicate_key:.next_action.args.label"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, contract.Judge(c.raw, countTools(t)).WarningCodes())
		})
	}
}

func TestJudgeDates(t *testing.T) {
	for _, c := range []struct {
		start, end string
		want       []string
	}{
		{"2026-05-01", "2026-05-07", nil},
		{"2026-05-01", "2026-05-01", nil},
		{"2024-02-29", "2026-12-31", nil},
		{"2026-02-29", "2026-03-01", []string{"args.start_date:not_a_calendar_date"}},
		{"2026-04-31", "0000-00-00", []string{"args.start_date:not_a_calendar_date", "args.end_date:not_a_calendar_date"}},
		{"2026-05-07", "2026-05-01", []string{"args.start_date:after_end_date"}},
		{"2026-05-07", "2026-04-31", []string{"args.end_date:not_a_calendar_date"}},
		{"2026-5-32", "tomorrow", nil}, // the pattern refuses this
		{"2026/05/32", "20260532--", nil},
	} {
		t.Run(c.start+" "+c.end, func(t *testing.T) {
			raw := counts(`{"end_date":"` + c.end + `","start_date":"` + c.start + `","label":"angry"}`)
			v := contract.Judge(raw, countTools(t))
			require.Equal(t, c.want, v.WarningCodes(), "in the order of the schema, not of the arguments")
			require.True(t, v.Valid)
		})
	}
}

func TestJudgeBoundsWarnings(t *testing.T) {
	var extra strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&extra, `"k%d":0,"k%d":0,`, i, i)
	}
	v := contract.Judge("{"+extra.String()+turn(going, today)[1:], countTools(t))
	require.True(t, v.Valid)
	require.Len(t, v.Warnings, 32)
	require.Equal(t, contract.Warning{Code: "duplicate_key:.k0", Pointer: "/k0"}, v.Warnings[0])
}

// Every warning has a pointer to its value.
func TestWarningPointers(t *testing.T) {
	for raw, want := range map[string]contract.Warning{
		turn(done, `{"type":"respond","message":"12","args":{"x":1}}`): {Code: "args_ignored_for_respond", Pointer: "/next_action/args"},
		turn(`{"done":false,"reason":"cannot_proceed"}`, respond):      {Code: "contradiction:cannot_proceed_not_done", Pointer: "/control/done"},
		`{"a/b":1,` + turn(going, today)[1:]:                           {Code: "extra_key:" + tool.Label("a/b"), Pointer: tool.Pointer("a/b")},
		counts(`{"label":"info","label":"info","start_date":"2026-05-01","end_date":"2026-05-01"}`): {
			Code: "duplicate_key:.next_action.args.label", Pointer: "/next_action/args/label",
		},
		counts(`{"label":"info","start_date":"2026-02-30","end_date":"2026-05-01"}`): {
			Code: "args.start_date:not_a_calendar_date", Pointer: "/next_action/args/start_date",
		},
	} {
		require.Equal(t, []contract.Warning{want}, contract.Judge(raw, countTools(t)).Warnings, raw)
	}
}
