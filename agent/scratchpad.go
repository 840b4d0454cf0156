package agent

import "strings"

// Bounds of the scratchpad.
const (
	maxGoal      = 300 // characters
	maxPlan      = 600 // characters
	maxPlanLines = 6
	maxRecent    = 3 // observations of one class shown in full
	maxFolded    = 8 // lines of PROGRESS
	maxReplies   = 8 // answers of the user shown in full
)

// scratchpad is what the contract strategy remembers between turns. The whole
// prompt is rendered from it anew every turn; the ledger is never part of it.
type scratchpad struct {
	goal, constraints string
	plan              string   // as shown
	progress          []string // older observations, folded to a line each
	obs               []observation

	normalPlan string // the whole plan, white space normalised; empty before the first
	planRev    int
}

// observe adds an observation; the oldest of its class makes room for it.
func (p *scratchpad) observe(o observation) {
	p.obs = append(p.obs, o)
	most := maxRecent
	if o.class == obsReply {
		most = maxReplies
	}
	oldest, count := -1, 0
	for i, other := range p.obs {
		if other.class == o.class {
			if oldest < 0 {
				oldest = i
			}
			count++
		}
	}
	if count <= most {
		return
	}
	p.progress = append(p.progress, p.obs[oldest].folded())
	p.progress = p.progress[max(0, len(p.progress)-maxFolded):]
	p.obs = append(p.obs[:oldest], p.obs[oldest+1:]...)
}

// replan takes the plan of a turn. A blank one leaves the plan as it is; the
// first is revision 0, each different one after it the next.
func (p *scratchpad) replan(text string) {
	normal := strings.Join(strings.Fields(text), " ")
	if normal == "" || normal == p.normalPlan {
		return
	}
	if p.normalPlan != "" {
		p.planRev++
	}
	p.normalPlan = normal
	lines := strings.SplitN(clean(text), "\n", maxPlanLines+1)
	p.plan = oneLine(strings.Join(lines[:min(len(lines), maxPlanLines)], "\n"), maxPlan)
}
