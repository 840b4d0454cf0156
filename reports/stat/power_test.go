package stat_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

// The manual of G*Power 3.1, "difference between two dependent means": n = 50, dz =
// 0.421637, α = 0.05 two-sided has power 0.832114.
func TestPowerPublished(t *testing.T) {
	p, ok := stat.Design{Tasks: 50, Trials: 1, SD: 1, Alpha: 0.05}.Power(0.421637)
	require.True(t, ok)
	require.InDelta(t, 0.832114, p, 2e-6)
}

// A dumb second implementation: the noncentral t as what it is, a normal over
// an independent √(χ²/df), integrated over the latter in small steps.
func TestPowerAgainstIntegral(t *testing.T) {
	for _, c := range []struct {
		tasks  int
		alpha  float64
		effect float64
	}{
		{2, 0.05, 0.5}, {2, 0.05, 5}, {2, 0.01, 60}, {3, 0.05, 1}, {5, 0.01, 1}, {10, 0.05, 0}, {10, 0.05, -0.7},
		{30, 0.2, 0.3}, {60, 0.05, 0.4}, {60, 0.05, 6}, {500, 0.05, 0.13}, {5000, 0.01, 0.05},
	} {
		design := stat.Design{Tasks: c.tasks, Trials: 1, SD: 1, Alpha: c.alpha}
		got, ok := design.Power(c.effect)
		require.True(t, ok)
		df := float64(c.tasks - 1)
		critical, shift := stat.TQuantile(1-c.alpha/2, df), math.Abs(c.effect)*math.Sqrt(float64(c.tasks))
		const panels = 100_000
		log, _ := math.Lgamma(df / 2)
		low, high := max(0, 1-12/math.Sqrt(2*df)), 1+12/math.Sqrt(2*df)
		want := 0.0
		for i := range panels + 1 {
			s := low + (high-low)*float64(i)/panels
			weight := 2 + 2*float64(i%2)
			if i == 0 || i == panels {
				weight = 1
			}
			density := math.Exp(math.Log(2) + df/2*math.Log(df/2) - log + (df-1)*math.Log(s) - df*s*s/2)
			if s == 0 {
				density = 0
				if df == 1 {
					density = math.Sqrt(2 / math.Pi)
				}
			}
			want += weight * density * math.Erfc((critical*s-shift)/math.Sqrt2) / 2
		}
		want *= (high - low) / panels / 3
		require.InDelta(t, want, got, 1e-9, "%+v", c)
	}
}

// Design effect: 8 trials with correlation 0.25 are worth 8/2.75 independent ones,
// so the spread of the mean is that of an SD shrunk accordingly.
func TestPowerDesignEffect(t *testing.T) {
	clustered, _ := stat.Design{Tasks: 20, Trials: 8, SD: 1, ICC: 0.25, Alpha: 0.05}.Power(0.3)
	shrunk, _ := stat.Design{Tasks: 20, Trials: 1, SD: math.Sqrt(2.75 / 8), Alpha: 0.05}.Power(0.3)
	require.InDelta(t, shrunk, clustered, 1e-12)
	binary, _ := stat.Design{Tasks: 40, Trials: 1, Discordant: 0.25, Alpha: 0.05}.Power(0.15)
	mean, _ := stat.Design{Tasks: 40, Trials: 1, SD: math.Sqrt(0.25 - 0.15*0.15), Alpha: 0.05}.Power(0.15)
	require.InDelta(t, mean, binary, 1e-12)
	none, _ := stat.Design{Tasks: 40, Trials: 1, SD: 1, Alpha: 0.05}.Power(0)
	require.InDelta(t, 0.025, none, 1e-9, "without effect, half the level falls on one side")
	sure, ok := stat.Design{Tasks: 40, Trials: 1, Discordant: 1, Alpha: 0.05}.Power(1)
	require.True(t, ok)
	require.Equal(t, 1.0, sure)
}

// Connor (1987), equation 2: n = (z_α √ψ + z_β √(ψ−δ²))²/δ². It puts the variance
// without effect on one side; the two formulas differ by little when δ² ≪ ψ.
func TestTasksNeededAgainstConnor(t *testing.T) {
	for _, c := range [][2]float64{{0.3, 0.05}, {0.2, 0.04}, {0.5, 0.1}, {0.1, 0.02}} {
		n, ok := stat.Design{Trials: 1, Discordant: c[0], Alpha: 0.05}.TasksNeeded(c[1], 0.8)
		require.True(t, ok)
		root := 1.959964*math.Sqrt(c[0]) + 0.841621*math.Sqrt(c[0]-c[1]*c[1])
		require.InEpsilon(t, root*root/(c[1]*c[1]), float64(n), 0.015, "%v", c)
	}
}

