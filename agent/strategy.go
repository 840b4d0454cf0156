package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Strategy makes the machine of one episode, or says what it does not know or what
// does not go together. Params without Tools and Request are only checked.
type Strategy func(Params) (Machine, error)

// strategies are the agents there are.
var strategies = map[string]Strategy{
	"contract": newContract,
	"plan":     newPlan,
	"tools":    newTools,
}

// New returns the machine of one episode by one of the built-in strategies, or of
// the own ones, which come first; own may be nil. The error names what it does not
// know (a strategy, a prompt profile, an output mode) or what does not go together:
// a tool whose schema the profile or mode cannot show, or a compressor for a profile
// without a scratchpad.
func New(strategy string, p Params, own map[string]Strategy) (Machine, error) {
	build, ok := own[strategy]
	if !ok {
		build, ok = strategies[strategy]
	}
	if !ok {
		return nil, fmt.Errorf("agent: unknown strategy %q; known: %s", strategy, strings.Join(known(own), ", "))
	}
	m, err := build(p)
	if err != nil {
		return nil, fmt.Errorf("agent: strategy %s: %w", strategy, err)
	}
	return m, nil
}

// known are the names of all strategies, sorted.
func known(own map[string]Strategy) []string {
	all := maps.Clone(strategies)
	maps.Copy(all, own)
	return slices.Sorted(maps.Keys(all))
}
