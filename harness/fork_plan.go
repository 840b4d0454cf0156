package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// planFork resolves a fork into the episodes that continue from it, ordered by candidate
// and trial. Except in replay mode, which needs only the fork's own cassettes, it replays
// the recorded episode first, to check that the episode has the turn and that every
// candidate issues the same commands up to it.
func planFork(r *runner) (*plan, error) {
	f := *r.Fork
	f.Trial = max(f.Trial, 1)
	if err := f.check(r.Select); err != nil {
		return nil, &ConfigError{err}
	}
	source, err := planSource(r, f)
	if err != nil {
		return nil, err
	}
	o := r.Options
	if len(o.Select.Candidates) == 0 {
		o.Select.Candidates = []string{f.Candidate}
	}
	o.Select.Tasks = []string{f.Task}
	plan, err := makePlan(o)
	if err != nil {
		return nil, err
	}
	for _, c := range append([]resolvedCandidate{{Candidate: source.Candidate}}, plan.candidates...) {
		if why := strategy.Of(c.Agent).NoFork; why != "" {
			return nil, &ConfigError{fmt.Errorf("fork %s: candidate %s: %s", f, c.Name, why)}
		}
	}
	from := &drive.Past{Planned: source, Turn: f.Turn, Answer: f.answer(), Command: r.command(source)}
	for i := range plan.candidates {
		if err := joinFork(r, &plan.candidates[i], from, f); err != nil {
			return nil, &ConfigError{fmt.Errorf("fork %s: %w", f, err)}
		}
	}
	plan.sort() // the names of the candidates have changed
	if plan.len() == 0 {
		return plan, nil
	}
	if r.Mode == recorder.Replay {
		recall(r, from, plan.at(0))
	} else if err := checkPast(r, from, plan, f); err != nil {
		return nil, fmt.Errorf("fork %s: %w", f, err)
	}
	return plan, nil
}

// planSource plans the recorded episode.
func planSource(r *runner, f Fork) (drive.Planned, error) {
	o := r.Options
	o.Mode, o.Trials = recorder.Replay, f.Trial
	o.Select = Selection{Tasks: []string{f.Task}, Candidates: []string{f.Candidate}}
	scripted := func(t goldens.Task) bool { return t.ID == f.Task && t.Scripted }
	if slices.ContainsFunc(o.Suite.Tasks, scripted) {
		return drive.Planned{}, &ConfigError{fmt.Errorf("fork %s: a scripted episode has no recorded turns to continue from", f)}
	}
	if slices.ContainsFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == f.Task && t.Session != "" }) {
		return drive.Planned{}, &ConfigError{fmt.Errorf("fork %s: its task is part of a session, so its history belongs to other episodes; copy the task without its session and fork the copy", f)}
	}
	if slices.ContainsFunc(o.Suite.Tasks, func(t goldens.Task) bool { return t.ID == f.Task && t.User != nil }) {
		return drive.Planned{}, &ConfigError{fmt.Errorf("fork %s: its task has a simulated user, whose recorded answers do not fit another conversation; record the task with the other candidate", f)}
	}
	plan, err := makePlan(o)
	if err != nil {
		return drive.Planned{}, &ConfigError{fmt.Errorf("fork %s: %w", f, err)}
	}
	p := plan.at(plan.len() - 1)
	if p.Task.ID != f.Task || p.Candidate.Name != f.Candidate {
		return drive.Planned{}, &ConfigError{fmt.Errorf("fork %s: name one task and one candidate, not a pattern", f)}
	}
	return p, nil
}

