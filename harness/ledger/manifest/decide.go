package manifest

import (
	"errors"
	"fmt"
)

// Decide is the state of a run with --decide. Its trials are run in rounds over all tasks; after
// each round a candidate stops or continues.
type Decide struct {
	// Rounds are the trials of each task after each round, in increasing order. The episodes of a
	// round have trials above the previous number and at most its own: see Round.
	Rounds []int `json:"rounds"`
	// Baselines are the ids of the runs that candidates are compared with.
	Baselines []string `json:"baselines,omitempty"`
	// RulesDigest covers all other inputs of the decisions.
	RulesDigest string `json:"rules_digest"`
	// Finished counts the rounds after which all running candidates were judged.
	Finished int `json:"finished"`
	// Stops are sorted by round, then in the manifest's order of candidates. A candidate without
	// a stop is not decided.
	Stops []Stop `json:"stops"`
}

// Stop is the decision that a candidate needs no more trials.
type Stop struct {
	Candidate string `json:"candidate"`
	// Round counts from 1.
	Round int `json:"round"`
	// Verdict is the candidate's verdict, and Reason the reason for it.
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
}

// Round returns the round of a trial, from 1, or 0 if no round has the trial.
func (d *Decide) Round(trial int) int {
	for i, last := range d.Rounds {
		if trial >= 1 && trial <= last {
			return i + 1
		}
	}
	return 0
}

// Stop returns the stop of a candidate, and false if it has none.
func (d *Decide) Stop(candidate string) (Stop, bool) {
	for _, s := range d.Stops {
		if s.Candidate == candidate {
			return s, true
		}
	}
	return Stop{}, false
}

// Look returns the round after which the candidate's data were last analysed: the round that
// stopped it, or else the last finished one. It is 1 before the first round is finished.
func (d *Decide) Look(candidate string) int {
	if s, ok := d.Stop(candidate); ok {
		return s.Round
	}
	return max(1, d.Finished)
}

// TrialsOf returns the trials of each task that a candidate has if none is missing.
func (m *Manifest) TrialsOf(candidate string) int {
	if m.Decide == nil {
		return m.Trials
	}
	return m.Decide.Rounds[m.Decide.Look(candidate)-1]
}

// MostEpisodes returns the number of episodes that the run would have had without any stop
// before the last round.
func (m *Manifest) MostEpisodes() (n int) {
	d := m.Decide
	last := len(d.Rounds) - 1
	for _, c := range m.Candidates {
		trials := m.TrialsOf(c.Name)
		if _, stopped := d.Stop(c.Name); !stopped && m.Stopped != "" { // the unfinished round
			trials = d.Rounds[min(d.Finished, last)]
		}
		n += c.Planned / trials * d.Rounds[last]
	}
	return n
}

// maxRounds bounds the rounds of a manifest.
const maxRounds = 100

// validate rejects values that no run writes, so that readers of a manifest need not check them.
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
