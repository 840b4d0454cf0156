package contract_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/contract"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// undeclared are names that resemble the declared tools, and names that other languages
// find on every object.
var undeclared = []string{
	"Get_Counts", "get_counts ", "get_counts\u0000", "get\u200b_counts", "getcounts", "get_count", "GET_COUNTS", "ɡet_counts", "today_range\n", "drop_tables", "null",
	"constructor", "toString", "valueOf", "hasOwnProperty", "__proto__", "isPrototypeOf", "__defineGetter__", "toLocaleString", "propertyIsEnumerable",
}

// TestJudgeRunsNoUndeclaredTool writes undeclared names in every way that a parser
// could confuse with a declared one.
func TestJudgeRunsNoUndeclaredTool(t *testing.T) {
	tools := countTools(t)
	for _, name := range undeclared {
		quoted := strings.NewReplacer("\n", `\n`, "\u0000", `\u0000`).Replace(name)
		for _, action := range []string{
			`{"type":"tool","name":"` + quoted + `","args":{}}`,
			`{"type":"tool","name":"today_range","args":{},"name":"` + quoted + `"}`,
			`{"type":"tool","Name":"today_range","name":"` + quoted + `","NAME":"today_range","args":{}}`,
			`{"type":"tool","name":["today_range"],"args":{}}`,
			`{"type":"tool","name":{"toString":"today_range"},"args":{}}`,
			`{"type":"respond","type":"tool","name":"` + quoted + `","args":{},"message":"x"}`,
		} {
			v := contract.Judge(turn(going, action), tools)
			require.Equal(t, contract.Violated, v.Disposition, action)
			checkVerdict(t, turn(going, action), tools)
		}
	}
}

// TestAnyInput judges and repairs tens of thousands of mangled outputs. Nothing panics,
// every verdict has the properties of checkVerdict, and the results are deterministic.
func TestAnyInput(t *testing.T) {
	tools := countTools(t)
	random := rand.New(rand.NewPCG(4, 2))
	seeds := rough(t)
	seeds = slices.DeleteFunc(seeds, func(s string) bool { return len(s) > 2000 }) // the large ones are slow, and are tested as rows elsewhere
	pieces := append([]string{
		"{", "}", "[", "]", ",", ":", `"`, "'", `\`, "```", "//", "/*", "*/", "<think>", "</think>", "\uFEFF", "\xff", `\u0000`, `\ud83d`, "1e999", "-0", "null", "True",
		`"type":"tool"`, `"name":"today_range"`, `"args":{}`, `"control":`, `"next_action":`, strings.Repeat("[", 100), strings.Repeat(`{"a":`, 70),
	}, undeclared...)
	runs := map[contract.Disposition]int{}
	for range testkit.Long(testkit.SlowN(2_000, 5_000), 30_000) {
		raw := seeds[random.IntN(len(seeds))]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(raw) + 1)
			end := min(len(raw), at+random.IntN(12))
			switch random.IntN(4) {
			case 0: // replace
				raw = raw[:at] + pieces[random.IntN(len(pieces))] + raw[end:]
			case 1: // insert
				raw = raw[:at] + pieces[random.IntN(len(pieces))] + raw[at:]
			case 2: // cut out
				raw = raw[:at] + raw[end:]
			case 3: // continue as another
				other := seeds[random.IntN(len(seeds))]
				raw = raw[:at] + other[min(at, len(other)):]
			}
		}
		checkVerdict(t, raw, tools)
		runs[contract.Judge(raw, tools).Disposition]++
		if text := contract.Repair(raw).Text; text != "" {
			checkVerdict(t, text, tools)
		}
	}
	for _, d := range []contract.Disposition{contract.RunTool, contract.RejectArgs, contract.AskAndPause, contract.AnswerAndExit, contract.Violated} {
		require.Positive(t, runs[d], "nothing of this sort came up: %s", d)
	}
}
