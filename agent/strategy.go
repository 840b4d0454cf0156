package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// strategies are the agents there are.
var strategies = map[string]func(Params) Machine{
	"contract": newContract,
}

// New returns the machine of one episode; "contract" is the only strategy yet.
// The error names what it does not know: a strategy, a prompt profile or an
// output mode.
func New(strategy string, p Params) (Machine, error) {
	build, ok := strategies[strategy]
	if !ok {
		known := slices.Sorted(maps.Keys(strategies))
		return nil, fmt.Errorf("agent: unknown strategy %q; known: %s", strategy, strings.Join(known, ", "))
	}
	if p.Profile != "" && p.Profile != "seed" {
		return nil, fmt.Errorf("agent: strategy %s: unknown prompt profile %q; known: seed", strategy, p.Profile)
	}
	if p.Mode != "" && p.Mode != "prompt" {
		return nil, fmt.Errorf("agent: strategy %s: unknown output mode %q; known: prompt", strategy, p.Mode)
	}
	return build(p), nil
}
