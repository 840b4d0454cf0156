package evidence

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Power is the probability that the t interval of the mean of one paired difference per
// task, at the two-sided level alpha, lies on the effect's own side of 0 when the true
// mean is effect and the differences have the standard deviation sd. tasks is at least 2,
// sd above 0.
//
// t then is noncentral, with tasks−1 degrees of freedom: J. Cohen, "Statistical Power
// Analysis for the Behavioral Sciences", 2nd ed. (1988), chapter 12. It is below the
// critical value where χ² is above df·((Z+shift)/critical)²: Simpson's rule over Z in ±9.
func Power(tasks int, sd, alpha, effect float64) float64 {
	const panels, reach = 2000, 9.0
	df, shift := float64(tasks-1), math.Abs(effect)*math.Sqrt(float64(tasks))/sd
	critical := distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(1 - alpha/2)
	missed := 0.0
	for i := range panels + 1 {
		z := reach * (2*float64(i)/panels - 1)
		weight := 2 + 2*float64(i%2)
		if i == 0 || i == panels {
			weight = 1
		}
		q := max(0, z+shift) / critical
		missed += weight * math.Exp(-z*z/2) * mathext.GammaIncRegComp(df/2, df/2*q*q)
	}
	return 1 - missed*2*reach/panels/3/math.Sqrt(2*math.Pi)
}
