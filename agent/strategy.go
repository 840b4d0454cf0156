package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// strategies are the agents there are.
var strategies = map[string]func(Params) (Machine, error){
	"contract": newContract,
}

// New returns the machine of one episode; "contract" is the only strategy yet.
// The error names what it does not know (a strategy, a prompt profile, an output
// mode) or what does not go together: a tool whose schema the profile or mode
// cannot show, or a compressor for a profile without a scratchpad.
func New(strategy string, p Params) (Machine, error) {
	build, ok := strategies[strategy]
	if !ok {
		known := slices.Sorted(maps.Keys(strategies))
		return nil, fmt.Errorf("agent: unknown strategy %q; known: %s", strategy, strings.Join(known, ", "))
	}
	m, err := build(p)
	if err != nil {
		return nil, fmt.Errorf("agent: strategy %s: %w", strategy, err)
	}
	return m, nil
}
