package compare

import (
	"math"

	"github.com/cupel-eval/cupel/reports/stat"
)

// finder says how large a loss in these tasks must be, or how many tasks there must be,
// for it to be detected with power often.
type finder struct {
	tasks int
	// noise is the variance of a task's difference while nothing changes.
	noise float64
	// level is one-sided.
	level float64
	// share says that what is lost are passes: in the worst case a share e of the tasks
	// fails altogether.
	share bool
	// runs are those of a task, the new one included; differ counts the tasks whose runs
	// differ now.
	runs, differ int
}

// finder is that of a metric at its level: what Holm leaves to the first rejection.
func (m *measured) finder() finder {
	f := finder{tasks: m.Clusters, noise: m.change.mean.SE * m.change.mean.SE * float64(m.Clusters), level: m.level, share: m.Unit == unitShare, runs: max(2, m.runs), differ: m.differ}
	if !f.share {
		return f
	}
	// No task that differs does not mean that none ever will: one more by one pair.
	pairs := float64(m.N) / float64(m.Clusters)
	f.noise += 1 / (pairs * pairs * float64(m.Clusters))
	if lost := math.Abs(*m.Effect); m.Verdict == stat.Fail { // the spread seen has that of this loss in it
		f.noise, f.differ = max(0, f.noise-lost*(1-lost)), 0
	}
	return f
}

// fewest is how many tasks must differ, and all to the worse, for the exact test to
// show anything: runs^-fewest is its least p.
func (f finder) fewest() int {
	return int(math.Ceil(-math.Log(f.level)/math.Log(float64(f.runs)) - 1e-9))
}

// shows tells whether a loss of these tasks is detected with power often. Where it comes of
// tasks that fail altogether, the test's own reference spreads more: of one such task
// the runs have the variance 1/(runs−1), in units of the difference. The number of
// these tasks is the loss; it is not drawn anew.
func (f finder) shows() func(effect float64) bool {
	g, fewest := float64(f.tasks), f.fewest()
	if f.tasks < max(2, fewest) || f.noise == 0 && !f.share { // without a spread nothing is known of one
		return func(float64) bool { return false }
	}
	critical, powered := stat.TQuantile(1-f.level, g-1), stat.TQuantile(often, g-1)
	return func(effect float64) bool {
		spread := f.noise
		if f.share {
			if broken := int(effect*g + 1e-9); broken < fewest && f.differ < fewest {
				return false
			}
			spread += effect / float64(f.runs-1)
		}
		return effect > 0 && effect >= critical*math.Sqrt(spread/g)+powered*math.Sqrt(f.noise/g)
	}
}

// detectable is the least loss that is shown; ok is false where there is none.
func (f finder) detectable() (effect float64, ok bool) {
	high, shows := 1.0, f.shows()
	if !f.share {
		high = math.Sqrt(f.noise)
		for range 60 {
			if shows(high) {
				break
			}
			high *= 2
		}
	}
	if !shows(high * (1 - 1e-9)) {
		return 0, false
	}
	low := 0.0
	for range 40 {
		if mid := low + (high-low)/2; shows(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// enough is the least number of tasks that show the effect, a little rounded up; ok is
// false where a million do not.
func (f finder) enough(effect float64) (n int, ok bool) {
	return atLeast(max(2, f.tasks), func(n int) bool {
		f.tasks = n
		return f.shows()(effect)
	})
}

// atLeast is the least number from 2 on at which what holds for large ones holds, to
// one in 200; from is where to begin.
func atLeast(from int, holds func(n int) bool) (n int, ok bool) {
	const most = 1 << 20
	low, high := 1, from
	for !holds(high) {
		if low, high = high, 2*high; high > most {
			return 0, false
		}
	}
	for high-low > max(1, high/200) {
		if mid := low + (high-low)/2; holds(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}
