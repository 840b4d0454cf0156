package reports

import (
	"maps"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// pool is what the criteria look at: the scored episodes of one or more
// candidates.
type pool struct {
	// episodes have a row; scored of them have a result, and solved of those are.
	episodes, scored, solved int
	// ended counts the others by kind; interrupted of the Unfinished have a row.
	ended       ledger.Outcomes
	interrupted int
	// tasks are those of scored episodes.
	tasks map[string]bool
	// judged turns are decisions with a reply; valid of them kept the strategy's
	// protocol, truncated hit the token cap, errors had no reply.
	judged, valid, truncated, errors int
	// steps and clarifies have one observation for each solved episode that counts
	// there. stops are the expected stops, which do not; questions are the solved
	// episodes whose expected outcome is a question, which count in steps alone.
	steps, clarifies         []stat.Observation
	stepSum                  int64
	within, stops, questions int
}

// outcomes counts all planned episodes.
func (p *pool) outcomes() ledger.Outcomes {
	o := p.ended
	o.Solved, o.Failed = p.solved, p.scored-p.solved
	return o
}

func (p *pool) add(e *Episode, rows ledger.EpisodeRows, maxSteps float64) {
	p.episodes++
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
	default:
		p.scored++
		if p.tasks == nil {
			p.tasks = map[string]bool{}
		}
		p.tasks[e.Task] = true
		for i := range rows.Turns {
			p.addTurn(&rows.Turns[i])
		}
		if e.Solved {
			p.addSolved(e, &rows.Episode, maxSteps)
		}
	}
}

func (p *pool) addTurn(t *ledger.Turn) {
	if t.Decides() && t.ErrorKind != "" {
		p.errors++
	}
	if !t.Judged() {
		return
	}
	p.judged++
	switch {
	case t.Truncated():
		p.truncated++
	case t.ContractValid:
		p.valid++
	}
}

func (p *pool) addSolved(e *Episode, row *ledger.Episode, maxSteps float64) {
	p.solved++
	if !row.CountsSteps() {
		p.stops++
		return
	}
	p.steps = append(p.steps, stat.Observation{Cluster: e.Task, Value: float64(e.Steps)})
	p.stepSum += int64(e.Steps)
	if float64(e.Steps) <= maxSteps {
		p.within++
	}
	if !row.CountsClarifies() {
		p.questions++
		return
	}
	p.clarifies = append(p.clarifies, stat.Observation{Cluster: e.Task, Value: float64(row.Clarifies)})
}

// merge adds what another pool counted.
func (p *pool) merge(q *pool) {
	if p.tasks == nil {
		p.tasks = map[string]bool{}
	}
	maps.Copy(p.tasks, q.tasks)
	p.episodes, p.scored, p.solved = p.episodes+q.episodes, p.scored+q.scored, p.solved+q.solved
	p.ended.InfraErrors += q.ended.InfraErrors
	p.ended.HarnessErrors += q.ended.HarnessErrors
	p.ended.BudgetStops += q.ended.BudgetStops
	p.ended.Unfinished += q.ended.Unfinished
	p.interrupted += q.interrupted
	p.judged, p.valid, p.truncated, p.errors = p.judged+q.judged, p.valid+q.valid, p.truncated+q.truncated, p.errors+q.errors
	p.steps, p.clarifies = append(p.steps, q.steps...), append(p.clarifies, q.clarifies...)
	p.stepSum += q.stepSum
	p.within, p.stops, p.questions = p.within+q.within, p.stops+q.stops, p.questions+q.questions
}

// turnNote says which turns were left out, and which of the invalid ones the
// token cap explains.
func (p *pool) turnNote() string {
	var parts []string
	if p.truncated > 0 {
		parts = append(parts, plural(p.truncated, "turn")+" cut off by the token cap, counted invalid")
	}
	if p.errors > 0 {
		parts = append(parts, plural(p.errors, "turn")+" without a reply left out")
	}
	if n := p.episodes - p.scored; n > 0 {
		parts = append(parts, plural(n, "episode")+" without a result left out")
	}
	if len(parts) == 0 {
		return ""
	}
	return upperFirst(strings.Join(parts, "; ")) + "."
}
