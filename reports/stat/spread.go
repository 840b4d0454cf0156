package stat

import "math"

// Spread is the standard deviation of one observation and the correlation of
// observations of the same cluster, from the analysis of variance.
// A correlation estimated below 0 is given as 0. With one observation in every
// cluster it cannot be known and is given as 1: more trials are promised nothing.
// ok is false with fewer than two clusters or values that are not finite or add up
// to more than 1e150.
//
// A. Donner and J. J. Koval, "The Estimation of Intraclass Correlation in the
// Analysis of Family Data", Biometrics 36 (1980) 19–25, the estimate r_A with
// unequal family sizes.
func Spread(obs []Observation) (sd, icc float64, ok bool) {
	sums, ok := clusterSums(obs)
	if !ok || len(sums) < 2 {
		return 0, 0, false
	}
	total, squaredSizes := 0.0, 0.0
	for _, c := range sums {
		total += c.sum
		squaredSizes += float64(c.n) * float64(c.n)
	}
	n, g := float64(len(obs)), float64(len(sums))
	between, all := 0.0, 0.0 // sums of squares around the mean
	for _, c := range sums {
		d := c.sum/float64(c.n) - total/n
		between += float64(c.n) * d * d
	}
	for _, o := range obs {
		all += (o.Value - total/n) * (o.Value - total/n)
	}
	if n == g {
		return math.Sqrt(all / (n - 1)), 1, true
	}
	size := (n - squaredSizes/n) / (g - 1)
	within := max(0, all-between) / (n - g)
	shared := max(0, (between/(g-1)-within)/size)
	if shared+within == 0 {
		return 0, 0, true
	}
	return math.Sqrt(shared + within), shared / (shared + within), true
}
