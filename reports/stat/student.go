package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// TQuantile is the p-quantile of Student's t distribution with df degrees of
// freedom, 0 < p < 1, df > 0; NaN outside. Above 100,000 degrees it is the series
// of Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 26.7.5,
// of which two terms then leave less than 1e-12.
func TQuantile(p, df float64) float64 {
	if !(p > 0 && p < 1 && df > 0) {
		return math.NaN()
	}
	if df > 1e5 {
		z := normalQuantile(p)
		z2 := z * z
		return z * (1 + (z2+1)/(4*df) + ((5*z2+16)*z2+3)/(96*df*df))
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile(p)
}

// normalQuantile is the p-quantile of the standard normal distribution.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// normalShare is the probability below z of the standard normal distribution.
func normalShare(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// twoSided turns a confidence level into the probability below the upper end
// of a two-sided interval: 0.95 becomes 0.975.
func twoSided(confidence float64) float64 { return (1 + confidence) / 2 }
