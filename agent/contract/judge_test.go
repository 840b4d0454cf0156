package contract_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
)

// turn writes a contract object around an action, with a valid state update.
func turn(control, action string) string {
	return `{"control":` + control + `,"next_action":` + action + `,"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
}

const (
	going   = `{"done":false,"reason":"ok"}`
	done    = `{"done":true,"reason":"ok"}`
	asking  = `{"done":false,"reason":"need_clarification"}`
	today   = `{"type":"tool","name":"today_range","args":{}}`
	respond = `{"type":"respond","message":"12"}`
)

func counts(args string) string {
	return turn(going, `{"type":"tool","name":"get_counts","args":`+args+`}`)
}

func codes(v contract.Verdict) []string {
	var out []string
	for _, b := range v.Violations {
		code := b.Code
		if b.Fatal {
			code += "!"
		}
		out = append(out, code)
	}
	return out
}

func TestJudgeViolations(t *testing.T) {
	deep := strings.Repeat("[", 70) + strings.Repeat("]", 70)
	for _, c := range []struct {
		name, raw string
		want      []string // a ! marks a fatal violation
	}{
		{"trailing text", turn(going, today) + "x", []string{"not_json!"}},
		{"byte-order mark", "\uFEFF" + turn(going, today), []string{"not_json!"}},
		{"invalid UTF-8", turn(going, `{"type":"respond","message":"`+"\xff"+`"}`), []string{"not_json!"}},
		{"array", `[` + turn(going, today) + `]`, []string{"not_object!"}},
		{"too large", turn(done, `{"type":"respond","message":"`+strings.Repeat("x", 64<<10)+`"}`), []string{"too_large!"}},
		{"too many values", turn(done, `{"type":"respond","message":"x","y":[0`+strings.Repeat(",0", 9000)+`]}`), []string{"too_large!"}},
		{"too deep inside arguments", counts(`{"a":` + deep + `}`), []string{"too_deep!"}},
		{"nothing", `{}`, []string{"control:object_required!", "next_action:object_required!", "state_update:object_required"}},
		{"folded keys", `{"CONTROL":{},"Next_Action":{},"stateUpdate":{}}`, []string{"control:object_required!", "next_action:object_required!", "state_update:object_required"}},
		{"empty blocks", `{"control":{},"next_action":{},"state_update":{}}`, []string{
			"control.done:boolean_required!", "control.reason:enum", "next_action.type:enum!",
			"state_update.plan:string_required", "state_update.observation:string_required", "state_update.confidence:number_required",
		}},
		{"tool without name and args", turn(going, `{"type":"tool"}`), []string{"next_action.name:string_required!", "next_action.args:object_required!"}},
		{"empty name", turn(going, `{"type":"tool","name":"","args":{}}`), []string{"next_action.name:string_required!"}},
		{"unknown tool and null args", turn(going, `{"type":"tool","name":"toString","args":null}`), []string{"next_action.name:unknown_tool!", "next_action.args:object_required!"}},
		{"name ending in an escaped newline", turn(going, `{"type":"tool","name":"today_range\u000a","args":{}}`), []string{"next_action.name:unknown_tool!"}},
		{"escaped name", turn(going, `{"type":"tool","name":"today\u005frange","args":{}}`), nil},
		{"empty message", turn(done, `{"type":"respond","message":""}`), []string{"next_action.message:blank!"}},
		{"invisible message", turn(done, `{"type":"respond","message":"\u00a0\u200b\ufeff"}`), []string{"next_action.message:blank!"}},
		{"last duplicate wins", turn(going, `{"type":"respond","message":"x","type":"tool","name":"today_range","args":{}}`), nil},
		{"last duplicate block wins", `{"control":` + going + `,` + turn(`5`, today)[1:], []string{"control:object_required!"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := contract.Judge(c.raw, countTools(t))
			require.Equal(t, c.want, codes(v))
			require.Equal(t, len(c.want) == 0, v.Valid)
			fatal := strings.Contains(strings.Join(c.want, " "), "!")
			require.Equal(t, !fatal, v.Actionable)
			if fatal {
				require.Equal(t, contract.Violated, v.Disposition)
			}
		})
	}
}

func TestJudgeConfidence(t *testing.T) {
	for _, c := range []struct {
		lexeme string
		code   string
		want   float64
	}{
		{"0", "", 0}, {"-0.0", "", 0}, {"1", "", 1}, {"1e0", "", 1}, {"0.25", "", 0.25}, {"1e-400", "", 0},
		{"1.0000001", "range", 0}, {"-0.0001", "range", 0}, {"1e999", "range", 0}, {"84", "range", 0},
		{`"0.5"`, "number_required", 0}, {"null", "number_required", 0}, {"true", "number_required", 0}, {"[0.5]", "number_required", 0},
	} {
		t.Run(c.lexeme, func(t *testing.T) {
			v := contract.Judge(strings.Replace(turn(going, today), "0.5", c.lexeme, 1), countTools(t))
			require.Equal(t, contract.RunTool, v.Disposition)
			if c.code != "" {
				require.Equal(t, []string{"state_update.confidence:" + c.code}, codes(v))
				require.Nil(t, v.Turn.Confidence)
				return
			}
			require.True(t, v.Valid)
			require.Equal(t, c.want, *v.Turn.Confidence)
		})
	}
}

func TestJudgePointers(t *testing.T) {
	v := contract.Judge(`{"control":{"done":1},"next_action":{"type":"tool"},"state_update":{}}`, countTools(t))
	var pointers []string
	for _, b := range v.Violations {
		pointers = append(pointers, b.Pointer)
	}
	require.Equal(t, []string{
		"/control/done", "/control/reason", "/next_action/name", "/next_action/args",
		"/state_update/plan", "/state_update/observation", "/state_update/confidence",
	}, pointers)
	require.Empty(t, contract.Judge("x", nil).Violations[0].Pointer)
}

func TestJudgeTurn(t *testing.T) {
	v := contract.Judge(counts(`{ "label":"angry",  "end_date":"2026-05-07","start_date":"2026-05-01"}`), countTools(t))
	require.True(t, v.Valid)
	half := 0.5
	require.Equal(t, contract.Turn{
		Reason: "ok", Type: "tool", Name: "get_counts", Plan: "p", Observation: "o", Confidence: &half,
		Args: []byte(`{ "label":"angry",  "end_date":"2026-05-07","start_date":"2026-05-01"}`), // kept byte for byte
	}, v.Turn)

	v = contract.Judge(turn(done, `{"type":"respond","message":"\ud83d 12\u0000","name":"get_counts","args":{}}`), countTools(t))
	require.True(t, v.Valid)
	require.Equal(t, contract.Turn{Done: true, Reason: "ok", Type: "respond", Message: "\uFFFD 12\x00", Plan: "p", Observation: "o", Confidence: &half}, v.Turn)

	v = contract.Judge(`{"control":{"done":true,"reason":"OK"},"next_action":{"type":"Tool"},"state_update":{"plan":5,"observation":"seen"}}`, countTools(t))
	require.Equal(t, contract.Turn{Done: true, Observation: "seen"}, v.Turn, "what can be read is kept")
}

func TestJudgeArguments(t *testing.T) {
	for _, c := range []struct {
		name, args string
		want       []string
	}{
		{"nothing", `{}`, []string{"args.start_date:required", "args.end_date:required", "args.label:required"}},
		{"newline after the date", `{"start_date":"2026-05-01\n","end_date":"2026-05-01","label":"info"}`, []string{"args.start_date:pattern"}},
		{"duplicate key", `{"start_date":"2026-05-01","end_date":"2026-05-01","label":"info","label":"angry"}`, []string{"args.label:duplicate_key"}},
		{"in schema order", `{"x":1,"label":"meh","end_date":5,"start_date":"x"}`,
			[]string{"args.start_date:pattern", "args.end_date:type", "args.label:enum", "args.x:additional"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := contract.Judge(counts(c.args), countTools(t))
			require.True(t, v.Valid, "arguments are no matter of the contract")
			require.Equal(t, c.want, v.ArgsViolations)
			require.Equal(t, contract.RejectArgs, v.Disposition)
		})
	}
	v := contract.Judge(turn(going, `{"type":"tool","name":"drop_tables","args":{"x":1}}`), countTools(t))
	require.Empty(t, v.ArgsViolations, "an unknown tool has no schema")
}

func TestJudgeDisposition(t *testing.T) {
	for _, c := range []struct {
		name, control, action string
		want                  contract.Disposition
	}{
		{"tool", going, today, contract.RunTool},
		{"tool that says done", done, today, contract.RunTool},
		{"tool that cannot proceed", `{"done":true,"reason":"cannot_proceed"}`, today, contract.RunTool},
		{"respond", done, respond, contract.AnswerAndExit},
		{"respond that is not done", going, respond, contract.AnswerAndExit},
		{"respond that cannot proceed", `{"done":false,"reason":"cannot_proceed"}`, respond, contract.CannotProceed},
		{"respond with a bad reason", `{"done":true,"reason":"cannot-proceed"}`, respond, contract.AnswerAndExit},
		{"clarify", asking, `{"type":"clarify","message":"Which?"}`, contract.AskAndPause},
		{"clarify that cannot proceed", `{"done":true,"reason":"cannot_proceed"}`, `{"type":"clarify","message":"Which?"}`, contract.AskAndPause},
		{"no action", going, `{}`, contract.Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, contract.Judge(turn(c.control, c.action), countTools(t)).Disposition)
		})
	}
}

func TestJudgeWithoutTools(t *testing.T) {
	require.Equal(t, []string{"next_action.name:unknown_tool!"}, codes(contract.Judge(turn(going, today), nil)))
	require.True(t, contract.Judge(turn(done, respond), nil).Valid)
}

// TestInvisibleMessagesAreBlank has a message for each invisible character of Unicode,
// raw and as an escape.
func TestInvisibleMessagesAreBlank(t *testing.T) {
	tools := countTools(t)
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) && r != 0x2800 && r != 0x3164 {
			continue
		}
		var messages []string
		if r >= ' ' { // JSON does not allow raw control characters
			messages = append(messages, string(r)+" "+string(r))
		}
		if r <= 0xFFFF {
			messages = append(messages, fmt.Sprintf(`\u%04x`, r))
		}
		for _, m := range messages {
			for _, action := range []string{`{"type":"respond","message":"` + m + `"}`, `{"type":"clarify","message":"` + m + `"}`} {
				v := contract.Judge(turn(done, action), tools)
				require.Equal(t, []string{"next_action.message:blank!"}, codes(v), "%U", r)
			}
			require.True(t, contract.Judge(turn(done, `{"type":"respond","message":"`+m+`0"}`), tools).Actionable, "%U", r)
		}
	}
}
