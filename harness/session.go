package harness

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/internal/drive"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// The tasks of a session are one conversation: for a candidate and a trial its episodes run
// one after the other, in the order of the suite, and each sees the requests and answers of
// the earlier ones. This history is taken from their rows, so a run, its resumption, its
// replay and its shards have the same one.

// sessionHistory is the part of a session's earlier episodes that the next one sees.
type sessionHistory struct {
	exchanges []strategy.Exchange
	digests   []string // of their cassettes; empty for scripted ones
	err       error    // of the first episode without a result
}

// unanswered lists the statuses whose answer never reached the user, so later episodes do
// not see it.
var unanswered = map[string]bool{string(agent.Stopped): true, string(agent.Failed): true}

// addEpisode adds an episode that has ended.
func (m *sessionHistory) addEpisode(t goldens.Task, e ledger.Episode) {
	m.digests = append(m.digests, e.CassetteDigest)
	switch {
	case m.err != nil:
	case e.Excluded() != "":
		m.err = &episode.SessionError{Session: t.Session, Earlier: drive.EpisodeName(e.TaskID, e.Candidate, int(e.Trial)), Kind: e.ErrorKind}
	case e.Answer != "" && !unanswered[e.Status]:
		m.exchanges = append(m.exchanges, strategy.Exchange{Request: t.Request, Answer: e.Answer})
	}
}

// setHistory gives an episode the history of its session.
func setHistory(p *drive.Planned, m sessionHistory) {
	if !p.Remembers() {
		return
	}
	p.HistoryErr = m.err
	p.Params.Memory = slices.Clip(strategy.Remember(m.exchanges, p.Candidate.Memory.Turns, p.Candidate.Memory.Tokens))
	p.Before = drive.DigestOf(m.digests)
}

// withEarlier adds the earlier tasks of the selected tasks' sessions, in the order of the
// suite.
func withEarlier(all, chosen []goldens.Task) []goldens.Task {
	last := map[string]string{} // the last chosen task of each session
	picked := map[string]bool{}
	for _, t := range chosen {
		picked[t.ID] = true
		if t.Session != "" {
			last[t.Session] = t.ID
		}
	}
	if len(last) == 0 {
		return chosen
	}
	var out []goldens.Task
	for _, t := range all {
		end, open := last[t.Session]
		if picked[t.ID] || open {
			out = append(out, t)
		}
		if end == t.ID {
			delete(last, t.Session)
		}
	}
	return out
}

// withPredecessors adds the earlier episodes of each selected episode's session, because the
// session history comes from them.
func (s Selection) withPredecessors(tasks []plannedTask) func(task int, candidate string, trial int) bool {
	return func(task int, candidate string, trial int) bool {
		if s.Episode == nil || s.Episode(tasks[task].ID, candidate, trial) {
			return true
		}
		session := tasks[task].Session
		return session != "" && !s.Exact && slices.ContainsFunc(tasks[task+1:], func(t plannedTask) bool {
			return t.Session == session && s.Episode(t.ID, candidate, trial)
		})
	}
}

// shardName determines an episode's shard: the episodes of a session have the same one.
func shardName(t goldens.Task, candidate string, trial int) string {
	if t.Session == "" {
		return drive.EpisodeName(t.ID, candidate, trial)
	}
	return drive.EpisodeName("session:"+t.Session, candidate, trial) // no task has a colon in its id
}

// before returns the episodes of e's session that come before it, planned or not.
func (p *plan) before(e drive.Planned) []drive.Planned {
	if e.Task.Session == "" {
		return nil
	}
	c := slices.IndexFunc(p.candidates, func(c resolvedCandidate) bool { return c.Name == e.Candidate.Name })
	var out []drive.Planned
	for i := range p.tasks {
		t := &p.tasks[i]
		if t.ID == e.Task.ID {
			break
		}
		if t.Session == e.Task.Session {
			out = append(out, p.candidates[c].episode(p.options, t.Task, t.tools, e.Trial))
		}
	}
	return out
}

// findSessions computes, for each episode of a session, the places of all of that session's
// episodes in the order of the suite.
func (p *plan) findSessions() {
	type conversation struct {
		session          string
		candidate, trial int32
	}
	found := map[conversation][]int32{}
	for i, c := range p.cells {
		if s := p.tasks[c.Task].Session; s != "" {
			key := conversation{s, c.Candidate, c.Trial}
			found[key] = append(found[key], int32(i))
		}
	}
	p.sessions = map[int32][]int32{}
	for _, places := range found {
		slices.SortFunc(places, func(a, b int32) int { return int(p.cells[a].Task) - int(p.cells[b].Task) })
		for _, i := range places {
			p.sessions[i] = places
		}
	}
}