// joinFork makes a candidate's episodes continue from the past.
func joinFork(r *runner, c *resolvedCandidate, from *drive.Past, f Fork) error {
	for _, d := range []struct{ what, old, now string }{
		{"strategy", from.Candidate.Agent, c.Agent},
		{"prompt profile", from.Candidate.Profile, c.Profile},
		{"output mode", from.Candidate.Mode, c.Mode},
	} {
		if d.old != d.now {
			return fmt.Errorf("candidate %s cannot continue from this episode: its %s is %s, but the recorded turns of %s have %s %s",
				c.Name, d.what, d.now, f.Candidate, d.what, d.old)
		}
	}
	c.Name = f.Name(c.Name)
	if err := c.Validate(); err != nil {
		return err
	}
	if slices.ContainsFunc(r.Candidates, func(other goldens.Candidate) bool { return other.Name == c.Name }) {
		return fmt.Errorf("candidate %s already exists", c.Name)
	}
	c.fork = from
	return nil
}

// checkPast returns an error if the plan cannot continue from the recorded episode.
func checkPast(r *runner, from *drive.Past, plan *plan, f Fork) error {
	rec, err := from.Open(r.Cassettes)
	if err != nil {
		return err
	}
	from.Digest, from.Recorded = rec.Digest(), rec.Header().Recorded
	if f.CassetteDigest != "" && f.CassetteDigest != from.Digest {
		return &cassette.CorruptError{
			Path: from.Cassette, Reason: "recorded again since that episode; fork an episode of a later run, or TASK/CANDIDATE/TRIAL as it is now",
		}
	}
	last := ""
	for _, p := range plan.all() {
		if p.Candidate.Name == last {
			continue // another trial
		}
		last = p.Candidate.Name
		if err := checkFork(r, p, f); err != nil {
			return err
		}
	}
	return nil
}

// recall reads the source of the fork from the fork's own cassette. If the cassette is
// missing, the replay reports it.
func recall(r *runner, from *drive.Past, p drive.Planned) {
	rec, err := recorder.New(recorder.Options{Mode: recorder.Replay, FS: r.Cassettes, Path: p.Cassette})
	if err == nil {
		from.Digest, from.Recorded = rec.Header().Digests[recorder.ForkDigest], rec.Header().ForkRecorded
	}
}

// checkFork replays the recorded episode with its own machine and the next candidate's in
// parallel.
func checkFork(r *runner, next drive.Planned, f Fork) error {
	run := *r
	run.Mode, run.today = recorder.Replay, time.Time{}
	p := next.Fork.Planned
	p.ForkTarget = &next
	var ended error
	rows := run.env().Run(context.Background(), &p, func(t episode.Trace) {
		if t.Finish != nil {
			ended = t.Finish.Err
		}
	})
	var apart *drive.DivergedError
	var overlap *drive.OverlapError
	switch n := len(rows.Turns); {
	case errors.As(ended, &overlap):
		return &ConfigError{ended}
	case errors.As(ended, &apart):
		return &ConfigError{fmt.Errorf("candidate %s: %w", f.Base(next.Candidate.Name), ended)}
	case ended != nil:
		return ended
	case f.Answer != "" && rows.Episode.Status != string(agent.AwaitingInput):
		return &ConfigError{fmt.Errorf("the episode ended with status %s, so it awaits no answer; continue it from a turn", rows.Episode.Status)}
	case f.Answer != "":
		return nil
	case n == 1:
		return &ConfigError{errors.New("the episode has only 1 turn; fork a longer episode")}
	case f.Turn >= n:
		return &ConfigError{fmt.Errorf("the episode has %d turns, so the last one to keep is 1 to %d", n, n-1)}
	}
	return nil
}

// forkHeader adds the source of the fork to the header of its cassette.
func forkHeader(p drive.Planned, h *cassette.Header) {
	if p.Fork == nil {
		return
	}
	h.Fork = Fork{Task: p.Task.ID, Candidate: p.Fork.Candidate.Name, Trial: p.Fork.Trial, Turn: p.Fork.Turn, Answer: answerText(p.Fork.Answer)}.String()
	h.ForkRecorded = p.Fork.Recorded
	h.Digests[recorder.ForkDigest] = p.Fork.Digest
}
