package compare

import (
	"math"

	"github.com/cupel-eval/cupel/reports/stat"
)

// sums are sums over pairs, on both sides: of what is measured (Num), and of what that
// is counted over (Den > 0): pairs, or their turns.
type sums struct{ baseline, new stat.Cluster }

func (s *sums) add(more sums) {
	s.baseline.Num, s.baseline.Den = s.baseline.Num+more.baseline.Num, s.baseline.Den+more.baseline.Den
	s.new.Num, s.new.Den = s.new.Num+more.new.Num, s.new.Den+more.new.Den
}

// sides are the sums over the pairs of one task, and by block of the baseline: the
// n-th is of block n, and has a Den of 0 without a pair; nil where all are of block 0.
type sides struct {
	sums
	blocks []sums
}

// pair adds one pair of a block.
func (s *sides) pair(number int32, pair sums) {
	if number > 0 && s.blocks == nil {
		s.blocks = []sums{s.sums}
	}
	s.add(pair)
	if s.blocks == nil {
		return
	}
	for int(number) >= len(s.blocks) {
		s.blocks = append(s.blocks, sums{})
	}
	s.blocks[number].add(pair)
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
	var all sums
	for _, s := range list {
		all.add(s.sums)
	}
	return all.baseline, all.new
}

// scores are what each task scores in the new run, and after it in each block of the
// baseline, of which the first scores 0, for a permutation test by swapping runs of whole tasks: the sums of scores
// of two runs are equal just where their ratios are. R, the ratio over both sides
// together, stays the same.
//
// The new run's pairs differ from block to block only where some have no result: its
// score is the mean over blocks.
func scores(list []sides) [][]float64 {
	all, runs := stat.Cluster{}, make([]stat.Cluster, 0, 2*len(list))
	ends := make([]int, len(list))
	for i, s := range list {
		first := len(runs)
		runs = append(runs, s.new)
		if s.blocks == nil {
			runs = append(runs, s.baseline)
		}
		for _, b := range s.blocks {
			if b.baseline.Den > 0 {
				runs = append(runs, b.baseline)
			}
		}
		n := float64(len(runs) - first - 1)
		runs[first].Num, runs[first].Den = s.new.Num/n, s.new.Den/n
		for _, c := range runs[first:] {
			all.Num, all.Den = all.Num+c.Num, all.Den+c.Den
		}
		ends[i] = len(runs)
	}
	r, values := all.Num/all.Den, make([]float64, len(runs))
	out, first := make([][]float64, len(list)), 0
	for i, end := range ends {
		other := runs[first+1] // scores count from it, so that whole numbers stay whole
		for k := first; k < end; k++ {
			values[k] = (runs[k].Num - other.Num) - r*(runs[k].Den-other.Den)
		}
		out[i], first = values[first:end:end], end
	}
	return out
}

// pValues are those of one test: two-sided, and one-sided for less and for more in the
// new run.
type pValues struct{ two, low, high float64 }

// symmetric are the p-values of a symmetric distribution by the two-sided one, of what
// was seen.
func symmetric(two, seen float64) pValues {
	if seen < 0 {
		return pValues{two, two / 2, 1 - two/2}
	}
	return pValues{two, 1 - two/2, two / 2}
}

// swapped is the permutation test of scores; tasks names them. The test of two runs of
// each task is faster, and the same, as one of signs.
func swapped(tasks []string, list [][]float64) (p pValues, exact bool) {
	obs, sum := make([]stat.Observation, len(list)), 0.0
	for i, values := range list {
		if len(values) > 2 {
			b, ok := stat.BlockPermutation(list)
			if !ok {
				return pValues{1, 1, 1}, false
			}
			return pValues{min(1, 2*min(b.Low, b.High)), b.Low, b.High}, b.Exact
		}
		obs[i] = stat.Observation{Cluster: tasks[i], Value: values[0] - values[1]}
		sum += obs[i].Value
	}
	f, ok := stat.PairedPermutation(obs)
	if !ok {
		return pValues{1, 1, 1}, false
	}
	return symmetric(f.P, sum), f.Exact
}

// interval is the t interval of the change. A share has one even where no task
// differs: for what may not have been seen.
func (d paired) interval(share bool, confidence float64) (iv stat.Interval, ok bool) {
	if d.mean.SE > 0 || share {
		return d.mean.ShareInterval(confidence)
	}
	return stat.Interval{}, false
}

// noise is the variance of a task's contribution, and the standard error of that.
func (d paired) noise() (variance, se float64) {
	g := float64(len(d.influence))
	variance = d.mean.SE * d.mean.SE * g
	for _, v := range d.influence {
		off := (v-d.mean.Value)*(v-d.mean.Value) - variance
		se += off * off
	}
	return variance, math.Sqrt(se) / g
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
