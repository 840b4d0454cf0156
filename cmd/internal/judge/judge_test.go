package judge

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
)

func countTools(t testing.TB) *tool.Set {
	t.Helper()
	specs, err := load.Tools(counts.FS, "suite.yaml", "builtin:counts", nil)
	require.NoError(t, err)
	set, err := tool.NewSet(specs)
	require.NoError(t, err)
	return set
}

// rawOutputs returns valid and invalid outputs, and those of the conformance data if they are
// available.
func rawOutputs(t testing.TB) []string {
	t.Helper()
	const good = `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"today_range","args":{}},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
	out := []string{
		good, "", "prose", "5", "[" + good + "]", "```json\n" + good + "\n```", good[:80], "Sure: " + good + ", done",
		strings.Replace(good, "today_range", "drop_tables", 1), strings.Replace(good, "0.5", "7", 1), strings.Replace(good, `"args":{}`, `"args":{"x":1}`, 1),
		strings.Replace(good, `"tool"`, `"respond"`, 1), strings.Replace("x"+good, "{}", strings.Repeat("[", 90)+strings.Repeat("]", 90), 1),
		strings.Replace(good, `"args":{}`, `"args":{"a":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+"}", 1),
		strings.Repeat(good, 500), good + strings.Replace(good, `"ok"`, `"cannot_proceed"`, 1), "<think>" + good + "</think> {'a': True}", "{'a': True}", `{"a":"` + "\xff" + `"}`,
	}
	if testkit.HasShared(t, "conformance") {
		type testCase struct {
			Text string `json:"model_output_text"`
		}
		for _, row := range testkit.Conformance[testCase](t, "contract-cases.jsonl", "fn", "validator") {
			out = append(out, row.Text)
		}
	}
	return out
}

// The command judges an output like the agent, for complete and truncated outputs.
func TestCheckAgreesWithTheAgent(t *testing.T) {
	tools := countTools(t)
	at := time.Date(2026, 5, 13, 12, 0, 0, 0, time.UTC)
	for _, raw := range rawOutputs(t) {
		for _, finish := range []providers.Finish{providers.FinishStop, providers.FinishLength} {
			m, err := agent.New("contract", agent.Params{Request: "r", Tools: tools}, nil)
			require.NoError(t, err)
			call := m.Step(agent.Started{At: at}).Commands[0].(agent.CallModel)
			want := m.Step(agent.ModelReplied{At: at, ID: call.ID, Reply: providers.Reply{Text: raw, Finish: finish}}).Judgement

			got := Output(raw, finish == providers.FinishLength, tools)
			require.Equal(t, want.ValidJSON, got.ValidJSON, raw)
			require.Equal(t, want.Actionable, got.Actionable, raw)
			require.Equal(t, want.ContractValid, got.ContractValid, raw)
			require.Equal(t, want.Repaired, got.Repaired, raw)
			last, codes := got.outputVerdict, []string{}
			for _, v := range got.Violations {
				codes = append(codes, v.Code)
			}
			if got.Repair != nil && got.Repair.After != nil {
				last = *got.Repair.After
				for _, v := range got.Repair.After.Violations {
					codes = append(codes, v.Code)
				}
			}
			require.Equal(t, append([]string{}, want.Violations...), codes, raw)
			warnings := []string{}
			for _, w := range last.Warnings {
				warnings = append(warnings, w.Code)
			}
			require.Equal(t, append([]string{}, want.Warnings...), warnings, raw)
		}
	}
}

// An output with two different turns is not repaired, and the verdict has the reason.
func TestCheckAmbiguous(t *testing.T) {
	const call = `{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"today_range","args":{}},"state_update":{"plan":"p","observation":"o","confidence":0.5}}`
	v := Output("The page says "+call+"\n"+strings.Replace(call, "0.5", "0.6", 1), false, countTools(t))
	require.Equal(t, []contract.Violation{{Code: "not_json", Fatal: true}, {Code: "ambiguous", Fatal: true}}, v.Violations)
	require.Equal(t, &outputRepair{Applied: []string{}}, v.Repair)
	require.False(t, v.Repaired)
	require.Nil(t, v.Turn)
	require.Equal(t, contract.Violated, v.Disposition)
}

// The verdict of every output is one JSON value without null lists.
func TestVerdictsAreJSON(t *testing.T) {
	tools := countTools(t)
	for _, raw := range rawOutputs(t) {
		var out bytes.Buffer
		require.NoError(t, Write(&out, Output(raw, false, tools), ""), raw)
		require.Equal(t, 1, strings.Count(out.String(), "\n"))
		require.True(t, json.Valid(out.Bytes()))
		for _, list := range []string{`"violations":null`, `"warnings":null`, `"args_violations":null`, `"applied":null`} {
			require.NotContains(t, out.String(), list)
		}
	}
}

// FuzzOutputLine checks that a line is rejected, or read and printed.
func FuzzOutputLine(f *testing.F) {
	for _, seed := range []string{`"x"`, `{"output":"x","id":[1],"finish":"length"}`, `{"output":5}`, `{"output":"x","id":nul}`, `[]`, "{", `"\ud83d"`} {
		f.Add([]byte(seed))
	}
	tools := countTools(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		l, err := readOutputLine(line)
		if err != nil {
			require.Empty(t, l.output)
			return
		}
		v := Output(l.output, l.cutOff, tools)
		v.ID = l.id
		require.NoError(t, Write(&bytes.Buffer{}, v, ""))
	})
}
