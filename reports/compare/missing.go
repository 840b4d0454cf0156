package compare

import (
	"fmt"
	"maps"
	"slices"
)

// skipped are the changed tasks that the rules leave out.
func (b *Builder) skipped(c *Comparison) map[string][]string {
	if b.rules.Changed != Skip {
		return nil
	}
	skip := b.changed(b.baseline().manifest, b.new.manifest)
	if len(skip) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s left out, because they changed between the runs: %s.", plural(len(skip), "task"), some(slices.Sorted(maps.Keys(skip)))))
	}
	return skip
}

// missing says where too little is left for a verdict, as of acceptance: with more
// episodes lost to infrastructure and harness than a run tolerates, what is left
// may be what a failing provider let through; and a run that ended before its plan
// may have left out what is hard.
func (b *Builder) missing(p *comparing) {
	planned, gone := 0, 0
	for i := range p.tasks {
		j := &p.tasks[i]
		planned += len(j.twins)
		unfinished := false
		for _, t := range j.twins {
			if t.baseline.why == lost || t.new.why == lost {
				gone++
			}
			unfinished = unfinished || t.new.why == cut
		}
		if unfinished && p.cut == "" {
			p.cut = p.side(p.Labels.New) + " was interrupted or capped"
		}
	}
	if left := p.New.Planned - b.new.books[p.names.New].episodes(); left > 0 && p.cut == "" {
		p.cut = plural(left, "planned episode") + " of " + p.side(p.Labels.New) + " have not been run"
	}
	switch m := b.new.manifest; {
	case m.Stopped != "":
		p.cut = p.run(p.Labels.New) + " was stopped early: " + m.Stopped
	case m.Status == "running" || m.Status == "failed":
		p.cut = "the status of " + p.run(p.Labels.New) + " is " + m.Status
	}
	if p.cut == "" {
		p.cut = b.cutBaseline(p)
	}
	if most := b.new.manifest.Acceptance.Resolved().MaxInfra; float64(gone) > most*float64(planned) {
		p.gap = fmt.Sprintf("%d of %s lost to infrastructure or harness errors on one side or both, more than the %s of max_infra", gone, plural(planned, "pair"), percent(most))
	}
}

// noteKnown says what the known-flaky list does, and what is wrong with it.
func (b *Builder) noteKnown(c *Comparison, all []comparing) {
	used := map[string]bool{}
	for i := range all {
		if p := &c.Pairs[i]; p.Known > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s of known-flaky tasks reported, but left out of gating metrics.", p.New.Name, plural(p.Known, "paired episode")))
		}
		for k := range all[i].tasks {
			if f := all[i].tasks[k].known; f != nil {
				used[f.Task+"\x00"+f.Candidate] = true
			}
		}
	}
	for _, f := range b.rules.Flaky {
		switch {
		case !used[f.Task+"\x00"+f.Candidate]:
			c.Notes = append(c.Notes, fmt.Sprintf("The known-flaky entry of %s (owner %s) matches no task compared: remove or correct it.", f.Task, f.Owner))
		case f.Expired:
			c.Notes = append(c.Notes, fmt.Sprintf("The known-flaky entry of %s expired on %s, and the task gates again: %s, fix it or extend the entry.", f.Task, f.Expires, f.Owner))
		}
	}
}
