package shared

import (
	"github.com/cupel-eval/cupel/harness/admission"
)

// report is what a process says of itself in an exchange.
type report struct {
	accounts map[string]accountReport
	// lanes are those with rates that it uses, and what it may send at once on each, in
	// millionths of a minute.
	lanes map[string]int64
	// closing says that it has ended.
	closing bool
}

type accountReport struct {
	// spent is settled, used has the reservations, too.
	spent, used admission.Spend
	// short is the worst case of a waiting request that does not fit; zero if there is none.
	short admission.Spend
	// pace is what it will use before its next exchange, by what it has used before the last
	// ones.
	pace admission.Spend
}

// outcome is what an exchange gives a process.
type outcome struct {
	parts  map[string]admission.Part
	shares map[string]float64
	filled map[string]float64
	// cut is what a lane has to give up of what it may send at once, in millionths.
	cut map[string]int64
	// waits says that a request waits for what others give back.
	waits bool
	// lapsed says that the lease had expired, so others may have used its rates.
	lapsed bool
}

// exchange replaces what a process had by what it uses and a block beyond it, as far as
// the caps allow. It is a pure function of its arguments: the caller applies the result
// only if the record was stored.
func (r *record) exchange(id string, rep report) outcome {
	me := r.Leases[id]
	out := outcome{parts: map[string]admission.Part{}, lapsed: me.Expired}
	me.Beat++
	me.Expired, me.Closed = false, rep.closing
	for name, said := range rep.accounts {
		a := me.Accounts[name]
		if a == nil {
			a = &account{}
			me.Accounts[name] = a
		}
		a.Spent, a.Granted = said.spent, said.used
	}
	for _, name := range sorted(rep.accounts) {
		if !rep.closing {
			r.grant(id, name, rep.accounts[name])
			out.waits = out.waits || me.Accounts[name].Wait != nil
		}
	}
	for name, a := range me.Accounts {
		if rep.closing {
			a.Wait = nil
		}
		out.parts[name] = admission.Part{Granted: a.Granted, Limit: r.limit(id, name)}
	}
	r.share(id, rep, &out)
	for _, share := range out.shares {
		out.waits = out.waits || share == 0
	}
	return out
}

// grant adds a block to an account that has no more than what is used: at least the
// waiting request, and otherwise what the process will use by its next exchange, but at
// most half of the rest. If the request does not fit, it waits, and nothing is granted to
// those who came later until it fits or is refused.
func (r *record) grant(id, name string, said accountReport) {
	a := r.Leases[id].Accounts[name]
	total := func(_ *lease, a *account) admission.Spend { return a.total() }
	ofRun, ofProvider := room(r.Caps, r.sum("", "", total)), room(r.Limits[name].Caps, r.sum(name, "", total))
	rest := smallest(ofRun, ofProvider)
	waits := said.short != admission.Spend{}
	if !r.passed(id, name) && fits(said.short, rest) {
		half := each(rest, rest, func(n, _ int64) int64 { return n / 2 })
		a.Granted, a.Wait = a.Granted.Plus(largest(said.short, smallest(said.pace, half))), nil
		return
	}
	if !waits {
		a.Wait = nil
		return
	}
	if a.Wait == nil {
		r.Tickets++
		a.Wait = &wait{Ticket: r.Tickets}
	}
	a.Wait.Need, a.Wait.Run = said.short, !fits(said.short, ofRun)
}

// passed reports whether a live process waits for the same caps with an earlier ticket.
func (r *record) passed(id, name string) bool {
	own := r.Leases[id].Accounts[name].Wait
	for other, l := range r.Leases {
		if l.Expired || l.Closed {
			continue
		}
		for provider, a := range l.Accounts {
			if a.Wait == nil || other == id && provider == name || provider != name && !a.Wait.Run {
				continue
			}
			if own == nil || a.Wait.Ticket < own.Ticket {
				return true
			}
		}
	}
	return false
}

// limit is the most that an account could come to if everything in flight elsewhere cost
// nothing.
func (r *record) limit(id, name string) admission.Spend {
	ofRun := room(r.Caps, r.sum("", id, (*lease).certain).Plus(r.elsewhere(id, name)))
	return smallest(ofRun, room(r.Limits[name].Caps, r.sum(name, id, (*lease).certain)))
}

// elsewhere is the spending of a lease on other providers.
func (r *record) elsewhere(id, name string) (s admission.Spend) {
	for other, a := range r.Leases[id].Accounts {
		if other != name {
			s = s.Plus(a.Spent)
		}
	}
	return s
}

// share sets the process's shares of the rates: of each lane an equal part among the live
// processes that use it, and at first what these have left. With a share comes a part of the
// minute that may be sent at once. A process whose share shrinks gives back what it has beyond
// it, and the others receive that. The unassigned part of the minute is at most the sum of the
// unassigned shares. So this part and all buckets are together at most the bucket of one
// process.
func (r *record) share(id string, rep report, out *outcome) {
	me := r.Leases[id]
	out.shares, out.filled, out.cut = map[string]float64{}, map[string]float64{}, map[string]int64{}
	was := me.Shares
	me.Shares = map[string]int64{}
	for lane, level := range rep.lanes {
		if rep.closing {
			break
		}
		users, taken := int64(1), int64(0)
		for other, l := range r.Leases {
			if share, ok := l.Shares[lane]; ok && other != id {
				users++
				taken += share
			}
		}
		share := max(0, min(wholeRate/users, wholeRate-taken))
		left, used := r.Lanes[lane]
		if !used {
			left = wholeRate
		}
		if gained := share - was[lane]; gained > 0 {
			filled := min(left, gained)
			out.filled[lane] = float64(filled) / wholeRate
			left -= filled
		} else {
			out.cut[lane] = max(0, min(level-share, -gained))
			left += out.cut[lane]
		}
		me.Shares[lane] = share
		out.shares[lane] = float64(share) / wholeRate
		r.Lanes[lane] = left
	}
}

// expire marks a lease that has stood still. Its rates are free.
func (l *lease) expire() { l.Expired, l.Shares = true, nil }
