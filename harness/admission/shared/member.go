package shared

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// These times are by the member's own clock.
const (
	// interval is between two exchanges, and gap at least. A member that waits for others asks
	// again after poll, and after a failed exchange.
	interval, gap, poll = Lifetime / 8, 10 * time.Millisecond, 500 * time.Millisecond
	// expiry is how long a lease stands still before others take it for expired, and idle how
	// long a process keeps its share of a lane that it does not use.
	expiry, idle = Lifetime * 3 / 2, Lifetime / 2
	// patience is how long a process waits for a store that does not answer.
	patience = 15 * time.Minute
	// farewell is how long a process tries to give back what it has.
	farewell = 15 * time.Second
)

// Options configure a Member.
type Options struct {
	// Name is for people, such as the host's.
	Name string
	// Notice is called with one line when the store stops answering, and when it answers again;
	// nil means no calls.
	Notice func(string)
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Member is one process that shares a pool, for one admission.Control. Its Wanted and Join
// are called as those of harness.Sharing.
type Member struct {
	pool    *Pool
	options Options
	owner   string
	poked   chan struct{}

	// These belong to the goroutine that exchanges.
	id      string
	control *admission.Control
	joined  bool
	current outcome // what is in force
	until   time.Time
	failing time.Time // since when the store does not answer; zero if it does
	silent  bool      // Notice was called since
	cancel  context.CancelFunc
	seen    map[string]sighting
	used    map[string]admission.Spend // by provider, at the last exchange
	pace    map[string]admission.Spend
	lanes   map[string]laneUse
	cut     map[string]int64 // what the control has given up for an exchange that was not stored
}

// sighting is when a lease was first seen at a beat.
type sighting struct {
	beat  int64
	since time.Time
}

type laneUse struct {
	sent int64
	last time.Time
}

// Member returns a new member.
func (p *Pool) Member(o Options) *Member {
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the seam: leases are in real time
	}
	return &Member{
		pool: p, options: o, owner: rand.Text(), poked: make(chan struct{}, 1),
		seen: map[string]sighting{}, used: map[string]admission.Spend{}, pace: map[string]admission.Spend{}, lanes: map[string]laneUse{},
	}
}

// Wanted asks for an exchange soon. It never blocks.
func (m *Member) Wanted() {
	select {
	case m.poked <- struct{}{}:
	default:
	}
}

// Join makes the first exchange, and begins a goroutine for further ones. The control's
// caps and limits must be those of the pool. The lease belongs to the spending log in
// folder; without a folder, to the process. leave ends the goroutine and gives back what
// is left; if it fails, that counts as spent.
func (m *Member) Join(c *admission.Control, folder string) (leave func() error, err error) {
	m.control = c
	if m.id, err = leaseID(folder); err != nil {
		return nil, fmt.Errorf("join the shared limits %s: %w", m.pool.key, err)
	}
	var ctx context.Context
	ctx, m.cancel = context.WithCancel(context.Background())
	if err := m.within(ctx, false); err != nil {
		m.cancel()
		return nil, fmt.Errorf("join the shared limits %s: %w", m.pool.key, err)
	}
	done := make(chan struct{})
	go func() { defer close(done); m.run(ctx) }()
	return func() error {
		m.cancel()
		<-done
		return m.close(folder)
	}, nil
}

// leaseFile has the id of the lease that belongs to the spending log beside it.
const leaseFile = "lease"

