package compare

// cutBaseline says that the baseline ended before its plan; empty if it did not.
// What it has no result of may be what got worse, so nothing passes against it.
func (b *Builder) cutBaseline(p *comparing) string {
	m := b.baseline.manifest
	switch left := p.Baseline.Planned - b.baseline.books[p.names.Baseline].episodes(); {
	case m.Stopped != "":
		return "the baseline was stopped early: " + m.Stopped
	case m.Status == "running" || m.Status == "failed":
		return "the status of the baseline is " + m.Status
	case left > 0:
		return plural(left, "planned episode") + " of the baseline have not been run"
	}
	for i := range p.tasks {
		for k := range p.tasks[i].baseline {
			if p.tasks[i].baseline[k].why == cut {
				return "the baseline was interrupted or capped"
			}
		}
	}
	return ""
}
