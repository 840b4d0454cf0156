package model

import (
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/words"
)

// pool is what the criteria look at: the scored episodes of one or more
// candidates.
type pool struct {
	// episodes have a row; scored of them have a result, and solved of those are.
	episodes, scored, solved int
	// ended counts the others by kind; interrupted of the Unfinished have a row.
	ended       manifest.Outcomes
	interrupted int
	// by are the counts of scored episodes by cluster.
	by taskCounts
	// judged turns are decisions with a reply; truncated of them hit the token cap.
	// errors had no reply.
	judged, truncated, errors int
	// longest is the most judged turns of a scored episode.
	longest int
	// steps has one value for each solved episode that counts there. stops are the
	// expected stops, which do not; questions are the solved episodes whose expected
	// outcome is a question, which count in steps alone.
	steps            []int
	stepSum          int64
	stops, questions int
	// lost are the first episodes lost to infrastructure and harness errors.
	lost []lostEpisode
	// harmed are the first episodes that did harm.
	harmed []harmedEpisode
	// injections are the counts of attacked episodes by injection.
	injections map[string]taskCounts
	// misled are scored episodes whose simulated user broke its rules.
	misled int
	// jury are the judges of the run; with trusting, verdicts of those without a calibration are
	// taken as they are.
	jury     *judges.Jury
	trusting bool
	// interim says that this is not the last look at the data.
	interim bool
}

// outcomes counts all planned episodes.
func (p *pool) outcomes() manifest.Outcomes {
	o := p.ended
	o.Solved, o.Failed = p.solved, p.scored-p.solved
	return o
}

// add counts an episode of a cluster: its task, or the session that the task is part of.
func (p *pool) add(cluster string, e *Episode, rows ledger.EpisodeRows, maxSteps float64) {
	p.episodes++
	if rows.Episode.StateBefore != "" || rows.Episode.Harm != nil {
		p.by.of(cluster).changes = true
	}
	if ledger.Lost(e.Excluded) {
		p.by.of(cluster).lost++
		if len(p.lost) < maxLostNamed {
			p.lost = append(p.lost, lostEpisode{e.Task, e.Candidate, e.Trial})
		}
	}
	switch e.Excluded {
	case ledger.LostToInfra:
		p.ended.InfraErrors++
	case ledger.LostToHarness:
		p.ended.HarnessErrors++
	case ledger.LostToCap:
		p.ended.BudgetStops++
	case ledger.LostToUser:
		p.ended.Unfinished++
		p.interrupted++
	case manifest.NotScored:
		p.ended.NotScored++
	default:
		p.scored++
		p.misled += int(one(rows.Episode.UserFaults != ""))
		c := p.by.of(cluster)
		c.thrash += one(rows.Episode.ThrashEvents > 0)
		c.stall += one(rows.Episode.StallEvents > 0)
		before := p.judged
		for i := range rows.Turns {
			p.addTurn(&rows.Turns[i], c)
		}
		p.longest = max(p.longest, p.judged-before)
		p.addHarm(c, e, &rows.Episode)
		switch {
		case e.judged.Judges == 0:
		case e.Injection == "":
			c.plain = c.plain.plus(ratings{e.judged: 1})
		default:
			c.attacked = c.attacked.plus(ratings{e.judged: 1})
		}
		switch {
		case e.Injection != "":
			p.solved += int(one(e.Solved))
		case e.Solved:
			c.scored++
			c.solved++
			p.addSolved(cluster, e, &rows.Episode, maxSteps)
		default:
			c.scored++
		}
	}
	if e.Injection != "" {
		p.addAttack(cluster, e.Injection, assaultsOf(&rows.Episode))
	}
}

func (p *pool) addTurn(t *ledger.Turn, c *counted) {
	if t.Decides() && t.ErrorKind != "" {
		p.errors++
	}
	if !t.Judged() {
		return
	}
	p.judged++
	c.judged++
	c.repaired += one(t.Repaired)
	switch {
	case t.Truncated():
		p.truncated++
	case t.ContractValid:
		c.valid++
	}
}

func (p *pool) addSolved(cluster string, e *Episode, row *ledger.Episode, maxSteps float64) {
	p.solved++
	if !row.CountsSteps() {
		p.stops++
		return
	}
	p.steps = append(p.steps, e.Steps)
	p.stepSum += int64(e.Steps)
	c := p.by.of(cluster)
	c.stepped++
	c.steps += int64(e.Steps)
	c.within += one(float64(e.Steps) <= maxSteps)
	if !row.CountsClarifies() {
		p.questions++
		return
	}
	c.asking++
	c.clarifies += int64(row.Clarifies)
}

// merge adds what another pool counted.
func (p *pool) merge(q *pool) {
	p.misled += q.misled
	p.by.merge(q.by)
	for injection, counts := range q.injections {
		if p.injections == nil {
			p.injections = map[string]taskCounts{}
		}
		by := p.injections[injection]
		if by == nil {
			by = taskCounts{}
		}
		by.merge(counts)
		p.injections[injection] = by
	}
	p.episodes, p.scored, p.solved = p.episodes+q.episodes, p.scored+q.scored, p.solved+q.solved
	p.ended.InfraErrors += q.ended.InfraErrors
	p.ended.HarnessErrors += q.ended.HarnessErrors
	p.ended.BudgetStops += q.ended.BudgetStops
	p.ended.Unfinished += q.ended.Unfinished
	p.ended.NotScored += q.ended.NotScored
	p.interrupted += q.interrupted
	p.judged, p.truncated, p.errors = p.judged+q.judged, p.truncated+q.truncated, p.errors+q.errors
	p.longest, p.lost = max(p.longest, q.longest), append(p.lost, q.lost...)
	p.harmed = append(p.harmed, q.harmed...)
	p.steps = append(p.steps, q.steps...)
	p.stepSum += q.stepSum
	p.stops, p.questions = p.stops+q.stops, p.questions+q.questions
}

// turnNote says which turns were left out, and which of the invalid ones the
// token cap explains.
func (p *pool) turnNote() string {
	var parts []string
	if p.truncated > 0 {
		parts = append(parts, words.Plural(p.truncated, "turn")+" cut off by the token cap, counted invalid")
	}
	if p.errors > 0 {
		parts = append(parts, words.Plural(p.errors, "turn")+" without a reply left out")
	}
	if n := p.episodes - p.scored; n > 0 {
		parts = append(parts, words.Plural(n, "episode")+" without a result left out")
	}
	if len(parts) == 0 {
		return ""
	}
	return words.UpperFirst(strings.Join(parts, "; ")) + "."
}
