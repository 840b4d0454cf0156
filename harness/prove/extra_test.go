package prove

import (
	"context"
	"encoding/json"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/harness"
)

const shopYAML = `
name: shop
tools:
  - name: look
    description: Returns the status of an order.
    schema: &order {type: object, properties: {order: {type: string}}, required: [order], additionalProperties: false}
  - name: refund
    description: Refunds an order.
    schema: *order
worlds: {w: {kind: shop, now: 2026-05-13T12:00:00Z, zone: UTC}}
defaults: {world: w, tools: [look, refund], budgets: {max_steps: 20}}
tasks:
  - id: checked
    request: Refund order A.
    expect: {status: answered, at_most: {clarifies: 0}, state: [{path: orders.A, is: refunded}], unchanged: [orders.B]}
  - id: unchecked
    request: Refund order A, please.
    expect: {status: answered, at_most: {clarifies: 0}, contains_any: [refunded]}
`

// shop is a kind of world with two orders.
type shop struct{ orders map[string]string }

// Tools implements world.Kind.
func (shop) Tools() []tool.Spec { return nil }

// Open implements world.Kind.
func (shop) Open(context.Context, world.Start) (world.World, error) {
	return &shop{map[string]string{"A": "paid", "B": "paid"}}, nil
}

// Call implements world.World.
func (s *shop) Call(_ context.Context, c tool.Call, _ time.Time) (world.Effect, error) {
	var args struct{ Order string }
	if bad := world.ReadArgs(c, &args); bad != nil {
		return *bad, nil
	}
	switch {
	case s.orders[args.Order] == "":
		return world.Refuse("E_NOT_FOUND", "there is no order %s", args.Order), nil
	case c.Name == "look":
		return world.Return(map[string]string{"status": s.orders[args.Order]}), nil
	}
	s.orders[args.Order] = "refunded"
	e := world.Return(map[string]bool{"refunded": true})
	e.Changed = true
	return e, nil
}

// State implements world.World.
func (s *shop) State(context.Context) (json.RawMessage, error) {
	return json.Marshal(map[string]any{"orders": s.orders})
}

// Close implements world.World.
func (*shop) Close() error { return nil }

// refundA reads order A and refunds it.
type refundA struct{}

// Next implements solution.
func (refundA) Next(s playbook.Seen) ([]playbook.Action, error) {
	args := json.RawMessage(`{"order":"A"}`)
	switch len(s.Results) {
	case 0:
		return []playbook.Action{{Kind: playbook.Call, Tool: "look", Args: args, Line: 1}}, nil
	case 1:
		return []playbook.Action{{Kind: playbook.Call, Tool: "refund", Args: args, Line: 2}}, nil
	}
	return []playbook.Action{{Kind: playbook.Answer, Text: "Order A is refunded."}}, nil
}

// If the world can change, some mutants claim a step without making it, and others make
// an unwanted change. A task that checks the final state refuses both.
func TestMutantsOfAWorldThatChanges(t *testing.T) {
	suite, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(shopYAML)}}, "shop", map[string]world.Kind{"shop": shop{}})
	require.NoError(t, err)
	l, err := newLab(harness.Options{}, suite, suite.Tasks, nil)
	require.NoError(t, err)
	says := func(i int) (out []string) {
		got := Task{ID: suite.Tasks[i].ID}
		require.NoError(t, l.prove(t.Context(), &got, suite.Tasks[i], refundA{}, nil))
		require.Empty(t, got.Unproved)
		for _, m := range got.Survivors {
			out = append(out, m.Says)
		}
		return out
	}
	require.Equal(t, []string{
		`checked accepts a solution that does not call look and makes up what it returns`,
		`checked accepts a solution that calls refund before look`,
	}, says(0))
	require.Equal(t, []string{
		`unchecked accepts a solution that does not call look and makes up what it returns`,
		`unchecked accepts a solution that calls refund before look`,
		`unchecked accepts a solution that does not call refund and claims that it did`,
		`unchecked accepts a solution that answers before it has called anything`,
		`unchecked accepts a solution that also calls refund with {"order":"B"}`,
	}, says(1))
}
