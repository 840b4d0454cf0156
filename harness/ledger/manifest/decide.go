package manifest

import (
	"errors"
	"fmt"
)

// Decide says how far a run with --decide went: its trials are run in rounds
// over all tasks, and after each a candidate is stopped or goes on.
type Decide struct {
	// Rounds are the trials of each task by the end of each round, rising. The episodes of a
	// round are those whose trial is above the number before and at most its own: see
	// Round.
	Rounds []int `json:"rounds"`
	// Baselines are the ids of the runs that candidates are compared with.
	Baselines []string `json:"baselines,omitempty"`
	// RulesDigest covers what else decisions follow from.
	RulesDigest string `json:"rules_digest"`
	// Finished counts the rounds after which every candidate was judged that was still
	// running.
	Finished int `json:"finished"`
	// Stops are in the order of their rounds; candidates of one round are in the
	// manifest's order. A candidate without one has not been decided.
	Stops []Stop `json:"stops"`
}

// Stop says that a candidate needs no more trials.
type Stop struct {
	Candidate string `json:"candidate"`
	// Round counts from 1.
	Round int `json:"round"`
	// Verdict is what it was stopped with, and Reason why.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// Round is the round of an episode, from 1; it is 0 for a trial that no round has.
func (d *Decide) Round(trial int) int {
	for i, last := range d.Rounds {
		if trial >= 1 && trial <= last {
			return i + 1
		}
	}
	return 0
}

// Stop is the candidate's; false while it has none.
func (d *Decide) Stop(candidate string) (Stop, bool) {
	for _, s := range d.Stops {
		if s.Candidate == candidate {
			return s, true
		}
	}
	return Stop{}, false
}

// Look is the round whose look at the candidate's data is the latest: the one that
// stopped it, or else the last one finished. It is 1 before any is.
func (d *Decide) Look(candidate string) int {
	if s, ok := d.Stop(candidate); ok {
		return s.Round
	}
	return max(1, d.Finished)
}

// TrialsOf are the trials of each task that a candidate has if nothing is missing.
func (m *Manifest) TrialsOf(candidate string) int {
	if m.Decide == nil {
		return m.Trials
	}
	return m.Decide.Rounds[m.Decide.Look(candidate)-1]
}

// MostEpisodes are those that a run in rounds would have had if no candidate had been
// stopped before the last.
func (m *Manifest) MostEpisodes() (n int) {
	d := m.Decide
	last := len(d.Rounds) - 1
	for _, c := range m.Candidates {
		trials := m.TrialsOf(c.Name)
		if _, stopped := d.Stop(c.Name); !stopped && m.Stopped != "" { // the round that was not finished
			trials = d.Rounds[min(d.Finished, last)]
		}
		n += c.Planned / trials * d.Rounds[last]
	}
	return n
}

// maxRounds bounds the rounds of a manifest.
const maxRounds = 100

// validate refuses what no run writes, so that readers of a manifest need not check it.
func (d *Decide) validate() error {
	if d == nil {
		return nil
	}
	before := 0
	for _, n := range d.Rounds {
		if n <= before {
			return fmt.Errorf("decide.rounds: %d follows %d; they must rise from 1", n, before)
		}
		before = n
	}
	if n := len(d.Rounds); n < 1 || n > maxRounds {
		return fmt.Errorf("decide.rounds: %d rounds; there must be 1 to %d", n, maxRounds)
	}
	errs := []error{}
	if d.Finished < 0 || d.Finished > len(d.Rounds) {
		errs = append(errs, fmt.Errorf("decide.finished: %d of %d rounds", d.Finished, len(d.Rounds)))
	}
	for i, s := range d.Stops {
		if s.Round < 1 || s.Round > d.Finished {
			errs = append(errs, fmt.Errorf("decide.stops[%d]: round %d, and %d rounds are finished", i, s.Round, d.Finished))
		}
	}
	return errors.Join(errs...)
}
