package admission

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Snapshot is the state of a control at a moment.
type Snapshot struct {
	State
	// Providers are sorted by name.
	Providers []ProviderState
}

// State is the spending and the requests in progress.
type State struct {
	Spent, Reserved Spend
	// InFlight and Waiting count requests.
	InFlight, Waiting int
	// Short is the worst case of a waiting request that the allotment does not cover. Only a
	// provider with Options.Shared has it.
	Short Spend
}

// ProviderState is the state of a provider.
type ProviderState struct {
	Provider string
	State
	// Lanes are the provider's keys, by number.
	Lanes []LaneState
}

// LaneState is the state of one key of a provider.
type LaneState struct {
	// Lane and Limit are as in Change.
	Lane, Limit       int
	InFlight, Waiting int
	// Paused is the end of the pause; zero if the lane is not paused.
	Paused time.Time
	// ID is the same for the provider and key in every process, and does not tell the key. Sent
	// counts requests. Level is what may be sent without waiting, as a part of a minute of the
	// limits that all processes have together, from 0 to 1. They are set only with
	// Options.Shared.
	ID    string
	Sent  int64
	Level float64
}

// Snapshot returns the current state.
func (c *Control) Snapshot() Snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.snapshot(c.now())
}

func (c *Control) snapshot(now time.Time) Snapshot {
	s := Snapshot{State: c.run.state()}
	for _, name := range slices.Sorted(maps.Keys(c.providers)) {
		s.Providers = append(s.Providers, ProviderState{Provider: name, State: c.providers[name].state()})
	}
	for _, l := range c.lanes {
		i, _ := slices.BinarySearchFunc(s.Providers, l.provider, func(p ProviderState, name string) int { return cmp.Compare(p.Provider, name) })
		state := LaneState{Lane: l.number, Limit: int(l.limit), InFlight: len(l.inFlight), Waiting: l.waiting}
		if c.options.Shared {
			limits := c.options.Providers[l.provider]
			state.ID, state.Sent = l.id, l.sent
			state.Level = min(l.requests.part(limits.RequestsPerMinute, now), l.tokens.part(limits.TokensPerMinute, now))
		}
		for _, until := range []time.Time{l.paused, l.stated.stop} {
			if now.Before(until) && until.After(state.Paused) {
				state.Paused = until
			}
		}
		s.Providers[i].Lanes = append(s.Providers[i].Lanes, state)
	}
	return s
}

func (b *budget) state() State {
	return State{Spent: b.spent, Reserved: b.reserved, InFlight: b.inFlight, Waiting: b.waiting, Short: b.missing()}
}
