package goldens

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/human"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	custom "github.com/cupel-eval/cupel/goldens/scorer"
)

// TestChecksAreComplete: every kind of check is read, written, described and has a
// result, or says why not, and the schema has the kinds in the order of the table.
func TestChecksAreComplete(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties json.RawMessage
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &doc))
	var keys []string
	dec := json.NewDecoder(bytes.NewReader(doc.Defs["expect"].Properties))
	_, err := dec.Token()
	require.NoError(t, err)
	schemas := map[string]string{}
	for dec.More() {
		key, err := dec.Token()
		require.NoError(t, err)
		keys = append(keys, key.(string))
		var schema json.RawMessage
		require.NoError(t, dec.Decode(&schema))
		schemas[key.(string)] = string(schema)
	}
	_, err = dec.Token()
	require.NoError(t, err)
	_, err = dec.Token()
	require.ErrorIs(t, err, io.EOF)
	require.Equal(t, expectFields(), keys)

	others := map[string]string{ // whose check another one makes, or that none makes
		"stop_reason": "status", "order": "calls", "forbidden": "calls", "note": "a remark",
	}
	for _, c := range checks {
		require.NotNil(t, c.value, c.key)
		require.JSONEq(t, c.schema, schemas[c.key], "the schema of %s", c.key)
		require.Equal(t, others[c.key] == "", c.score != nil, "who checks %s?", c.key)
		require.Equal(t, c.key == "note", c.edit == "", "what a person edits of %s", c.key)
	}
}

// everything is an outcome with every field set.
func everything() Expect {
	return Expect{
		Status: "stopped", StopReason: "thrash", Numbers: []string{"449"}, NotNumbers: []string{"7"}, OnlyNumbers: []string{"449"}, Near: map[string]string{"Cold Ness": "41"},
		ContainsAny: []string{"a"}, ContainsAll: []string{"b"}, NotContains: []string{"c"}, Matches: []string{"d"}, NotMatches: []string{"e"},
		MaxClarifies: new(0), MaxSteps: new(1), MaxToolCalls: new(2),
		Trajectory: Trajectory{Order: Strict, Required: []CallMatch{{Tool: "x"}}, Forbidden: []CallMatch{{Tool: "y", Executed: true}, {Tool: "z", Role: "builder"}}},
		Before:     []string{"x", "y"}, Approvals: human.Approvals{Asked: []string{"x"}, Denied: []string{"y"}, AtMost: new(2)},
		State: []StateCheck{
			{Path: `orders.O7\.1`, Wants: map[string]any{"is": nil}},
			{Path: "refunds", Wants: map[string]any{"count": json.Number("1"), "some": map[string]any{"order": "07", "amount": json.Number("25")}, "every": map[string]any{"$any": true}, "not": []any{}}},
			{Path: ".", Wants: map[string]any{"exists": true, "matches": "^x"}},
		},
		Unchanged: []string{"stock", "orders.O8", "."}, StateHash: strings.Repeat("0a", 32),
		BFCL: `{"play_1":{"b":[5.0,""],"a":[[1,2]]}}`,
		Scores: []custom.Spec{
			{Name: "tone", Exec: []string{"python3", "tone.py"}, With: json.RawMessage(`{"want":"formal"}`), Timeout: time.Minute, AtLeast: new(0.75)},
			{Name: "polite", Check: "is_polite"},
		},
		Judges:  []helper.Check{{Name: "kind"}, {Name: "facts", With: json.RawMessage(`"30 days"`), AtLeast: new(0.5)}},
		Signals: map[string]string{"stall": "false"}, TableLabel: "angry", Note: "n",
	}
}

// TestEveryCheckIsWrittenAndRead: what is written is what is read, whole and over
// another outcome, and the demands of an outcome put together are that outcome.
func TestEveryCheckIsWrittenAndRead(t *testing.T) {
	all := everything()
	for _, c := range []struct {
		name string
		is   Expect
		base Expect
	}{
		{"everything", all, Expect{}},
		{"the least", Expect{Status: "answered"}, Expect{}},
		{"less than another", Expect{Status: "answered"}, func() Expect { e := all; e.StopReason, e.Note = "", ""; return e }()},
		{"more than another", all, Expect{Status: "answered", Near: map[string]string{"Far Rock": "1"}, Signals: map[string]string{"thrash": "true", "stall": "false"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc := yamlfile.Mapping(0)
			yamlfile.Add(doc, "expect", WriteExpect(c.is, c.base, 0, true), "")
			text, err := yamlfile.Write(doc)
			require.NoError(t, err)
			src := &yamlfile.Source{File: "f", Found: &yamlfile.Findings{}}
			root, ok := src.Parse(text)
			require.True(t, ok)
			got := readExpect(root.FieldAt("expect").Object(expectFields()), c.base, c.base.Status != "")
			require.NoError(t, src.Found.Join())
			require.Equal(t, c.is, got, "%s", text)
		})
	}
	var again Expect
	for _, p := range all.Parts() {
		require.Contains(t, expectFields(), p.Field)
		p.Add(&again)
	}
	again.Note = all.Note // which asks for nothing
	require.Equal(t, all, again)
	require.NoError(t, all.Validate())
	_, results := Score(Task{Expect: []Expect{all}, Functions: json.RawMessage(`{"name":"play","parameters":{"type":"dict"}}`), AnswerSchema: json.RawMessage(`{}`)}, Outcome{})
	var names []string
	for _, r := range results {
		names = append(names, r.Name)
	}
	require.Equal(t, []string{
		"status", "stop_reason", "answer_numbers", "answer_not_numbers", "answer_only_numbers", "answer_near", "answer_contains_any", "answer_contains_all",
		"answer_not_contains", "answer_matches", "answer_not_matches", "answer_table", "max_clarifies", "max_steps", "max_tool_calls",
		"trajectory.required", "trajectory.forbidden", "trajectory.order", "before", "approvals.asked", "approvals.denied", "approvals.at_most", "function_calls", "state", "unchanged", "state_hash", "signal.stall", "score.tone", "score.polite", "judge.kind", "judge.facts",
	}, names)
}

// TestSchemaOfSignals checks the signals of the schema against those that conditions
// are read for.
func TestSchemaOfSignals(t *testing.T) {
	var doc struct {
		Defs map[string]struct {
			Properties map[string]any
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &doc))
	require.ElementsMatch(t, signalNames(), slices.Collect(maps.Keys(doc.Defs["signals"].Properties)))
}