// sessionEpisodes returns the places of the episodes that run one after the other with the
// i-th, including it: those of its session, or it alone.
func (p *plan) sessionEpisodes(i int32) []int32 {
	if all := p.sessions[i]; all != nil {
		return all
	}
	return []int32{i}
}

// isFirstToRun reports whether i identifies its unit in a queue: it is the first in ledger
// order of the unit's episodes to run. If todo is nil, all are to be run.
func (p *plan) isFirstToRun(i int32, todo []bool) bool {
	for _, other := range p.sessions[i] {
		if other < i && (todo == nil || todo[other]) {
			return false
		}
	}
	return true
}

// runSession runs the remaining episodes of the unit at place i of a queue. more is set if
// it was abandoned before its end.
func runSession(r *runner, ctx context.Context, b *runState, q *queue, i int) (more bool, err error) {
	return runUnit(r, ctx, r.plan.sessionEpisodes(int32(i)), unitHooks{
		done: func(i int) (ledger.EpisodeRows, bool, error) {
			if b.s.todo[i] { // only this worker runs this unit
				return ledger.EpisodeRows{}, false, nil
			}
			rows, _, err := b.s.get(i)
			return rows, true, err
		},
		over:  func() bool { return b.over(ctx, q) },
		began: b.began,
		ended: b.ended,
	})
}

// unitHooks are what runUnit asks of its caller.
type unitHooks struct {
	// done returns the rows of an episode that is not run.
	done func(i int) (rows ledger.EpisodeRows, is bool, err error)
	// over reports whether no further episode may start; nil means never.
	over  func() bool
	began func() // nil if it is not needed
	ended func(i int, rows ledger.EpisodeRows) error
	// lost makes each episode that is not done fail without being run; nil runs them.
	lost error
}

// runUnit runs episodes one after the other, with the history of their session.
func runUnit(r *runner, ctx context.Context, unit []int32, h unitHooks) (more bool, err error) {
	memory := r.loadHistory(ctx, planned(r.plan, int(unit[0]), sessionHistory{}))
	for n, place := range unit {
		i := int(place)
		rows, done, err := h.done(i)
		if err != nil {
			return false, err
		}
		if done {
			memory.addEpisode(r.plan.tasks[r.plan.cells[i].Task].Task, rows.Episode)
			continue
		}
		if n > 0 && h.over != nil && h.over() {
			return true, nil
		}
		if h.began != nil {
			h.began()
		}
		p := planned(r.plan, i, memory)
		if h.lost != nil {
			p.HistoryErr = h.lost
		}
		rows = r.runTraced(ctx, p)
		if err := h.ended(i, rows); err != nil {
			return false, err
		}
		memory.addEpisode(p.Task, rows.Episode)
	}
	return false, nil
}

// planned returns an episode with the history of its session.
func planned(plan *plan, i int, memory sessionHistory) *drive.Planned {
	p := plan.at(i)
	setHistory(&p, memory)
	return &p
}

// loadHistory replays the earlier episodes of p's session from their cassettes.
func (r *runner) loadHistory(ctx context.Context, p *drive.Planned) sessionHistory {
	var memory sessionHistory
	if !p.Remembers() {
		return memory
	}
	run := *r
	if r.Mode != recorder.Replay {
		run.Mode, run.today, run.control, run.batches, run.cleaners = recorder.Replay, time.Time{}, nil, nil, &sync.Pool{}
	}
	run.Observe, run.ReplaySpeed = nil, 0
	for _, earlier := range r.plan.before(*p) {
		setHistory(&earlier, memory)
		memory.addEpisode(earlier.Task, run.env().Run(ctx, &earlier, nil).Episode)
	}
	return memory
}

// runTraced runs an episode and passes its trace to Options.Traced.
func (r *runner) runTraced(ctx context.Context, p *drive.Planned) ledger.EpisodeRows {
	if r.Traced == nil {
		return r.env().Run(ctx, p, nil)
	}
	var traces []episode.Trace
	rows := r.env().Run(ctx, p, func(t episode.Trace) { traces = append(traces, t) })
	r.Traced(rows, traces)
	return rows
}
