package model

import "github.com/cupel-eval/cupel/harness/ledger"

// extraKind is a sort of turns beyond the plain ones of a main loop.
type extraKind struct {
	Name, Label string
	is          func(*ledger.Turn) bool
	// Rare ones are shown only where there are some.
	Rare bool
}

// ExtraKinds are in the order shown. A turn may be of several.
func ExtraKinds() [8]extraKind {
	kind := func(name string) func(*ledger.Turn) bool { return func(t *ledger.Turn) bool { return t.Kind == name } }
	role := func(name string) func(*ledger.Turn) bool { return func(t *ledger.Turn) bool { return t.Role == name } }
	return [...]extraKind{
		{"reflect", "Reflect turns", kind("reflect"), false},
		{"rescue", "Rescue turns", kind("rescue"), false},
		{"compress", "Compress turns", kind("compress"), false},
		{"planner", "Planner turns", role(ledger.RolePlanner), true},
		{"step", "Plan step turns", role(ledger.RoleStep), true},
		{"fallback", "Fallback model turns", role(ledger.RoleFallback), true},
		{"final", "Answer-format retries", kind("final"), true},
		{"conclude", "Final turns at the context limit", kind("conclude"), true},
	}
}

// extras counts and prices the turns of each kind.
type extras [8]struct {
	n    int
	cost sum
}

func (x *extras) add(t *ledger.Turn) {
	for i, k := range ExtraKinds() {
		if k.is(t) {
			x[i].n++
			x[i].cost.add(t.CostNanoUSD)
		}
	}
}

func (x *extras) turns() (list []ExtraTurns) {
	for i, k := range ExtraKinds() {
		switch {
		case x[i].n > 0:
			list = append(list, ExtraTurns{Kind: k.Name, Turns: x[i].n, Cost: x[i].cost.value()})
		case !k.Rare:
			list = append(list, ExtraTurns{Kind: k.Name, Cost: new(int64)})
		}
	}
	return list
}
