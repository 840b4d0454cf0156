package contract_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// elsewhere maps the behaviours of the loop that other tests check to those tests.
var elsewhere = map[string]string{
	"B038": "TestContractBehaviours of package agent",
	"B045": "TestReplyForms of package providers/openai: a wire joins the parts of a message",
	"B149": "TestContractBehaviours of package agent",
}

// behaviours are what the tests of an existing agent loop require for reading JSON
// leniently. In cupel the repair pass does this and finds contract-shaped objects: the
// agent acts on what it finds, but the output still counts as a violation.
var behaviours = map[string]struct{ raw, want string }{
	"B005": {"Here it is:\n```json\n{\"control\":1}\n```\nDone.", `{"control":1}`},
	"B006": {"```\n{\"control\":1}\n```", `{"control":1}`},
	"B007": {`First {"control":1} then that.`, `{"control":1}`},
	"B008": {"<think>{\"b\":2}</think>\n```json\n{\"control\":1}\n```", `{"control":1}`},
	"B009": {"I would search.", ""},
	"B013": {`<think>x</think>{"control":1}`, `{"control":1}`},
	"B040": {" \n\t", ""},
	"B041": {`{'control': 'b'}`, `{"control": "b"}`},
	"B042": {`{'control': true, 'b': false, 'c': null}`, `{"control": true, "b": false, "c": null}`},
	"B043": {`[1, "x", 2]`, ""}, // an array of one object is read as that object
	"B044": {`{broken: json}`, ""},
	"B046": {`{"control":1} and that is all`, `{"control":1}`},
}

func TestContractBehaviours(t *testing.T) {
	for _, id := range slices.Sorted(maps.Keys(behaviours)) {
		t.Run(id, func(t *testing.T) {
			b := behaviours[id]
			require.Equal(t, b.want, contract.Repair(b.raw).Text)
			require.False(t, contract.Judge(b.raw, nil).ValidJSON, "judged as it came")
		})
	}
	for _, none := range []string{"", `"text"`, "7", "prose"} {
		require.Empty(t, contract.Repair(none).Text, "B009, B040, B043, B044: %q", none)
	}
}

// TestContractBehavioursAreAll checks that every row of the conformance data is
// covered.
func TestContractBehavioursAreAll(t *testing.T) {
	got := slices.AppendSeq(slices.Collect(maps.Keys(behaviours)), maps.Keys(elsewhere))
	require.ElementsMatch(t, testkit.Behaviours(t, "contract"), got)
}
