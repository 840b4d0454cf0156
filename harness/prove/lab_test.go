package prove

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/policy"
)

const suiteYAML = `
name: shop
tools:
  - name: price
    description: Returns the price of an item on a day.
    schema: {type: object, properties: {item: {type: string, enum: [tea, rice]}, day: {type: string}}, required: [item, day], additionalProperties: false}
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: [price], budgets: {max_steps: 20}}
tasks:
  - id: strong
    request: What did tea cost on 2026-05-12?
    expect: {status: answered, only_numbers: [12], numbers: [12], contains_all: [tea], calls: [price: {item: tea, day: 2026-05-12}], at_most: {clarifies: 0, tool_calls: 1}}
  - id: weak
    request: What did tea cost on 2026-05-12, please?
    expect: {status: answered, contains_any: [tea]}
`

// prices is the tool of the suite. The price of tea is the day of the month, and rice
// costs ten times as much.
func prices(_ context.Context, c tool.Call, _ episode.CallInfo) (tool.Result, error) {
	var args struct{ Item, Day string }
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return tool.Result{}, err
	}
	price := strings.TrimPrefix(args.Day, "2026-05-")
	if args.Item == "rice" {
		price += "0"
	}
	return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"price":` + price + `}`)}, nil
}

// lookUpPrice is the reference solution of both tasks.
type lookUpPrice struct{}

// Next implements solution.
func (lookUpPrice) Next(s playbook.Seen) ([]playbook.Action, error) {
	if len(s.Results) == 0 {
		return []playbook.Action{{Kind: playbook.Call, Tool: "price", Args: json.RawMessage(`{"day":"2026-05-12","item":"tea"}`), Line: 1}}, nil
	}
	var v struct{ Price int }
	if err := json.Unmarshal(s.Results[0].Value, &v); err != nil {
		return nil, err
	}
	return []playbook.Action{{Kind: playbook.Answer, Text: fmt.Sprintf("The tea cost %d.", v.Price)}}, nil
}

func testLab(t *testing.T) (*lab, *goldens.Suite) {
	t.Helper()
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(suiteYAML)}}, "shop", nil)
	require.NoError(t, err)
	l, err := newLab(harness.Options{Parts: harness.Parts{Tools: map[string]episode.ToolFunc{"price": prices}}}, suite, suite.Tasks, nil)
	require.NoError(t, err)
	return l, suite
}

// A task whose checks are complete refuses every mutant of its solution. For a task
// that checks a single word, the report has a sentence for each survivor, with a check
// that would refuse it.
func TestMutantsOfOneTask(t *testing.T) {
	l, suite := testLab(t)
	strong, weak := Task{ID: "strong"}, Task{ID: "weak"}
	require.NoError(t, l.prove(t.Context(), &strong, suite.Tasks[0], lookUpPrice{}, nil))
	require.Equal(t, Counts{Mutants: 7, Killed: 7, Same: 1}, strong.Counts, "the price is looked up twice: the second time from the cache")
	require.NoError(t, l.prove(t.Context(), &weak, suite.Tasks[1], lookUpPrice{}, nil))
	require.Equal(t, Counts{Mutants: 7, Killed: 1, Same: 1}, weak.Counts)
	require.Equal(t, []Mutant{
		{`weak accepts a solution that does not call price and makes up what it returns`, `calls: [price]`},
		{`weak accepts a solution that calls price with day "2026-05-13" instead of "2026-05-12"`, `calls: [price: {day: …}]`},
		{`weak accepts a solution that calls price with item "rice" instead of "tea"`, `calls: [price: {item: …}]`},
		{`weak accepts a solution that answers before it has called anything`, `calls, with what the answer needs`},
		{`weak accepts an answer that names 13 instead of 12`, `numbers: [12], or only_numbers`},
		{`weak accepts an answer that names -12 instead of 12`, `numbers: [12], or only_numbers`},
	}, weak.Survivors)
}

// A result may be a bare text or number, for which a model may make up another one.
func TestMutantsOfBareResults(t *testing.T) {
	for _, value := range []string{`"late"`, `12`, `null`, `true`, `[]`, `["a"]`} {
		suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(suiteYAML)}}, "shop", nil)
		require.NoError(t, err)
		bare := func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.OK, Value: json.RawMessage(value)}, nil
		}
		l, err := newLab(harness.Options{Parts: harness.Parts{Tools: map[string]episode.ToolFunc{"price": bare}}}, suite, suite.Tasks, nil)
		require.NoError(t, err)
		task := Task{ID: "weak"}
		require.NoError(t, l.prove(t.Context(), &task, suite.Tasks[1], sayTea{}, nil))
		require.Positive(t, task.Mutants, value)
	}
}

// sayTea calls the tool and answers the same whatever it returns.
type sayTea struct{}

// Next implements solution.
func (sayTea) Next(s playbook.Seen) ([]playbook.Action, error) {
	if len(s.Results) == 0 {
		return lookUpPrice{}.Next(s)
	}
	return []playbook.Action{{Kind: playbook.Answer, Text: "The tea cost something."}}, nil
}

// If a task refuses its own solution, there are no mutants.
func TestRefusedSolution(t *testing.T) {
	l, suite := testLab(t)
	out := Task{ID: "strong"}
	require.NoError(t, l.prove(t.Context(), &out, suite.Tasks[0], givesUp{}, nil))
	require.Equal(t, "status: want answered, got cannot_proceed", out.refused)
	require.Zero(t, out.Counts)
}

// givesUp is a solution that does nothing.
type givesUp struct{}

// Next implements solution.
func (givesUp) Next(playbook.Seen) ([]playbook.Action, error) {
	return []playbook.Action{{Kind: playbook.GiveUp, Text: "no"}}, nil
}

// A cancelled proof returns the reason.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, suite := testLab(t)
	_, err := Suite(ctx, Options{Run: harness.Options{
		Matrix: harness.Matrix{Suite: suite}, Rules: harness.Rules{Policy: policy.Default()},
		Parts: harness.Parts{Providers: map[string]providers.Factory{labProvider: func(providers.Options) (providers.Model, error) { return &solver{}, nil }}},
	}})
	require.ErrorIs(t, err, context.Canceled)
}

// A solution that calls a tool over HTTP is not run. Nothing is sent, and the task is
// skipped.
func TestOverHTTP(t *testing.T) {
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(strings.Replace(suiteYAML, "    schema:", "    http: {method: GET, url: \"http://127.0.0.1:1/{item}/{day}\"}\n    schema:", 1))}}, "shop", nil)
	require.NoError(t, err)
	l, err := newLab(harness.Options{}, suite, suite.Tasks, nil)
	require.NoError(t, err)
	out := Task{ID: "strong"}
	require.NoError(t, l.prove(t.Context(), &out, suite.Tasks[0], lookUpPrice{}, nil))
	require.Equal(t, "tool price: it is run over HTTP or by an MCP server, and suites are proved without a network", out.offline)
}
