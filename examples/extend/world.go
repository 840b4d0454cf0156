package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// storeKind makes worlds of a store, from which items are sold.
type storeKind struct{}

// Tools returns the tools that a suite may list by their names alone.
func (storeKind) Tools() []tool.Spec {
	return []tool.Spec{{Name: "sell", Description: "Sells one of an item.", Schema: json.RawMessage(
		`{"type":"object","properties":{"item":{"type":"string"}},"required":["item"],"additionalProperties":false}`)}}
}

// Open makes the world of one episode.
func (storeKind) Open(_ context.Context, s world.Start) (world.World, error) {
	w := store{}
	return w, json.Unmarshal(s.State, &w)
}

// store has the number of pieces by item.
type store map[string]int

// Call sells an item, or refuses if there is none.
func (w store) Call(_ context.Context, c tool.Call, _ time.Time) (world.Effect, error) {
	var args struct{ Item string }
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused, nil
	}
	if w[args.Item] == 0 {
		return world.Refuse("E_SOLD_OUT", "there is no %s left", args.Item), nil
	}
	w[args.Item]--
	effect := world.Return(w)
	effect.Changed = true
	return effect, nil
}

// State returns the state, which tasks check.
func (w store) State(context.Context) (json.RawMessage, error) { return json.Marshal(w) }

// Close frees nothing.
func (store) Close() error { return nil }
