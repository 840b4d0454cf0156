package compare

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/reports/stat"
)

// finder says how large a loss in these tasks must be, or how many tasks there must be,
// for it to be detected with power often.
type finder struct {
	tasks int
	// noise is the variance of a task's difference while nothing changes, doubt its
	// standard error.
	noise, doubt float64
	// level is one-sided.
	level float64
	// share says that what is lost are passes: in the worst case a share e of the tasks
	// fails altogether.
	share bool
	// step is half of that by which the sum of the tasks' differences can move, where passes
	// are counted: the exact test reaches its level only at some of the values between.
	step float64
	// runs are those of a task, the new one included; differ counts the tasks whose runs
	// differ now.
	runs, differ int
}

// finder is that of a metric at its level: what Holm leaves to the first rejection.
func (m *measured) finder() finder {
	f := finder{tasks: m.Clusters, level: m.level, share: m.Unit == unitShare, runs: max(2, m.runs), differ: m.differ}
	f.noise, f.doubt = m.change.noise()
	if !f.share {
		return f
	}
	f.step = m.step()
	// No task that differs does not mean that none ever will: one more by one pair.
	pairs := float64(m.N) / float64(m.Clusters)
	f.noise += 1 / (pairs * pairs * float64(m.Clusters))
	if lost := math.Abs(*m.Effect); m.Verdict == stat.Fail { // the spread seen has that of this loss in it
		f.noise, f.doubt, f.differ = max(0, f.noise-lost*(1-lost)), 0, 0
	}
	return f
}

// step is half the least change of a sum of differences of passes: runs of which one takes
// the place of another move it by their least difference at once. It is 0 where what is
// counted is not whole.
func (m *measured) step() float64 {
	least := float64(m.N) / float64(m.Clusters*max(1, m.runs-1)) // all pairs of a task
	for _, values := range scores(m.sides) {
		for _, v := range values {
			if v != math.Trunc(v) {
				return 0
			}
			if v != 0 {
				least = min(least, math.Abs(v))
			}
		}
	}
	return least * float64(m.runs*m.Clusters) / float64(2*m.N)
}

// fewest is how many tasks must differ, and all to the worse, for the exact test to
// show anything: runs^-fewest is its least p.
func (f finder) fewest() int {
	return int(math.Ceil(-math.Log(f.level)/math.Log(float64(f.runs)) - 1e-9))
}

// shows tells whether a loss of these tasks is detected with power often. Where it comes of
// tasks that fail altogether, the test's own reference spreads more: of one such task
// the runs have the variance 1/(runs−1), in units of the difference. The number of
// these tasks is the loss; it is not drawn again. The power is the mean over what is not known of the noise
// (Gauss–Hermite with three nodes): a loss that is stated for a noise that was
// underestimated would be detected less often.
func (f finder) shows() func(effect float64) bool {
	g, fewest := float64(f.tasks), f.fewest()
	if f.tasks < max(2, fewest) || f.noise == 0 { // without a spread nothing is known of one
		return func(float64) bool { return false }
	}
	critical := stat.TQuantile(1-f.level, g-1)
	t := distuv.StudentsT{Sigma: 1, Nu: g - 1}
	return func(effect float64) bool {
		more := 0.0
		if f.share {
			if broken := int(effect*g + 1e-9); broken < fewest && f.differ < fewest {
				return false
			}
			more = effect / float64(f.runs-1)
		}
		power := 0.0
		for _, node := range [][2]float64{{-math.Sqrt(3), 1.0 / 6}, {0, 2.0 / 3}, {math.Sqrt(3), 1.0 / 6}} {
			noise := max(f.noise/4, f.noise+node[0]*f.doubt)
			power += node[1] * t.CDF((effect-f.step/g-critical*math.Sqrt((noise+more)/g))/math.Sqrt(noise/g))
		}
		return power >= often
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
