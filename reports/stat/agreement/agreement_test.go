package agreement

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// table returns clusters of one thing each with the four counts.
func table(bothPass, onlyA, onlyB, bothFail int) (list []Table) {
	for i, n := range []int{bothPass, onlyA, onlyB, bothFail} {
		for range n {
			var t Table
			t.Add(i < 2, i%2 == 0)
			list = append(list, t)
		}
	}
	return list
}

// The example of Wikipedia's article on Cohen's kappa: 50 applications, kappa 0.4; and the two
// tables there with equal agreement and different kappas.
func TestKappaPublished(t *testing.T) {
	for _, c := range []struct {
		counts       [4]int
		share, kappa float64
	}{
		{[4]int{20, 5, 10, 15}, 0.7, 0.4},
		{[4]int{45, 15, 25, 15}, 0.6, 0.1304},
		{[4]int{25, 35, 5, 35}, 0.6, 0.2593},
	} {
		a := Of(table(c.counts[0], c.counts[1], c.counts[2], c.counts[3]), 0.95)
		require.Equal(t, c.counts, [4]int{a.BothPass, a.OnlyA, a.OnlyB, a.BothFail})
		require.InDelta(t, c.share, *a.Share, 1e-12)
		require.InDelta(t, c.kappa, *a.Kappa, 5e-5)
	}
}

// fleiss is the standard error of kappa as Fleiss, Cohen and Everitt (1969) write it for a table
// of two by two, equation 13.
func fleiss(counts [4]int) float64 {
	n := 0.0
	for _, c := range counts {
		n += float64(c)
	}
	p := [2][2]float64{{float64(counts[0]) / n, float64(counts[1]) / n}, {float64(counts[2]) / n, float64(counts[3]) / n}}
	row := [2]float64{p[0][0] + p[0][1], p[1][0] + p[1][1]}
	col := [2]float64{p[0][0] + p[1][0], p[0][1] + p[1][1]}
	po, pe := p[0][0]+p[1][1], row[0]*col[0]+row[1]*col[1]
	sum := 0.0
	for i := range 2 {
		d := (1 - pe) - (row[i]+col[i])*(1-po)
		sum += p[i][i] * d * d
	}
	off := 0.0
	for i := range 2 {
		for j := range 2 {
			if i != j {
				off += p[i][j] * (col[i] + row[j]) * (col[i] + row[j])
			}
		}
	}
	sum += (1 - po) * (1 - po) * off
	last := po*pe - 2*pe + po
	return math.Sqrt((sum - last*last) / (n * math.Pow(1-pe, 4)))
}

// The linearised error is the published one, but for n/(n−1).
func TestKappaErrorAgainstFleiss(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		counts := [4]int{20 + r.IntN(400), 20 + r.IntN(400), 20 + r.IntN(400), 20 + r.IntN(400)}
		a := Of(table(counts[0], counts[1], counts[2], counts[3]), 0.95)
		if a.KappaInterval.Low == -1 || a.KappaInterval.High == 1 {
			continue
		}
		half := (a.KappaInterval.High - a.KappaInterval.Low) / 2
		require.InEpsilon(t, 1.96*fleiss(counts), half, 0.02, counts)
	}
}

func TestAgreementEdges(t *testing.T) {
	a := Of(nil, 0.95)
	require.Equal(t, Agreement{}, a)
	a = Of(table(30, 0, 0, 0), 0.95)
	require.InDelta(t, 1, *a.Share, 0)
	require.Nil(t, a.Kappa, "all passed: the raters may not have looked")
	a = Of(table(15, 0, 0, 15), 0.95)
	require.InDelta(t, 1, *a.Kappa, 0)
	require.Less(t, a.KappaInterval.Low, 0.8, "30 pairs do not show that raters always agree")
	require.InDelta(t, 1, a.KappaInterval.High, 0)
	a = Of(table(20, 0, 10, 0), 0.95)
	require.Zero(t, *a.Kappa)
	require.Nil(t, a.KappaInterval, "one rater passed everything")
	a = Of(table(0, 10, 10, 0), 0.95)
	require.InDelta(t, -1, *a.Kappa, 0)
	// The same pairs a hundred times over are not more evidence.
	single, often := table(20, 5, 10, 15), []Table(nil)
	for _, t := range single {
		often = append(often, Table{100 * t.BothPass, 100 * t.OnlyA, 100 * t.OnlyB, 100 * t.BothFail})
	}
	one, many := Of(single, 0.95), Of(often, 0.95)
	require.InDelta(t, *one.Kappa, *many.Kappa, 1e-12)
	require.InDelta(t, one.KappaInterval.Low, many.KappaInterval.Low, 1e-9)
	require.Nil(t, Of([]Table{{1, 1, 0, 1}}, 0.95).KappaInterval, "one cluster")
}

// The interval of kappa covers the true one nearly as often as it says, with trials of one task
// that resemble each other.
func TestKappaCoverage(t *testing.T) {
	runs := testkit.Long(300, 4000)
	for _, c := range []struct {
		tasks, trials        int
		pass, sensitive, own float64 // shares: of passes, of verdicts that the second rater takes over, of trials that follow their task
	}{{30, 1, 0.5, 0.8, 0}, {40, 3, 0.7, 0.85, 0.5}, {100, 1, 0.8, 0.9, 0}, {100, 4, 0.6, 0.7, 0.8}} {
		r := rand.New(rand.NewPCG(7, uint64(c.tasks)))
		draw := func(tasks, trials int) (list []Table) {
			for range tasks {
				var table Table
				task := r.Float64() < c.pass
				errs := r.Float64() > c.sensitive
				for range trials {
					a, wrong := task, errs
					if r.Float64() >= c.own {
						a = r.Float64() < c.pass
					}
					if r.Float64() >= c.own {
						wrong = r.Float64() > c.sensitive
					}
					table.Add(a, a != wrong)
				}
				list = append(list, table)
			}
			return list
		}
		// The second rater is wrong in so many cases, whatever the first says.
		pb := c.pass*c.sensitive + (1-c.pass)*(1-c.sensitive)
		e := c.pass*pb + (1-c.pass)*(1-pb)
		truth, covered := (c.sensitive-e)/(1-e), 0
		for range runs {
			a := Of(draw(c.tasks, c.trials), 0.95)
			if a.KappaInterval != nil && a.KappaInterval.Low <= truth && truth <= a.KappaInterval.High {
				covered++
			}
		}
		share := float64(covered) / float64(runs)
		t.Logf("%+v: kappa %.3f, covered %.3f", c, truth, share)
		require.Greater(t, share, 0.90, "%+v", c)
		require.Less(t, share, 0.995, "%+v", c)
	}
}
