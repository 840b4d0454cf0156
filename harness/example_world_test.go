package harness_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"testing/fstest"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/providers/policy"
)

// stockKind opens worlds in which items of a stock are sold.
type stockKind struct{}

// Tools returns the tools that a suite may list by name.
func (stockKind) Tools() []tool.Spec {
	return []tool.Spec{{Name: "sell", Description: "Sells some of an item.", Schema: json.RawMessage(
		`{"type":"object","properties":{"item":{"type":"string"},"count":{"type":"integer","minimum":1}},"required":["item","count"],"additionalProperties":false}`)}}
}

// Open reads the initial state from the suite.
func (stockKind) Open(_ context.Context, s world.Start) (world.World, error) {
	w := &stock{}
	return w, json.Unmarshal(s.State, &w.Stock)
}

// stock is the world of one episode.
type stock struct{ Stock map[string]int }

// Call sells items, or refuses if there are too few.
func (w *stock) Call(_ context.Context, c tool.Call, _ time.Time) (world.Effect, error) {
	var args struct {
		Item  string
		Count int
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused, nil
	}
	if left := w.Stock[args.Item]; left < args.Count {
		return world.Refuse("E_SOLD_OUT", "there are %d of %s", left, args.Item), nil
	}
	w.Stock[args.Item] -= args.Count
	effect := world.Return(map[string]any{"left": w.Stock[args.Item]})
	effect.Changed = true
	return effect, nil
}

// State is compared with the expectations of a task.
func (w *stock) State(context.Context) (json.RawMessage, error) { return json.Marshal(w.Stock) }

// Close does nothing, because there is nothing to free.
func (w *stock) Close() error { return nil }

// A suite names a kind of worlds that is written in Go, and checks the final state.
func ExampleParams_worlds() {
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`
name: shop
tools: [{name: sell}]
worlds: {shop: {kind: stock, state: {tea: 3}}}
defaults: {world: shop}
tasks:
  - id: two-teas
    request: Sell two teas.
    scripted: true # a model would stand here
    script: [{call: {sell: {item: tea, count: 2}}}, {respond: "Sold, one is left."}]
    expect: {status: answered, state: [{path: tea, is: 1}]}
`)}}, "shop", map[string]world.Kind{"stock": stockKind{}})
	if err != nil {
		log.Fatal(err)
	}
	res, err := harness.Run(context.Background(), harness.Options{
		Matrix: harness.Matrix{Suite: suite, Select: harness.Selection{Candidates: []string{episode.ScriptedCandidate}}},
		Rules:  harness.Rules{Policy: policy.Default()},
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range res.Rows.Episodes {
		fmt.Println(e.TaskID, e.Status, "solved:", e.Solved)
	}
	// Output: two-teas answered solved: true
}
