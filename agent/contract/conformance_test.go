package contract_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// countTools are the two tools of the reference contract, for all tests here.
func countTools(t testing.TB) *tool.Set {
	t.Helper()
	tools, err := tool.NewSet([]tool.Spec{
		{Name: "get_counts", Description: "Counts messages.", Schema: json.RawMessage(`{
			"type": "object",
			"properties": {
				"start_date": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
				"end_date": {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$"},
				"label": {"type": "string", "enum": ["angry", "praise", "info"]}
			},
			"required": ["start_date", "end_date", "label"],
			"additionalProperties": false
		}`)},
		{Name: "today_range", Description: "Today.", Schema: json.RawMessage(`{"type": "object", "properties": {}, "additionalProperties": false}`)},
	})
	require.NoError(t, err)
	return tools
}

// superseded are the rows whose repair the contract now refuses as ambiguous, with the
// reason.
var superseded = map[string]string{
	"V055": "two different turns: which of them is meant cannot be known",
}

// conformanceCase is one validator row of the conformance data.
type conformanceCase struct {
	ID     string
	Kind   string
	Text   string `json:"model_output_text"`
	Expect struct {
		Parse          string
		OK, Actionable bool
		Violations     []struct {
			Code  string
			Fatal bool
		}
		Warnings       []string
		ArgsViolations []string `json:"args_violations"`
		Disposition    contract.Disposition
		Repair         *struct {
			OK      bool
			Applied []string
			Text    *string
			After   *struct {
				OK, Actionable bool
				Disposition    contract.Disposition
			}
		}
	}
}

func TestConformance(t *testing.T) {
	tools := countTools(t)
	for _, c := range conformanceCases(t) {
		t.Run(c.ID, func(t *testing.T) { checkConformance(t, c, tools) })
	}
}

// conformanceCases reads the validator rows.
func conformanceCases(t testing.TB) []conformanceCase {
	return testkit.Conformance[conformanceCase](t, "contract-cases.jsonl", "fn", "validator")
}

func checkConformance(t *testing.T, c conformanceCase, tools *tool.Set) {
	raw := c.Text
	if c.Kind == "json" && raw[0] == '"' { // the row has the text as a JSON string
		require.NoError(t, json.Unmarshal([]byte(c.Text), &raw))
	}
	got, want := contract.Judge(raw, tools), c.Expect

	parse := "ok"
	if !got.ValidJSON {
		parse = got.Violations[0].Code
	}
	if c.Kind == "absent" {
		parse = "absent"
	}
	require.Equal(t, want.Parse, parse)
	require.Equal(t, want.OK, got.Valid, "valid: %v", got.Violations)
	require.Equal(t, want.Actionable, got.Actionable)
	require.Len(t, got.Violations, len(want.Violations), "%v", got.Violations)
	for i, v := range want.Violations {
		require.Equal(t, v.Code, got.Violations[i].Code)
		require.Equal(t, v.Fatal, got.Violations[i].Fatal, v.Code)
	}
	require.Equal(t, want.Warnings, append([]string{}, got.WarningCodes()...))
	require.Equal(t, want.ArgsViolations, append([]string{}, got.ArgsViolations...))
	require.Equal(t, want.Disposition, got.Disposition)

	if want.Repair == nil {
		return
	}
	repaired := contract.Repair(raw)
	if why := superseded[c.ID]; why != "" {
		require.Equal(t, contract.Repaired{Ambiguous: true}, repaired, why)
		return
	}
	require.Equal(t, want.Repair.OK, repaired.Text != "")
	require.Equal(t, want.Repair.Applied, append([]string{}, repaired.Applied...))
	if !want.Repair.OK {
		require.Nil(t, want.Repair.Text)
		return
	}
	require.Equal(t, *want.Repair.Text, repaired.Text)
	after := contract.Judge(repaired.Text, tools)
	require.Equal(t, want.Repair.After.OK, after.Valid)
	require.Equal(t, want.Repair.After.Actionable, after.Actionable)
	require.Equal(t, want.Repair.After.Disposition, after.Disposition)
}
