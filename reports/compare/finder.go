package compare

import (
	"math"

	"github.com/cupel-eval/cupel/reports/stat"
)

// finder says how large a loss must be, or how many tasks there must be, for it to be
// shown with power often.
type finder struct {
	stat.Design
	// share says that what is lost are passes: a loss then adds a spread of its own.
	share bool
	// fewest is the number of tasks that must differ, and all to the worse, for the
	// exact test to show anything: 2^-fewest is its least p. differ is how many do.
	fewest, differ int
}

func (m *measured) finder(alpha float64, tests int) finder {
	level := alpha / float64(tests) // what Holm leaves to the first
	f := finder{
		Design: stat.Design{Tasks: m.Clusters, Trials: 1, SD: m.change.mean.SE * math.Sqrt(float64(m.Clusters)), ICC: 1, Alpha: 2 * level},
		share:  m.Unit == unitShare,
		fewest: int(math.Ceil(-math.Log2(level) - 1e-9)), differ: m.differ,
	}
	if lost := math.Abs(*m.Effect); f.share && m.Verdict == stat.Fail {
		// The spread seen has that of this loss in it, which at would add again.
		f.SD, f.differ = math.Sqrt(max(0, f.SD*f.SD-lost*(1-lost))), 0
	}
	return f
}

// at is the design when the loss is there. As far as it comes of tasks that break,
// which is the worst case, a share e of them adds e·(1−e) to the variance.
func (f finder) at(effect float64) stat.Design {
	d := f.Design
	if f.share {
		d.SD = math.Sqrt(d.SD*d.SD + effect*(1-effect))
	}
	return d
}

// enough says that the exact test has the tasks it needs: where hardly any differs
// now, that so many break with probability often.
func (f finder) enough(effect float64) bool {
	if f.Tasks < f.fewest || !f.share || f.differ >= f.fewest {
		return f.Tasks >= f.fewest
	}
	iv, ok := stat.ClopperPearson(f.fewest-1, f.Tasks, 2*often-1)
	return ok && effect >= iv.High
}

func (f finder) shows(effect float64) bool {
	power, ok := f.at(effect).Power(effect)
	return ok && power >= often && f.enough(effect)
}

// detectable is the least loss that is shown; ok is false where there is none.
func (f finder) detectable() (effect float64, ok bool) {
	high := 1.0
	if !f.share {
		high = f.SD
		for range 60 {
			if f.shows(high) {
				break
			}
			high *= 2
		}
	}
	if !f.shows(high * (1 - 1e-9)) {
		return 0, false
	}
	low := 0.0
	for range 30 {
		if mid := low + (high-low)/2; f.shows(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// tasks is the least number of tasks that show the effect, a little rounded up; ok is
// false where a million do not.
func (f finder) tasks(effect float64) (n int, ok bool) {
	return atLeast(max(2, f.Tasks), func(n int) bool {
		f.Tasks = n
		return f.shows(effect)
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
