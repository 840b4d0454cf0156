package evidence_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/evidence"
	"github.com/cupel-eval/cupel/reports/stat"
)

// From the manual of G*Power 3.1, "difference between two dependent means": n = 50, dz
// = 0.421637, α = 0.05 two-sided has power 0.832114.
func TestPowerPublished(t *testing.T) {
	require.InDelta(t, 0.832114, evidence.Power(50, 1, 0.05, 0.421637), 2e-6)
}

// A simple second implementation uses the definition of the noncentral t: a normal over
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
		got := evidence.Power(c.tasks, 1, c.alpha, c.effect)
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
		require.InDelta(t, want, got, 1e-6, "%+v", c)
	}
}