func leaseID(folder string) (string, error) {
	id := strings.ToLower(rand.Text()[:16])
	if folder == "" {
		return id, nil
	}
	path := filepath.Join(folder, leaseFile)
	text, err := regular.ReadFile(path)
	if was := strings.TrimSpace(string(text)); err == nil && was != "" {
		return was, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return id, atomicfile.WriteBytes(path, []byte(id+"\n"))
}

// run exchanges until ctx ends or the pool is lost.
func (m *Member) run(ctx context.Context) {
	for {
		err := m.rest(ctx)
		if err == nil {
			err = m.within(ctx, false)
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			continue
		}
		now := m.options.Now()
		if m.failing.IsZero() {
			m.failing = now
		}
		if m.lost(err, now) {
			m.control.Allot(func(admission.Snapshot) admission.Allotment { return admission.Allotment{Stop: err} })
			return
		}
		if !m.silent && !now.Before(m.until) {
			m.silent = true
			m.notice(fmt.Sprintf("the shared limits do not answer: no request is sent until they do (%v)", err))
		}
	}
}

// rest waits until the next exchange.
func (m *Member) rest(ctx context.Context) error {
	wait, poked := interval, m.poked
	if m.current.waits || !m.failing.IsZero() {
		wait, poked = poll, nil // others have to act first
	}
	for _, d := range []time.Duration{gap, wait} {
		timer := time.NewTimer(d)
		in := poked
		if d == gap {
			in = nil
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-in:
			timer.Stop()
		case <-timer.C:
		}
	}
	return nil
}

// errLost means that the pool can no longer be used.
var errLost = errors.New("the shared limits are lost: stop the workers and resume the run")

// lost reports whether to give up.
func (m *Member) lost(err error, now time.Time) bool {
	return errors.Is(err, errLost) || errors.Is(err, ErrNoKey) || !m.failing.IsZero() && now.Sub(m.failing) > patience
}

func (m *Member) notice(text string) {
	if m.options.Notice != nil {
		m.options.Notice(text)
	}
}

// close gives back what is left.
func (m *Member) close(folder string) error {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	for {
		err := m.within(ctx, true)
		if err == nil {
			return nil
		}
		if m.lost(err, m.options.Now()) || ctx.Err() != nil {
			hint := ""
			if folder != "" {
				hint = ", until a worker resumes with " + folder
			}
			return fmt.Errorf("give back what is left of the shared limits: %w; what this worker was granted counts as spent%s", err, hint)
		}
		select {
		case <-ctx.Done():
		case <-time.After(poll):
		}
	}
}

// within makes an exchange that fails after a while.
func (m *Member) within(ctx context.Context, closing bool) error {
	ctx, cancel := context.WithTimeout(ctx, Lifetime/4)
	defer cancel()
	for {
		err := m.exchange(ctx, closing)
		if !errors.Is(err, ErrConflict) {
			m.cut = nil // it is in the record, or lost with the failed exchange
			return err
		}
	}
}

// exchange reads the record, and replaces it by one in which this process has what it
// needs and the caps allow. What the process loses by that is taken from the control
// before the record is stored, and what it gains is given to it afterwards. So the control
// never has more than the record says, whether or not the answer of the store arrives.
func (m *Member) exchange(ctx context.Context, closing bool) error {
	r, revision, err := read(ctx, m.pool.kv, m.pool.key)
	if err != nil {
		return err
	}
	if err := m.claim(r); err != nil {
		return err
	}
	m.observe(r)
	begun := m.options.Now()
	var rep report
	var out outcome
	m.control.Allot(func(s admission.Snapshot) admission.Allotment {
		rep = m.report(s, begun, closing)
		out = r.exchange(m.id, rep)
		m.current, m.cut = m.current.lowered(out), out.cut
		return m.current.allotment(m.until)
	})
	if _, err := m.pool.kv.Update(ctx, m.pool.key, r.encode(), revision); err != nil {
		return fmt.Errorf("update %s: %w", m.pool.key, err)
	}
	m.joined, m.failing, m.current = true, time.Time{}, out
	if m.until = begun.Add(Lifetime); closing {
		m.until = time.Time{}
	}
	for name, a := range rep.accounts {
		m.used[name], m.pace[name] = a.used, a.pace
	}
	m.control.Allot(func(admission.Snapshot) admission.Allotment { return out.allotment(m.until) })
	if m.silent {
		m.silent = false
		m.notice("the shared limits answer again")
	}
	return nil
}

// claim makes the lease in the record, or checks that it is still this process's.
func (m *Member) claim(r *record) error {
	if r.Identity != m.pool.config.Identity {
		return fmt.Errorf("%w: %w", errLost, otherFleet(m.pool.key, r.Identity, m.pool.config.Identity))
	}
	l := r.Leases[m.id]
	switch {
	case l == nil && m.joined:
		return fmt.Errorf("%w: the store has lost the lease of this worker", errLost)
	case l == nil:
		l = &lease{}
		r.Leases[m.id] = l
	case m.joined && l.Owner != m.owner:
		return fmt.Errorf("%w: another process uses the spending log of this worker, or a copy of it", errLost)
	}
	l.Owner, l.Name = m.owner, m.options.Name
	if l.Accounts == nil {
		l.Accounts = map[string]*account{}
	}
	return nil
}

// observe marks the leases that stand still.
func (m *Member) observe(r *record) {
	now := m.options.Now()
	for id, l := range r.Leases {
		was, known := m.seen[id]
		switch {
		case id == m.id || l.Closed || l.Expired:
			delete(m.seen, id)
		case !known || was.beat != l.Beat:
			m.seen[id] = sighting{l.Beat, now}
		case now.Sub(was.since) > expiry:
			l.expire()
		}
	}
}

// report is what this process says of itself.
func (m *Member) report(s admission.Snapshot, now time.Time, closing bool) report {
	rep := report{accounts: map[string]accountReport{}, lanes: map[string]int64{}, closing: closing}
	for _, p := range s.Providers {
		a := accountReport{spent: p.Spent, used: p.Spent.Plus(p.Reserved), short: p.Short}
		// The block lasts for twice what was used since the last exchange, so that it grows with
		// the pace and shrinks when the process idles.
		grown := minus(a.used, m.used[p.Provider])
		if !m.joined {
			grown = admission.Spend{} // what its log has is of an earlier process
		}
		a.pace = largest(grown.Plus(grown), each(m.pace[p.Provider], grown, func(n, _ int64) int64 { return n / 2 }))
		rep.accounts[p.Provider] = a
		limits := m.pool.config.Limits[p.Provider]
		if max(limits.RequestsPerMinute, limits.TokensPerMinute) <= 0 {
			continue
		}
		for _, l := range p.Lanes {
			use := m.lanes[l.ID]
			if l.Sent != use.sent || l.InFlight+l.Waiting > 0 {
				use = laneUse{l.Sent, now}
				m.lanes[l.ID] = use
			}
			if !use.last.IsZero() && now.Sub(use.last) <= idle {
				rep.lanes[l.ID] = int64(l.Level*wholeRate) + m.cut[l.ID]
			}
		}
	}
	return rep
}

// lowered is what both outcomes have.
func (o outcome) lowered(next outcome) outcome {
	low := outcome{parts: map[string]admission.Part{}, shares: map[string]float64{}, waits: next.waits}
	for name, part := range next.parts {
		low.parts[name] = admission.Part{Granted: smallest(o.parts[name].Granted, part.Granted), Limit: part.Limit}
	}
	for lane, share := range o.shares {
		if next.lapsed {
			share = 0 // with what is left of it
		}
		low.shares[lane] = min(share, next.shares[lane])
	}
	return low
}

func (o outcome) allotment(until time.Time) admission.Allotment {
	return admission.Allotment{Until: until, Providers: o.parts, Shares: o.shares, Filled: o.filled}
}
