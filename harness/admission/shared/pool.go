// Package shared shares caps on spending and rates among the processes of a fleet, by
// compare-and-set on one key of a key-value store. Each process leases a block of the
// caps and a share of the rates, and reports what it has spent.
//
// No cap is passed, whatever processes are killed, stopped or cut off: what a lease was
// granted counts as spent until its owner says otherwise, and only the owner knows what it
// has sent, by its log. A process that starts again with the log of one that was killed
// takes its lease up again.
//
// Leases need no common clock. A lease is valid for Lifetime by the clock of its owner,
// from before its last change of the record was sent. Another process takes it for expired
// once it has seen no change for longer than that, by its own clock: only the speeds of
// the clocks must agree, within a third. A process that slept compares both its clocks,
// because the monotonic one may have stood still.
package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
)

// Lifetime is how long a lease is valid without a change by its owner. What is in flight
// then is finished, but nothing more is sent until the owner reaches the store again.
const Lifetime = 20 * time.Second

// Config is what the processes of a fleet share.
type Config struct {
	// Identity tells apart fleets that use one name, such as the digest of the plan.
	Identity string `json:"identity"`
	// Caps bound the fleet's spending, Limits that on providers, and the rates of each key.
	Caps   admission.Caps              `json:"caps"`
	Limits map[string]admission.Limits `json:"limits,omitempty"`
	// Before is earlier spending by provider, which no process of the fleet has in its log.
	Before map[string]admission.Spend `json:"before,omitempty"`
}

// Pool is what the processes of a fleet share. It is safe for concurrent use.
type Pool struct {
	kv     KV
	key    string
	config Config
}

// Config is the configuration of the pool when it was opened. A process that joins uses
// its Caps and Limits.
func (p *Pool) Config() Config { return p.config }

// Create makes a pool under a key. If there is one with the same identity, its spending
// stays, and its caps and limits become those of c. It fails if there is one with another
// identity.
func Create(ctx context.Context, kv KV, key string, c Config) (*Pool, error) {
	for {
		value, revision, err := kv.Get(ctx, key)
		r := &record{Format: format, Config: c, Leases: map[string]*lease{}, Lanes: map[string]int64{}}
		switch {
		case errors.Is(err, ErrNoKey):
			_, err = kv.Create(ctx, key, r.encode())
		case err == nil:
			if r, err = decode(value); err != nil {
				break
			}
			if r.Identity != c.Identity {
				return nil, otherFleet(key, r.Identity, c.Identity)
			}
			r.Caps, r.Limits = c.Caps, c.Limits
			_, err = kv.Update(ctx, key, r.encode(), revision)
		}
		if err == nil {
			return &Pool{kv, key, r.Config}, nil
		}
		if !errors.Is(err, ErrConflict) {
			return nil, fmt.Errorf("create the shared limits %s: %w", key, err)
		}
	}
}

// Open opens a pool that Create made.
func Open(ctx context.Context, kv KV, key, identity string) (*Pool, error) {
	r, _, err := read(ctx, kv, key)
	if err != nil {
		return nil, fmt.Errorf("open the shared limits: %w", err)
	}
	if r.Identity != identity {
		return nil, otherFleet(key, r.Identity, identity)
	}
	return &Pool{kv, key, r.Config}, nil
}

func read(ctx context.Context, kv KV, key string) (*record, uint64, error) {
	value, revision, err := kv.Get(ctx, key)
	if errors.Is(err, ErrNoKey) {
		err = fmt.Errorf("no limits have that name, or the store has lost them; start the run first: %w", err)
	}
	var r *record
	if err == nil {
		r, err = decode(value)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read %s: %w", key, err)
	}
	return r, revision, nil
}

func otherFleet(key, theirs, ours string) error {
	return fmt.Errorf("the shared limits %s are those of another run (%.12s, this one is %.12s): two fleets use one name; give one of them another", key, theirs, ours)
}

// State is what a pool comes to at a moment.
type State struct {
	Config
	// Spent is what workers have reported, and what was spent before. Granted has what they may
	// spend now or may have spent.
	Spent, Granted admission.Spend
	// Workers are sorted by name and id.
	Workers []Worker
}

// Worker is a process that has or had a lease.
type Worker struct {
	ID, Name string
	// Expired says that other workers saw the lease stand still: what it was granted counts as
	// spent. Closed says that the process has ended. Otherwise it is alive.
	Expired, Closed bool
	// Spent and Granted are sums over its providers.
	Spent, Granted admission.Spend
	// Waits says that one of its requests waits for what others have reserved.
	Waits bool
}

// State returns the current state, from any machine.
func (p *Pool) State(ctx context.Context) (State, error) {
	r, _, err := read(ctx, p.kv, p.key)
	if err != nil {
		return State{}, err
	}
	s := State{Config: r.Config, Spent: r.before(""), Granted: r.before("")}
	for _, id := range sorted(r.Leases) {
		l := r.Leases[id]
		w := Worker{ID: id, Name: l.Name, Expired: l.Expired, Closed: l.Closed}
		for _, a := range l.Accounts {
			w.Spent, w.Granted = w.Spent.Plus(a.Spent), w.Granted.Plus(a.total())
			w.Waits = w.Waits || a.Wait != nil
		}
		s.Spent, s.Granted = s.Spent.Plus(w.Spent), s.Granted.Plus(w.Granted)
		s.Workers = append(s.Workers, w)
	}
	return s, nil
}