// Detectable, TasksNeeded and TrialsNeeded are what Power says they are: enough
// there, not enough one step before.
func TestPowerInverses(t *testing.T) {
	for _, d := range []stat.Design{
		{Tasks: 30, Trials: 4, SD: 1, ICC: 0.1, Alpha: 0.05},
		{Tasks: 60, Trials: 8, Discordant: 0.3, ICC: 0.4, Alpha: 0.1},
		{Tasks: 2, Trials: 1, SD: 5, Alpha: 0.01},
	} {
		effect, ok := d.Detectable(0.8)
		require.True(t, ok)
		p, _ := d.Power(effect)
		require.InDelta(t, 0.8, p, 1e-9)
		n, ok := d.TasksNeeded(effect*0.5, 0.8)
		require.True(t, ok)
		d.Tasks = n
		p, _ = d.Power(effect * 0.5)
		require.GreaterOrEqual(t, p, 0.8)
		d.Tasks--
		p, _ = d.Power(effect * 0.5)
		require.Less(t, p, 0.8)
	}
	d := stat.Design{Tasks: 30, SD: 1, ICC: 0.1, Alpha: 0.05}
	m, ok := d.TrialsNeeded(0.3, 0.8)
	require.True(t, ok)
	for trials, enough := range map[int]bool{m: true, m - 1: false} {
		d.Trials = trials
		p, _ := d.Power(0.3)
		require.Equal(t, enough, p >= 0.8)
	}
	_, ok = d.TrialsNeeded(0.1, 0.8)
	require.False(t, ok, "with correlation 0.1, endless trials of 30 tasks are worth 300 independent ones; 0.1 needs 787")
}

func TestPowerRefuses(t *testing.T) {
	good := stat.Design{Tasks: 10, Trials: 1, SD: 1, Alpha: 0.05}
	for name, change := range map[string]func(*stat.Design){
		"one task":      func(d *stat.Design) { d.Tasks = 1 },
		"no trial":      func(d *stat.Design) { d.Trials = 0 },
		"no spread":     func(d *stat.Design) { d.SD = 0 },
		"no number":     func(d *stat.Design) { d.SD = math.NaN() },
		"icc":           func(d *stat.Design) { d.ICC = 1.1 },
		"alpha":         func(d *stat.Design) { d.Alpha = 0 },
		"discordant":    func(d *stat.Design) { d.Discordant = 1.1 },
		"effect beyond": func(d *stat.Design) { d.Discordant = 0.3 },
	} {
		d := good
		change(&d)
		_, ok := d.Power(0.4)
		require.False(t, ok, name)
	}
	_, ok := good.Power(math.NaN())
	require.False(t, ok)
	for _, power := range []float64{0, 1, 2, math.NaN()} {
		_, ok = good.Detectable(power)
		require.False(t, ok)
		_, ok = good.TasksNeeded(0.4, power)
		require.False(t, ok)
	}
	_, ok = stat.Design{Tasks: 3, Trials: 1, Discordant: 0.05, Alpha: 0.05}.Detectable(0.8)
	require.False(t, ok, "three tasks of which one in twenty changes")
	_, ok = stat.Design{Alpha: 0.05, Tasks: 3, Trials: 1}.Detectable(0.8)
	require.False(t, ok)
	_, ok = good.TasksNeeded(0, 0.8)
	require.False(t, ok)
}

// By hand: clusters {1,3}, {5,5}, {2,2}: mean 3, between 2(1+4+1) = 12, 6 each;
// within 2, 2/3 each; size 2: shared (6 − 2/3)/2 = 8/3; all 10/3.
func TestSpreadByHand(t *testing.T) {
	sd, icc, ok := stat.Spread(obs("a", 1, "b", 5, "a", 3, "c", 2, "b", 5, "c", 2))
	require.True(t, ok)
	require.InDelta(t, math.Sqrt(10.0/3), sd, 1e-12)
	require.InDelta(t, 0.8, icc, 1e-12)
	for _, c := range []struct {
		name    string
		obs     []stat.Observation
		sd, icc float64
		ok      bool
	}{
		{"nothing", nil, 0, 0, false},
		{"one cluster", obs("a", 1, "a", 2), 0, 0, false},
		{"constant", obs("a", 1, "a", 1, "b", 1), 0, 0, true},
		{"one each", obs("a", 1, "b", 3), math.Sqrt2, 1, true},
		// Mean 3.5, between 3·1.5² + 4.5² = 27, within 2 over 2; size 4 − 10/4 = 1.5;
		// shared 26/1.5 = 52/3, all 55/3.
		{"unequal", obs("a", 1, "a", 3, "a", 2, "b", 8), math.Sqrt(55.0 / 3), 52.0 / 55, true},
		{"spread only within", obs("a", 0, "a", 1, "b", 0, "b", 1), math.Sqrt(0.5), 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			sd, icc, ok := stat.Spread(c.obs)
			require.Equal(t, c.ok, ok)
			require.InDelta(t, c.sd, sd, 1e-12)
			require.InDelta(t, c.icc, icc, 1e-12)
		})
	}
}

