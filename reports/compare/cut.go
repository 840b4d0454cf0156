package compare

import "github.com/cupel-eval/cupel/reports/words"

// cutBaseline says that a baseline run ended before its plan; empty if none did. What
// it has no result of may be what got worse, so no comparison with it passes.
func (b *Builder) cutBaseline(p *comparing) string {
	for _, s := range b.baselines {
		m := s.manifest
		switch left := candidate(s.manifest, p.names.Baseline).Planned - s.candidates[p.names.Baseline].episodes(); {
		case m.Stopped != "":
			return p.run(p.Labels.Baseline) + " was stopped early: " + m.Stopped
		case m.Status == "running" || m.Status == "failed":
			return "the status of " + p.run(p.Labels.Baseline) + " is " + m.Status
		case left > 0:
			return words.Plural(left, "planned episode") + " of " + p.side(p.Labels.Baseline) + " have not been run"
		}
	}
	for i := range p.tasks {
		for k := range p.tasks[i].baseline {
			if p.tasks[i].baseline[k].why == cut {
				return p.side(p.Labels.Baseline) + " was interrupted or capped"
			}
		}
	}
	return ""
}
