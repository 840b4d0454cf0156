package evidence_test

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// oldComparison is how cupel compared two runs before. It used pairs of the trials with
// a result on both sides, for any number of lost ones; one baseline; for each gating
// metric a bound (solved and contract_valid) or a permutation test adjusted by Holm;
// and no verdict between pass and inconclusive.
type oldComparison struct{ sides [2]map[string]*oldEpisode }

type oldEpisode struct {
	task     string
	lost     bool
	num, den [2]float64 // of solved and contract_valid
}

const (
	solved = iota
	contractValid
)

func newOldComparison() *oldComparison {
	return &oldComparison{sides: [2]map[string]*oldEpisode{{}, {}}}
}

// add counts an episode of side 0, the baseline, or 1.
func (o *oldComparison) add(side int, rows ledger.EpisodeRows) {
	e := &rows.Episode
	r := &oldEpisode{task: e.TaskID, lost: e.Excluded() != "", den: [2]float64{1, 0}}
	if e.Solved {
		r.num[solved] = 1
	}
	for i := range rows.Turns {
		r.den[contractValid]++
		if rows.Turns[i].Valid() {
			r.num[contractValid]++
		}
	}
	o.sides[side][e.TaskID+"/"+strconv.Itoa(int(e.Trial))] = r
}

// oldTask has the sums of a task over pairs, on both sides.
type oldTask struct {
	id                     string
	aNum, aDen, bNum, bDen float64
}

// tasks has the sums of a metric; gone counts the lost pairs, of planned ones.
func (o *oldComparison) tasks(metric int) (list []oldTask, gone, planned int) {
	by := map[string]*oldTask{}
	for key, a := range o.sides[0] {
		b := o.sides[1][key]
		if b == nil {
			continue
		}
		planned++
		if a.lost || b.lost {
			gone++
			continue
		}
		if a.den[metric] == 0 || b.den[metric] == 0 {
			continue
		}
		t := by[a.task]
		if t == nil {
			t = &oldTask{id: a.task}
			by[a.task] = t
		}
		t.aNum, t.aDen = t.aNum+a.num[metric], t.aDen+a.den[metric]
		t.bNum, t.bDen = t.bNum+b.num[metric], t.bDen+b.den[metric]
	}
	for _, t := range by {
		list = append(list, *t)
	}
	slices.SortFunc(list, func(a, b oldTask) int { return strings.Compare(a.id, b.id) })
	return list, gone, planned
}

// oldMetric is a measured gating metric.
type oldMetric struct {
	effect  float64
	p       float64 // one-sided, for the worse
	notLess bool    // a loss of the margin is ruled out
	se      float64 // of a task's contribution
	tasks   int
	differ  int
}

func oldMeasure(list []oldTask, margin, alpha float64) (m oldMetric) {
	var aNum, aDen, bNum, bDen float64
	for _, t := range list {
		aNum, aDen, bNum, bDen = aNum+t.aNum, aDen+t.aDen, bNum+t.bNum, bDen+t.bDen
	}
	a, b, both := aNum/aDen, bNum/bDen, (aNum+bNum)/(aDen+bDen)
	m.effect, m.tasks = b-a, len(list)
	contributions, scores, clusters, least := make([]stat.Observation, len(list)), make([]stat.Observation, len(list)), make([]stat.Cluster, len(list)), -1.0
	for i, t := range list {
		v := m.effect + float64(len(list))*((t.bNum-b*t.bDen)/bDen-(t.aNum-a*t.aDen)/aDen)
		contributions[i] = stat.Observation{Cluster: t.id, Value: v}
		scores[i] = stat.Observation{Cluster: t.id, Value: (t.bNum - t.aNum) - both*(t.bDen-t.aDen)}
		clusters[i] = stat.Cluster{Num: math.Round(v*1e12) / 1e12, Den: 1}
		least = min(least, clusters[i].Num)
		if scores[i].Value != 0 {
			m.differ++
		}
	}
	mean, _ := stat.ClusterMean(contributions)
	m.se = mean.SE * math.Sqrt(float64(len(list)))
	m.p = 1
	if p, ok := stat.PairedPermutation(scores); ok && m.differ > 0 {
		if m.p = 1 - p.P/2; m.effect < 0 {
			m.p = p.P / 2
		}
	}
	bound, ok := stat.LowerBound(clusters, least, 1, alpha)
	m.notLess = ok && bound > -margin
	return m
}

// verdict returns the verdict by solved (margin 5 points) and contract_valid (2).
func (o *oldComparison) verdict(alpha float64) stat.Verdict {
	margins := [2]float64{0.05, 0.02}
	var metrics []oldMetric
	gone, planned := 0, 0
	for metric, margin := range margins {
		list, lost, of := o.tasks(metric)
		gone, planned = lost, of
		if len(list) > 0 {
			metrics = append(metrics, oldMeasure(list, margin, alpha))
		}
	}
	p := make([]float64, len(metrics))
	for i := range metrics {
		p[i] = metrics[i].p
	}
	adjusted, err := multiple.Holm(p)
	if err != nil {
		panic(err)
	}
	v := stat.Pass
	for i, m := range metrics {
		switch {
		case m.notLess:
		case adjusted[i] <= alpha:
			v = stat.Fail
		case v == stat.Pass:
			v = stat.Inconclusive
		}
	}
	if float64(gone) > 0.05*float64(planned) {
		v = stat.Inconclusive
	}
	return v
}

// oldFlips returns the two-sided p-value of the numbers of tasks broken and fixed, as
// it was computed before: twice the tail, which can exceed 1 for an even split.
func oldFlips(broken, fixed int) float64 {
	tail := min(broken, fixed)
	if broken == fixed {
		return 1
	}
	sums := make([]float64, tail+1)
	sums[0] = 1
	for range broken + fixed {
		for s := tail; s >= 0; s-- {
			if s > 0 {
				sums[s] += sums[s-1]
			}
			sums[s] /= 2
		}
	}
	p := 0.0
	for _, s := range sums {
		p += s
	}
	return 2 * p
}

// detectable returns the loss that cupel said it would detect with 80% power, at the
// given one-sided level. It is false if there was none.
func (m oldMetric) detectable(level float64) (loss float64, ok bool) {
	fewest := int(math.Ceil(-math.Log2(level) - 1e-9))
	shows := func(loss float64) bool {
		if m.tasks < max(2, fewest) || evidence.Power(m.tasks, math.Sqrt(m.se*m.se+loss*(1-loss)), 2*level, loss) < 0.8 {
			return false
		}
		if m.differ >= fewest {
			return true
		}
		iv, ok := stat.ClopperPearson(fewest-1, m.tasks, 0.6)
		return ok && loss >= iv.High
	}
	low, high := 0.0, 1-1e-9
	if !shows(high) {
		return 0, false
	}
	for range 30 {
		if mid := (low + high) / 2; shows(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}