// Unequal clusters drawn with a known variance: 4 between, 9 within.
func TestSpreadRecovers(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var list []stat.Observation
	for g := range 4000 {
		shared := 2 * rng.NormFloat64()
		for range 1 + g%5 {
			list = append(list, stat.Observation{Cluster: strconv.Itoa(g), Value: 7 + shared + 3*rng.NormFloat64()})
		}
	}
	sd, icc, ok := stat.Spread(list)
	require.True(t, ok)
	require.InDelta(t, math.Sqrt(13), sd, 0.06)
	require.InDelta(t, 4.0/13, icc, 0.03)
}

func TestMeanP(t *testing.T) {
	m := stat.Mean{Value: 3, SE: 1, N: 6, Clusters: 3}
	p, ok := m.P(0)
	require.True(t, ok)
	require.InDelta(t, 1-3/math.Sqrt(11), p, 1e-9) // df 2: 1 − t/√(t²+2)
	p, _ = m.P(3)
	require.Equal(t, 1.0, p)
	iv, _ := m.Interval(0.9)
	for _, end := range []float64{iv.Low, iv.High} { // the interval is the test turned around
		p, _ = m.P(end)
		require.InDelta(t, 0.1, p, 1e-9)
	}
	for _, none := range []stat.Mean{{Value: 1, N: 4, Clusters: 4}, {Value: 1, SE: 1, N: 4, Clusters: 1}} {
		_, ok = none.P(0)
		require.False(t, ok)
	}
	_, ok = m.P(math.NaN())
	require.False(t, ok)
}

func TestNonInferior(t *testing.T) {
	spread := stat.Mean{Value: -0.01, SE: 0.02, N: 480, Clusters: 60} // t(0.95, 59) = 1.671
	still := func(clusters int) stat.Mean { return stat.Mean{N: 8 * clusters, Clusters: clusters} }
	for _, c := range []struct {
		name            string
		m               stat.Mean
		margin, reach   float64
		low, high       float64
		notWorse, worse bool
	}{
		{"within", spread, 0.05, 1, -0.01 - 1.6710930*0.02, -0.01 + 1.6710930*0.02, true, false},
		{"cannot tell", spread, 0.04, 1, -0.01 - 1.6710930*0.02, -0.01 + 1.6710930*0.02, false, false},
		{"lower, within", stat.Mean{Value: -0.04, SE: 0.004, N: 480, Clusters: 60}, 0.05, 1, -0.04 - 1.6710930*0.004, -0.04 + 1.6710930*0.004, true, false},
		{"worse", stat.Mean{Value: -0.2, SE: 0.02, N: 480, Clusters: 60}, 0.05, 1, -0.2 - 1.6710930*0.02, -0.2 + 1.6710930*0.02, false, true},
		// 1 − 0.05^(1/59) = 0.0495, 1 − 0.05^(1/58) = 0.0503.
		{"no change in 59", still(59), 0.05, 1, -(1 - math.Pow(0.05, 1.0/59)), 1 - math.Pow(0.05, 1.0/59), true, false},
		{"no change in 58", still(58), 0.05, 1, -(1 - math.Pow(0.05, 1.0/58)), 1 - math.Pow(0.05, 1.0/58), false, false},
		{"no change in two", still(2), 0.5, 1, -(1 - math.Sqrt(0.05)), 1 - math.Sqrt(0.05), false, false},
		{"no change, unbounded", still(59), 5, math.Inf(1), math.Inf(-1), math.Inf(1), false, false},
		{"all broken", stat.Mean{Value: -1, N: 9, Clusters: 9}, 0.05, 1, -1, -1 + 2*(1-math.Pow(0.05, 1.0/9)), false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, ok := c.m.NonInferior(c.margin, c.reach, 0.05)
			require.True(t, ok)
			if math.IsInf(c.low, 0) {
				require.Equal(t, stat.Margin{Low: c.low, High: c.high}, v)
				return
			}
			require.InDelta(t, c.low, v.Low, 1e-6)
			require.InDelta(t, c.high, v.High, 1e-6)
			require.Equal(t, c.notWorse, v.NotWorse)
			require.Equal(t, c.worse, v.Worse)
		})
	}
	for _, c := range [][3]float64{{-1, 1, 0.05}, {0.1, -1, 0.05}, {0.1, 1, 0}, {0.1, 1, 0.5}, {math.NaN(), 1, 0.05}} {
		_, ok := spread.NonInferior(c[0], c[1], c[2])
		require.False(t, ok, "%v", c)
	}
	_, ok := stat.Mean{N: 8, Clusters: 1}.NonInferior(0.1, 1, 0.05)
	require.False(t, ok)
}
