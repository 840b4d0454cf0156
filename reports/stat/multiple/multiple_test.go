package multiple_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// By hand, Holm: 0.01·4; 0.02·3 = 0.06; 0.03·2 = 0.06; 0.04·1 is raised to 0.06.
// Benjamini–Hochberg: 0.01·4/1 = 0.04 = 0.02·4/2 = 0.03·4/3 = 0.04·4/4.
func TestAdjustByHand(t *testing.T) {
	p := []float64{0.04, 0.01, 0.03, 0.02}
	holm, err := multiple.Holm(p)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.06, 0.04, 0.06, 0.06}, holm, 1e-15)
	bh, err := multiple.BenjaminiHochberg(p)
	require.NoError(t, err)
	require.InDeltaSlice(t, []float64{0.04, 0.04, 0.04, 0.04}, bh, 1e-15)
	require.Equal(t, []float64{0.04, 0.01, 0.03, 0.02}, p, "the input keeps its order")
	for name, bad := range map[string][]float64{
		"p-value 2 of 2 is NaN; a p-value is a number from 0 to 1": {0.1, math.NaN()}, "1 of 1 is -0.1": {-0.1}, "1 of 3 is 1.1": {1.1, 0, 1}, "2 of 2 is +Inf": {0, math.Inf(1)},
		"1 of 1 is 1.0000000000000002": {math.Nextafter(1, 2)}, // a caller that computes such a value has an error
	} {
		_, err := multiple.Holm(bad)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "adjust by Holm")
		_, err = multiple.BenjaminiHochberg(bad)
		require.ErrorContains(t, err, name)
		require.ErrorContains(t, err, "adjust by Benjamini and Hochberg")
	}
	none, err := multiple.Holm(nil)
	require.NoError(t, err)
	require.Empty(t, none)
}

// The data are from Benjamini and Hochberg (1995), section 4.1: fifteen p-values of a
// study of thrombolysis. At 0.05, Holm's and Bonferroni's procedures reject the first
// three hypotheses, and the authors' procedure rejects the first four.
func TestAdjustPublished(t *testing.T) {
	p := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1}
	rejected := func(adjusted []float64, err error) (n int) {
		require.NoError(t, err)
		for _, v := range adjusted {
			if v <= 0.05 {
				n++
			}
		}
		return n
	}
	require.Equal(t, 3, rejected(multiple.Holm(p)))
	require.Equal(t, 4, rejected(multiple.BenjaminiHochberg(p)))
}

// Holm is the closure of Bonferroni: the adjusted value is the maximum, over all
// subsets that contain the hypothesis, of the subset's size times its smallest p.
// Marcus, Peritz and Gabriel, Biometrika 63 (1976) 655–660.
func TestHolmAgainstClosure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1), rapid.SampledFrom([]float64{0, 0.01, 0.05, 1})), 1, 9).Draw(t, "p")
		want := make([]float64, len(p))
		for set := uint(1); set < 1<<len(p); set++ {
			least := 1.0
			for i := range p {
				if set>>i&1 == 1 {
					least = min(least, p[i])
				}
			}
			for i := range p {
				if set>>i&1 == 1 {
					want[i] = max(want[i], min(1, least*float64(bits.OnesCount(set))))
				}
			}
		}
		got, err := multiple.Holm(p)
		require.NoError(t, err)
		require.InDeltaSlice(t, want, got, 1e-12)
	})
}

// The reference is the procedure as its paper states it: find the largest k with p(k) ≤
// k·q/m and reject those up to p(k). With the adjusted value as q it must reject; just
// below, it must not.
func TestBenjaminiHochbergAgainstProcedure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := rapid.SliceOfN(rapid.Float64Range(0.001, 0.9), 1, 20).Draw(t, "p")
		got, err := multiple.BenjaminiHochberg(p)
		require.NoError(t, err)
		rejects := func(i int, q float64) bool {
			for _, limit := range p { // true if enough values are below some limit ≥ p[i]
				count := 0
				for _, v := range p {
					if v <= limit {
						count++
					}
				}
				if limit >= p[i] && limit <= float64(count)*q/float64(len(p)) {
					return true
				}
			}
			return false
		}
		for i, q := range got {
			require.True(t, rejects(i, q*(1+1e-12)))
			require.False(t, rejects(i, q*(1-1e-12)))
		}
	})
}

func TestRejects(t *testing.T) {
	p := 0.1
	require.Greater(t, 3*p, 0.3, "by rounding")
	require.True(t, multiple.Rejects(3*p, 0.3))
	for p, want := range map[float64]bool{0.05: true, 0: true, 0.0500001: false, 1: false} {
		require.Equal(t, want, multiple.Rejects(p, 0.05), "%v", p)
	}
	require.False(t, multiple.Rejects(math.NaN(), 0.05))
}
