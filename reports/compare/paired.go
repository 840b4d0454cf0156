package compare

import (
	"math"

	"github.com/cupel-eval/cupel/reports/stat"
)

// sides are sums over the pairs of one task, on both sides: of what is measured
// (Num), and of what that is counted over (Den > 0): pairs, or their turns.
type sides struct{ baseline, new stat.Cluster }

func (s *sides) add(baseline, newer stat.Cluster) {
	s.baseline.Num, s.baseline.Den = s.baseline.Num+baseline.Num, s.baseline.Den+baseline.Den
	s.new.Num, s.new.Den = s.new.Num+newer.Num, s.new.Den+newer.Den
}

// paired is a difference of two ratios over the same tasks.
type paired struct {
	baseline, new float64
	// mean is the difference, its spread clustered by task. influence is what each
	// task contributes: their mean is the difference.
	mean      stat.Mean
	influence []float64
}

// difference is new − factor·baseline, of the ratios of sums over all tasks. ok
// is false without tasks or where sums are not finite.
//
// Where both sides of a task count the same pairs this is the mean of the paired
// differences and its cluster-robust error, as of stat.ClusterMean; else the error
// is by linearisation, as of stat.ClusterRatio, of both sides at once: what they
// share cancels.
func difference(tasks []string, list []sides, factor float64) (d paired, ok bool) {
	base, newer := totals(list)
	if len(list) == 0 {
		return paired{}, false
	}
	d.baseline, d.new = base.Num/base.Den, newer.Num/newer.Den
	value := d.new - factor*d.baseline
	g := float64(len(list))
	d.influence = make([]float64, len(list))
	obs := make([]stat.Observation, len(list))
	for i, s := range list {
		e := (s.new.Num-d.new*s.new.Den)/newer.Den - factor*(s.baseline.Num-d.baseline*s.baseline.Den)/base.Den
		d.influence[i] = value + g*e
		obs[i] = stat.Observation{Cluster: tasks[i], Value: d.influence[i]}
	}
	d.mean, ok = stat.ClusterMean(obs)
	d.mean.Value = value
	return d, ok
}

func totals(list []sides) (base, newer stat.Cluster) {
	var all sides
	for _, s := range list {
		all.add(s.baseline, s.new)
	}
	return all.baseline, all.new
}

// swaps are the scores of tasks for a permutation test by swapping the two runs of
// whole tasks: a swap turns a score's sign, and the sum of scores is 0 just where
// both ratios are equal. R, the ratio over both sides together, stays the same.
func swaps(tasks []string, list []sides) []stat.Observation {
	base, newer := totals(list)
	r := (base.Num + newer.Num) / (base.Den + newer.Den)
	scores := make([]stat.Observation, len(list))
	for i, s := range list {
		scores[i] = stat.Observation{Cluster: tasks[i], Value: (s.new.Num - s.baseline.Num) - r*(s.new.Den-s.baseline.Den)}
	}
	return scores
}

// interval is the t interval of the change. A share has one even where no task
// differs: for what may not have been seen.
func (d paired) interval(share bool) (iv stat.Interval, ok bool) {
	if d.mean.SE > 0 {
		return d.mean.Interval(confidence)
	}
	if !share {
		return stat.Interval{}, false
	}
	v, ok := d.mean.NonInferior(0, 1, (1-confidence)/2)
	return stat.Interval{Low: v.Low, High: v.High}, ok
}

// clusters are the contributions of tasks, with their signs so that more is better,
// and the least that one more could have contributed.
func (d paired) clusters(good, reach float64) (list []stat.Cluster, least float64) {
	list, least = make([]stat.Cluster, len(d.influence)), -reach
	for i, v := range d.influence {
		// Rounding must not turn one cluster of equal values into two.
		list[i] = stat.Cluster{Num: good * math.Round(v*1e12) / 1e12, Den: 1}
		least = min(least, list[i].Num)
	}
	return list, least
}
