package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/judging"
	"github.com/cupel-eval/cupel/reports/words"
)

// SetJudges says what is known of the errors of judges. It is called before the first Add.
func (b *Builder) SetJudges(list []judges.Calibration) {
	b.jury = judges.NewJury(b.r.Run.Judges, list)
}

// ratings counts episodes by the judges that decided them.
type ratings map[judging.Pattern]int32

func (r ratings) plus(o ratings) ratings {
	if len(o) == 0 {
		return r
	}
	r = maps.Clone(r)
	if r == nil {
		r = ratings{}
	}
	for p, n := range o {
		r[p] += n
	}
	return r
}

// observed are the observations of a rate by cluster, with how many of each are missing, and the
// judges that decided any, as bits.
type observed struct {
	clusters []judging.Cluster
	missing  []float64
	judges   uint32
}

// fill takes each missing observation as good (1) or not (0).
func (o observed) fill(as float64) []judging.Cluster {
	list := slices.Clone(o.clusters)
	for i, n := range o.missing {
		list[i].N, list[i].Sure = list[i].N+n, list[i].Sure+as*n
	}
	return list
}

// observe counts what judges decided. Verdicts that are taken as they are count as everything else.
func (p *pool) observe(of func(*counted) (k, n float64), by func(*counted) ratings, missing func(*counted) float64) (o observed) {
	asTheyAre := uint32(0)
	if p.trusting {
		asTheyAre = p.jury.Uncalibrated()
	}
	for _, cluster := range slices.Sorted(maps.Keys(p.by)) {
		counts := p.by[cluster]
		k, n := of(counts)
		one := judging.Cluster{N: n, Sure: k, Decided: map[judging.Pattern]float64{}}
		for pattern, n := range by(counts) {
			o.judges |= pattern.Judges
			rest := judging.Pattern{Judges: pattern.Judges &^ asTheyAre, Passed: pattern.Passed &^ asTheyAre}
			if rest.Judges == 0 || asTheyAre&pattern.Judges&^pattern.Passed != 0 {
				continue
			}
			one.Decided[rest] += float64(n)
			if pattern.Passed == pattern.Judges {
				one.Sure -= float64(n)
			}
		}
		o.clusters, o.missing = append(o.clusters, one), append(o.missing, missing(counts))
	}
	return o
}

// rated corrects a share for the errors of the judges that decided some of it. Without such
// judges it changes nothing.
func (c *Criterion) rated(p *pool, of func(*counted) (k, n float64), by func(*counted) ratings, missing func(*counted) float64) {
	if p.jury == nil || c.N == 0 {
		return
	}
	seen := p.observe(of, by, missing)
	if seen.judges == 0 {
		return
	}
	raw := newShare(p.by.share(of), c.Confidence)
	c.Raw, c.Note, c.Explanation, c.Aside, c.DesignEffect = &raw, "", "", "", nil
	measure := func(c *Criterion, clusters []judging.Cluster) {
		if value, iv, ok := judging.Correct(clusters, p.jury.Errors(), c.Confidence); ok {
			c.Value, c.Interval = value, &iv
		}
	}
	measure(c, seen.clusters)
	c.Test = "share corrected for the errors of judges, melded interval clustered by task, two-sided " + words.Level(c.Confidence)
	if c.Verdict != stat.NotJudged {
		c.decide()
	}
	c.note(fmt.Sprintf("By the verdicts of judges alone: %s, interval %s.", raw.Text(), raw.IntervalText()))
	c.note(p.jury.Says(seen.judges, p.trusting))
	if c.WorstCase != nil {
		c.bounds(func(c *Criterion, worst bool) {
			measure(c, seen.fill(map[bool]float64{false: 1}[worst]))
			c.decide()
		})
	}
}

// refused says which judges keep a criterion from a verdict; empty if none does.
func (p *pool) refused(criteria []Criterion) string {
	if p.trusting || !slices.ContainsFunc(criteria, func(c Criterion) bool { return c.Raw != nil && c.Verdict == stat.Inconclusive }) {
		return ""
	}
	return p.jury.Refusal()
}

// addSameModels says which judges judge their own model.
func (r *Report) addSameModels() {
	r.Notes = append(r.Notes, judges.Uncorrected(r.Run.Judges, "everything but the rates solved and utility under attack, such as pass^k, figures per solved task and custom criteria")...)
	for i := range r.Judges {
		j := &r.Judges[i]
		for _, c := range r.Candidates {
			if j.Model != "" && slices.ContainsFunc([]string{c.Model, c.RescueModel, c.FallbackModel, c.PlannerModel}, func(m string) bool { return strings.EqualFold(m, j.Model) }) {
				j.SameModel = append(j.SameModel, c.Name)
			}
		}
		if j.SameModel != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("Judge %s uses the model of %s (%s): a judge tends to prefer what its own model writes. Use another model, or check the labels of this candidate.",
				words.Brief(j.Name(), 40), briefly(j.SameModel), words.Brief(j.Model, 60)))
		}
	}
}

// briefly lists names, a few at most.
func briefly(names []string) string {
	const most = 5
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, words.Brief(n, 60))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, words.Plural(more, "more candidate"))
	}
	return words.And(list)
}
