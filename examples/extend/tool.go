package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/harness/episode"
)

var stock = map[string]int{"lamp": 12, "wick": 0}

// countStock is a tool: it says how many of an item are in stock. It runs in replay,
// too, so the same call gives the same result every time.
func countStock(_ context.Context, call tool.Call, _ episode.CallInfo) (tool.Result, error) {
	var args struct{ Item string }
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return tool.Result{}, fmt.Errorf("count_stock: %w", err) // an error of ours, not the model's
	}
	n, ok := stock[args.Item]
	if !ok {
		return tool.Result{Outcome: tool.Error, Code: "E_NO_ITEM", Message: "there is no item " + args.Item}, nil
	}
	return tool.Result{Outcome: tool.OK, Value: json.RawMessage(strconv.Itoa(n))}, nil
}
