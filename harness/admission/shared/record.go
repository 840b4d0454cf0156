package shared

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cupel-eval/cupel/harness/admission"
)

// format is the version of a record.
const format = 2

// record is the value of the one key that the processes of a fleet share. Every change is
// a compare-and-set of the whole, so it is the truth at every moment. It has no times:
// clocks of machines differ.
type record struct {
	Format int `json:"format"`
	Config
	// Leases are by the id of a process's spending log.
	Leases map[string]*lease `json:"leases"`
	// Lanes are those that a process has ever used, and what none of them has of the minute that
	// may be sent at once, in millionths.
	Lanes map[string]int64 `json:"lanes,omitempty"`
	// Tickets numbers those that wait.
	Tickets int64 `json:"tickets,omitempty"`
}

// lease is what one process has.
type lease struct {
	// Owner is the process, which is another one after a restart with the same log.
	Owner string `json:"owner"`
	// Name is for people.
	Name string `json:"name,omitempty"`
	// Beat counts the owner's changes: a lease whose Beat stands still has expired.
	Beat int64 `json:"beat"`
	// Expired is set by another process that saw it stand still. The rates of the lease are
	// free then, but what it was granted counts as spent: the process may still be there.
	Expired bool `json:"expired,omitempty"`
	// Closed is set by the owner once it has ended.
	Closed bool `json:"closed,omitempty"`
	// Accounts are by provider.
	Accounts map[string]*account `json:"accounts,omitempty"`
	// Shares are millionths of the rates of the lanes that the process uses.
	Shares map[string]int64 `json:"shares,omitempty"`
}

// account is the money of a lease for one provider.
type account struct {
	// Spent is what the owner's log has. Granted bounds what the owner can have spent or
	// reserved.
	Spent   admission.Spend `json:"spent"`
	Granted admission.Spend `json:"granted"`
	// Wait, if not nil, is a request that does not fit.
	Wait *wait `json:"wait,omitempty"`
}

// wait is a request that does not fit until others give back what they have reserved.
type wait struct {
	Ticket int64           `json:"ticket"`
	Need   admission.Spend `json:"need"`
	// Run says that the cap on the run is what it waits for, and not only the provider's.
	Run bool `json:"run,omitempty"`
}

// wholeRate is a share of 1, in millionths.
const wholeRate = 1_000_000

func decode(value []byte) (*record, error) {
	r := &record{}
	if err := json.Unmarshal(value, r); err != nil {
		return nil, fmt.Errorf("the shared limits are damaged: %w", err)
	}
	if r.Format != format {
		return nil, fmt.Errorf("the shared limits have format %d, this cupel reads %d: use one version of cupel in a fleet", r.Format, format)
	}
	if r.Leases == nil {
		r.Leases = map[string]*lease{}
	}
	if r.Lanes == nil {
		r.Lanes = map[string]int64{}
	}
	return r, nil
}

func (r *record) encode() []byte {
	value, err := json.Marshal(r)
	if err != nil {
		panic("shared: " + err.Error()) // unreachable: plain numbers and texts
	}
	return value
}

// total is what counts for an account, whatever became of its owner.
func (a *account) total() admission.Spend { return largest(a.Spent, a.Granted) }

// certain is what will have been spent if everything in flight costs nothing.
func (l *lease) certain(a *account) admission.Spend {
	if l.Expired && !l.Closed {
		return a.total()
	}
	return a.Spent
}

// sum adds up what f returns of the accounts of a provider, or of all for "", without those
// of one lease.
func (r *record) sum(provider, without string, f func(*lease, *account) admission.Spend) (s admission.Spend) {
	for id, l := range r.Leases {
		if id == without {
			continue
		}
		for name, a := range l.Accounts {
			if provider == "" || name == provider {
				s = s.Plus(f(l, a))
			}
		}
	}
	return s.Plus(r.before(provider))
}

// before is the spending that the record began with.
func (r *record) before(provider string) (s admission.Spend) {
	for name, spent := range r.Before {
		if provider == "" || name == provider {
			s = s.Plus(spent)
		}
	}
	return s
}

// room is what the caps leave of a sum: in each measure the rest, or unlimited.
func room(c admission.Caps, s admission.Spend) admission.Spend {
	rest := func(limit, n int64) int64 {
		if limit <= 0 {
			return math.MaxInt64
		}
		return max(0, limit-n)
	}
	return admission.Spend{CostNanoUSD: rest(c.CostNanoUSD, s.CostNanoUSD), Tokens: rest(c.Tokens, s.Tokens), Requests: rest(c.Requests, s.Requests)}
}

func each(a, b admission.Spend, f func(a, b int64) int64) admission.Spend {
	return admission.Spend{CostNanoUSD: f(a.CostNanoUSD, b.CostNanoUSD), Tokens: f(a.Tokens, b.Tokens), Requests: f(a.Requests, b.Requests)}
}

func largest(a, b admission.Spend) admission.Spend {
	return each(a, b, func(a, b int64) int64 { return max(a, b) })
}

func smallest(a, b admission.Spend) admission.Spend {
	return each(a, b, func(a, b int64) int64 { return min(a, b) })
}

func minus(a, b admission.Spend) admission.Spend {
	return each(a, b, func(a, b int64) int64 { return max(0, a-b) })
}

// fits reports whether a is at most b in every measure.
func fits(a, b admission.Spend) bool { return smallest(a, b) == a }

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
