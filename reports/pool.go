package reports

import (
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/stat"
)

// pool is what the criteria look at: the scored episodes of one or more
// candidates.
type pool struct {
	// judged are the main-loop turns with a reply; valid of them kept the
	// contract, truncated hit the token cap, errors had no reply.
	judged                   []*ledger.Turn
	valid, truncated, errors int
	scored, solved           int
	infra, interrupted       int
	// steps and clarifies are one observation for each solved episode, the
	// latter without those whose right outcome is a question.
	steps, clarifies     []stat.Observation
	stepSum, clarifySum  int64
	within, clarifyGoals int
}

func newPool(episodes []*Episode, maxSteps float64) pool {
	var p pool
	for _, e := range episodes {
		switch e.Excluded {
		case excludedInfra:
			p.infra++
			continue
		case excludedInterrupted:
			p.interrupted++
			continue
		}
		p.scored++
		p.addTurns(e)
		if e.Solved {
			p.addSolved(e, maxSteps)
		}
	}
	return p
}

func (p *pool) addTurns(e *Episode) {
	for _, t := range e.turns {
		if t.Role != "main" {
			continue
		}
		if t.ErrorKind != "" {
			p.errors++
			continue
		}
		p.judged = append(p.judged, t)
		switch {
		case truncated(t):
			p.truncated++
		case t.ContractValid:
			p.valid++
		}
	}
}

func (p *pool) addSolved(e *Episode, maxSteps float64) {
	p.solved++
	p.steps = append(p.steps, stat.Observation{Cluster: e.Task, Value: float64(e.Steps)})
	p.stepSum += int64(e.Steps)
	if float64(e.Steps) <= maxSteps {
		p.within++
	}
	if e.row.ExpectedStatus == "clarify" {
		p.clarifyGoals++
		return
	}
	p.clarifies = append(p.clarifies, stat.Observation{Cluster: e.Task, Value: float64(e.row.Clarifies)})
	p.clarifySum += int64(e.row.Clarifies)
}

// truncated says that the token cap cut a turn's output: it counts as invalid,
// whatever could be read of it.
func truncated(t *ledger.Turn) bool {
	return t.FinishReason == "length" || slices.Contains(t.Violations, "truncated")
}

// turnNote says which turns were left out, and which of the invalid ones the
// token cap explains.
func (p pool) turnNote() string {
	var parts []string
	if p.truncated > 0 {
		parts = append(parts, plural(p.truncated, "turn")+" cut off by the token cap, counted invalid")
	}
	if p.errors > 0 {
		parts = append(parts, plural(p.errors, "turn")+" without a reply left out")
	}
	if n := p.infra + p.interrupted; n > 0 {
		parts = append(parts, plural(n, "episode")+" without a result left out")
	}
	if len(parts) == 0 {
		return ""
	}
	return upperFirst(strings.Join(parts, "; ")) + "."
}
