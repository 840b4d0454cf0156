package compare

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/words"
)

// skipped are the changed tasks that the rules leave out.
func (b *Builder) skipped(c *Comparison) map[string][]string {
	if b.rules.Changed != Skip {
		return nil
	}
	skip := changed(b.baseline().manifest, b.new.manifest)
	if len(skip) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%s left out, because they changed between the runs: %s.", words.Plural(len(skip), "task"), some(slices.Sorted(maps.Keys(skip)))))
	}
	return skip
}

// missing says what has no result: pairs lost to infrastructure and harness, of which a
// pass must survive the worst case, and a run that ended before its plan, which may
// have left out what is hard.
func (b *Builder) missing(p *comparing) {
	planned := 0
	resume := map[string]bool{}
	for i := range p.tasks {
		j := &p.tasks[i]
		planned += len(j.twins)
		unfinished := false
		for _, t := range j.twins {
			if t.baseline.why == lost || t.new.why == lost {
				p.lost = append(p.lost, fmt.Sprintf("%s trial %d", clip.FirstBytes(j.id, maxWord), t.new.trial))
			}
			if t.baseline.why == lost {
				resume[b.baselines[t.baseline.run].manifest.RunID] = true
			}
			if t.new.why == lost {
				resume[b.new.manifest.RunID] = true
			}
			unfinished = unfinished || t.new.why == cut
		}
		if unfinished && p.cut == "" {
			p.cut = p.side(p.Labels.New) + " was interrupted or capped"
		}
	}
	p.resume = slices.Sorted(maps.Keys(resume))
	if left := p.New.Planned - b.new.candidates[p.names.New].episodes(); left > 0 && p.cut == "" {
		p.cut = words.Plural(left, "planned episode") + " of " + p.side(p.Labels.New) + " have not been run"
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
	if most := b.new.manifest.Acceptance.Resolved().MaxInfra; float64(len(p.lost)) > most*float64(planned) {
		p.gap = fmt.Sprintf("%d of %s without a result, more than the %s of max_infra", len(p.lost), words.Plural(planned, "pair"), percent(most))
	}
}

// extreme measures the gating metrics with values for the lost episodes that make the new
// run look worst, or best, by their names; those without data are left out. What is lost cannot lie
// beyond, as far as it is a share; other values are taken to lie within those seen in the
// pair. No assumption is made of why an episode was lost: C. F. Manski, "Nonparametric
// Bounds on Treatment Effects", American Economic Review 80 (1990) 319–323.
func (p *comparing) extreme(rules Rules, best bool) map[string]*measured {
	newer, baseline := p.extremes()
	if best {
		newer, baseline = baseline, newer
	}
	filled := *p
	filled.tasks = slices.Clone(p.tasks)
	for i := range filled.tasks {
		j := &filled.tasks[i]
		if len(j.scored) == len(j.twins) {
			continue
		}
		j.scored = make([]twin, 0, len(j.twins))
		for _, t := range j.twins {
			if t.baseline.why == cut || t.new.why == cut {
				continue
			}
			if t.baseline.why == lost {
				t.baseline = baseline.of(t.baseline, p.tasks[i].scored)
			}
			if t.new.why == lost {
				t.new = newer.of(t.new, p.tasks[i].scored)
			}
			j.scored = append(j.scored, t)
		}
	}
	measures, by := filled.measure(rules, true), map[string]*measured{}
	for i := range measures {
		if m := &measures[i]; m.P != nil {
			by[m.Name] = m
		}
	}
	return by
}

// extremes are the worst and the best of every metric among the results of a pair. A
// lost episode is given as many turns as the longest one has.
func (p *comparing) extremes() (worst, best *record) {
	worst = &record{stepped: true, asked: true, priced: true, counted: true, thrash: true, stall: true}
	best = &record{stepped: true, asked: true, priced: true, counted: true, solved: true}
	first, slowest, fastest := true, 0.0, 0.0
	for i := range p.tasks {
		for _, t := range p.tasks[i].scored {
			for _, r := range []*record{t.baseline, t.new} {
				if first {
					best.steps, best.clarifies, best.cost, best.tokens, best.elapsed = r.steps, r.clarifies, r.cost, r.tokens, r.elapsed
				}
				worst.steps, best.steps = max(worst.steps, r.steps), min(best.steps, r.steps)
				worst.clarifies, best.clarifies = max(worst.clarifies, r.clarifies), min(best.clarifies, r.clarifies)
				worst.cost, best.cost = max(worst.cost, r.cost), min(best.cost, r.cost)
				worst.tokens, best.tokens = max(worst.tokens, r.tokens), min(best.tokens, r.tokens)
				worst.elapsed, best.elapsed = max(worst.elapsed, r.elapsed), min(best.elapsed, r.elapsed)
				if worst.judged = max(worst.judged, r.judged); r.judged > 0 {
					mean := float64(r.latency) / float64(r.judged)
					if slowest = max(slowest, mean); first || mean < fastest {
						fastest = mean
					}
				}
				for _, s := range r.scores {
					if s.known {
						worst.score01(s, math.Min)
						best.score01(s, math.Max)
					}
				}
				first = false
			}
		}
	}
	best.judged, best.valid = worst.judged, worst.judged
	worst.latency, best.latency = int64(slowest*float64(worst.judged)), int64(fastest*float64(worst.judged))
	return worst, best
}

// of returns the extreme for a lost episode: of an attacked one, whether the attack succeeded is as
// bad or good as the rest, and it has the scores that other episodes of its task have.
func (r *record) of(lost *record, others []twin) *record {
	if !lost.attacked && len(r.scores) == 0 {
		return r
	}
	own := *r
	own.attacked, own.decided, own.fell = lost.attacked, lost.attacked, lost.attacked && !r.solved
	if len(others) > 0 {
		own.scores = slices.DeleteFunc(slices.Clone(r.scores), func(s scoreOf) bool {
			return !slices.ContainsFunc(others, func(t twin) bool {
				_, has := t.new.score(s.check)
				_, had := t.baseline.score(s.check)
				return has || had
			})
		})
	}
	if lost.attacked {
		own.scores = nil
	}
	return &own
}

// noteKnown says what the known-flaky list does, and what is wrong with it.
func (b *Builder) noteKnown(c *Comparison, all []comparing) {
	used := map[string]bool{}
	for i := range all {
		if p := &c.Pairs[i]; p.Known > 0 {
			c.Notes = append(c.Notes, fmt.Sprintf("%s: %s of known-flaky tasks reported, but left out of gating metrics.", p.New.Name, words.Plural(p.Known, "paired episode")))
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
