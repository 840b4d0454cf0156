package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// tInterval is the t interval of the mean over tasks, by which cupel judged means
// before; fewer than five equal tasks decide nothing. It is kept for comparison.
func tInterval(clusters []stat.Cluster) (iv stat.Interval, ok bool) {
	m, _ := stat.ClusterRatio(clusters)
	iv, ok = m.Interval(0.95)
	return iv, ok && (m.SE > 0 || m.Clusters >= 5)
}

// population draws the mean steps of a task. The mean over all possible tasks is 5.
type population struct {
	name   string
	within bool // no task takes more than 15 steps, as the limit of MeanInterval says
	draw   func(rng *rand.Rand) float64
}

func populations() []population {
	// A share few of the tasks takes times as many steps as the others, which are all
	// equal.
	skewed := func(few, times float64) population {
		usual := 5 / (1 + few*(times-1))
		return population{fmt.Sprintf("%.0f%% take %.0f times the steps", 100*few, times), usual*times <= 15, func(rng *rand.Rand) float64 {
			if rng.Float64() < few {
				return usual * times
			}
			return usual
		}}
	}
	return []population{
		skewed(0.1, 3), skewed(0.03, 3), skewed(0.25, 3),
		{"3 to 7 steps", true, func(rng *rand.Rand) float64 { return float64(3 + rng.IntN(5)) }},
		{"1 to 15 steps, most near 1", true, func(rng *rand.Rand) float64 { u := rng.Float64(); return 1 + 14*u*u*math.Sqrt(u) }}, // 1 + 14/3.5
		skewed(0.1, 6), skewed(0.02, 10),
	}
}

// The interval of a mean contains the true mean in at least 94% of runs. It is wholly
// below a threshold that the true mean equals in at most 3.5% of runs, provided that no
// task takes more than the given limit. The t interval fails this if most tasks are
// equal and few take longer; its figures are listed for comparison, as are those of
// both intervals if a task can exceed the limit. With CUPEL_EVIDENCE the rows must be
// those of docs/evidence.md.
func TestSimulationMeans(t *testing.T) {
	runs, _ := size()
	evidence := runs > 1000
	if !evidence {
		runs = 100 // of each of 42 settings
	}
	for pi, p := range populations() {
		for _, tasks := range []int{5, 10, 20, 50, 100, 300} {
			rng := rand.New(rand.NewPCG(uint64(pi), uint64(tasks)))
			var covered, passed, oldCovered, oldPassed int
			for range runs {
				list := make([]stat.Cluster, tasks)
				for i := range list {
					list[i] = stat.Cluster{Num: p.draw(rng), Den: 1}
				}
				most := 15.0
				for _, c := range list {
					most = max(most, c.Num)
				}
				iv, ok := stat.MeanInterval(list, stat.Interval{Low: 0, High: most}, 0.95)
				require.True(t, ok)
				covered, passed = covered+hit(iv.Low <= 5 && 5 <= iv.High), passed+hit(iv.High <= 5)
				if old, ok := tInterval(list); ok {
					oldCovered, oldPassed = oldCovered+hit(old.Low <= 5 && 5 <= old.High), oldPassed+hit(old.High <= 5)
				}
			}
			what := p.name + ", " + strconv.Itoa(tasks)
			if p.within {
				atLeast(t, what+": coverage", covered, runs, 0.94)
				atMost(t, what+": false passes", passed, runs, 0.035)
			}
			row := fmt.Sprintf("| %s | %d | %s | %s | %s | %s |", p.name, tasks,
				measured(covered, runs), measured(passed, runs), measured(oldCovered, runs), measured(oldPassed, runs))
			t.Log(row)
			if evidence {
				page, err := os.ReadFile("../../docs/evidence.md")
				require.NoError(t, err)
				require.Contains(t, string(page), row)
			}
		}
	}
}

func hit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// measured formats a simulated rate with its 99% interval, in percent.
func measured(hits, n int) string {
	iv, _ := stat.ClopperPearson(hits, n, 0.99)
	return fmt.Sprintf("%.1f (%.1f–%.1f)", 100*float64(hits)/float64(n), 100*iv.Low, 100*iv.High)
}
