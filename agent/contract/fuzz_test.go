package contract_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// rough returns seeds for the fuzz targets: our own and, if present, the rows of the
// conformance data.
func rough(t testing.TB) []string {
	out := []string{
		turn(going, today), turn(done, respond), turn(asking, `{"type":"clarify","message":"?"}`),
		counts(`{"start_date":"2026-02-30","end_date":"2026-01-01","label":"x","label":1e999}`),
		`{"control":{},"control":1,"x":[[[{}]]]}`, "[" + turn(going, today) + "]",
		"\uFEFF<think>x</think>Here:\n```json\n{'a': True, // yes\n'b': [1,],}\n```", `"{\"a\":\"\\u0041\"}"`, `{x} {"a":1/**/,}`, `{'a': 'it\'s "x"', "b": None}`,
		"```\nls\n```\n[{\"a\":1e5}]",
	}
	if testkit.HasShared(t, "conformance") {
		for _, c := range conformanceCases(t) {
			out = append(out, c.Text)
		}
	}
	return out
}

// FuzzJudge checks that judging does not panic, that its three judgements imply each
// other, and that it is deterministic.
func FuzzJudge(f *testing.F) {
	for _, seed := range rough(f) {
		f.Add(seed)
	}
	tools := countTools(f)
	f.Fuzz(func(t *testing.T, raw string) {
		checkVerdict(t, raw, tools)
	})
}

// checkVerdict checks properties of every verdict.
func checkVerdict(t require.TestingT, raw string, tools *tool.Set) {
	v := contract.Judge(raw, tools)
	require.Equal(t, v, contract.Judge(raw, tools))
	require.True(t, !v.Valid || v.Actionable)
	require.True(t, !v.Actionable || v.ValidJSON)
	require.Equal(t, v.Valid, len(v.Violations) == 0)
	require.Equal(t, v.Actionable, v.Disposition != contract.Violated)
	require.Equal(t, v.Disposition == contract.RejectArgs, v.Actionable && len(v.ArgsViolations) > 0)
	require.True(t, !v.ValidJSON || json.Valid([]byte(raw)))
	require.LessOrEqual(t, len(v.Warnings), 32)
	texts := append(append([]string{}, v.WarningCodes()...), v.ArgsViolations...)
	texts = append(texts, v.Turn.Name, v.Turn.Message, v.Turn.Plan, v.Turn.Observation)
	for _, text := range texts {
		require.True(t, utf8.ValidString(text))
	}
	checkAllowList(t, raw, v)
}

// checkAllowList uses another decoder to find the tool that an output calls. Only the
// two declared tools may be run; a call of any other is a fatal violation.
func checkAllowList(t require.TestingT, raw string, v contract.Verdict) {
	in := json.NewDecoder(strings.NewReader(raw))
	in.UseNumber() // so that 1e999 is a number
	var object map[string]any
	if in.Decode(&object) != nil {
		require.NotEqual(t, contract.RunTool, v.Disposition)
		return
	}
	action, _ := object["next_action"].(map[string]any)
	name, _ := action["name"].(string)
	declared := name == "get_counts" || name == "today_range"
	if v.Disposition == contract.RunTool || v.Disposition == contract.RejectArgs {
		require.Equal(t, "tool", action["type"])
		require.Equal(t, name, v.Turn.Name)
		require.True(t, declared, name)
	}
	if action["type"] == "tool" && !declared {
		require.Equal(t, contract.Violated, v.Disposition)
	}
}

// FuzzRepair checks that a repaired text is an object and is not repaired again, and
// that it has only brackets, strings and numbers that were in the output.
func FuzzRepair(f *testing.F) {
	for _, seed := range rough(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		repaired := contract.Repair(raw)
		require.Equal(t, repaired, contract.Repair(raw))
		text := repaired.Text
		if text == "" {
			require.Empty(t, repaired.Applied)
			return
		}
		require.False(t, repaired.Ambiguous)
		require.True(t, contract.Judge(text, nil).ValidJSON)
		require.Equal(t, contract.Repaired{Text: text}, contract.Repair(text))

		written := raw
		var decoded string
		if json.Unmarshal([]byte(strings.TrimFunc(raw, isTrimmed)), &decoded) == nil {
			written = decoded
		}
		for _, bracket := range []string{"{", "}", "[", "]"} {
			require.LessOrEqual(t, strings.Count(text, bracket), strings.Count(written, bracket))
		}
		written = withoutQuoting(written)
		for _, lexeme := range lexemes(t, text) {
			require.Contains(t, written, withoutQuoting(lexeme))
		}
	})
}

// lexemes lists the strings and numbers of a JSON text, as written.
func lexemes(t *testing.T, text string) []string {
	var out []string
	in := jsontext.NewDecoder(strings.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		kind := in.PeekKind()
		switch kind {
		case '"', '0':
			raw, err := in.ReadValue()
			require.NoError(t, err)
			out = append(out, string(raw))
		default:
			if _, err := in.ReadToken(); err != nil {
				return out
			}
		}
	}
}

// withoutQuoting removes what a change of quotes can alter.
func withoutQuoting(text string) string {
	return strings.NewReplacer(`\`, "", `"`, "", `'`, "").Replace(text)
}

// isTrimmed is an independent list of what a repair may trim before decoding.
func isTrimmed(r rune) bool {
	return strings.ContainsRune("\uFEFF\u200B\u200C\u200D\u2060\u0085\u00A0\u1680\u2028\u2029\u202F\u205F\u3000 \t\n\v\f\r", r) || '\u2000' <= r && r <= '\u200A'
}
