package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Design is a planned paired comparison: Trials pairs in each of Tasks clusters,
// judged by the t interval of ClusterMean on the differences.
type Design struct {
	Tasks, Trials int
	// SD is the standard deviation of one paired difference.
	SD float64
	// Discordant, when above 0, takes the place of SD for pass and fail: the
	// share of pairs with one pass and one fail. A difference then has the
	// variance Discordant − effect².
	Discordant float64
	// ICC, in [0, 1], is the correlation of differences within a task.
	ICC float64
	// Alpha, in (0, 1), is the two-sided level; for a one-sided test, or
	// non-inferiority, at level a it is 2a.
	Alpha float64
}

// Power is the probability that the interval lies on the effect's own side of 0
// when the true mean difference is effect. For non-inferiority, effect is the
// true difference plus the margin. ok is false for fewer than two tasks, no
// trial, more than ten million of either, values out of range, or an effect that
// Discordant does not allow.
//
// The mean varies by SD²·(1 + (Trials−1)·ICC)/(Tasks·Trials), the design effect
// of L. Kish, "Survey Sampling" (1965), section 5.4; t then is noncentral, with
// Tasks−1 degrees of freedom: J. Cohen, "Statistical Power Analysis for the
// Behavioral Sciences", 2nd ed. (1988), chapter 12. For pass and fail this is the
// sample size of R. J. Connor, "Sample Size for Testing Differences in
// Proportions for the Paired-Sample Design", Biometrics 43 (1987) 207–211, with
// the variance at the effect on both sides, and approximate in the same way.
func (d Design) Power(effect float64) (power float64, ok bool) {
	variance := d.SD * d.SD
	if d.Discordant > 0 {
		variance = d.Discordant - effect*effect
		ok = d.Discordant <= 1 && math.Abs(effect) <= d.Discordant
	} else {
		ok = d.SD > 0
	}
	if !ok || d.Tasks < 2 || d.Trials < 1 || max(d.Tasks, d.Trials) > maxSize || !probability(d.ICC) || !level(d.Alpha) || math.IsNaN(effect) {
		return 0, false
	}
	trials, df := float64(d.Trials), float64(d.Tasks-1)
	se := math.Sqrt(variance * (1 + (trials-1)*d.ICC) / (float64(d.Tasks) * trials))
	switch shift := math.Abs(effect) / se; {
	case math.IsNaN(shift):
		return 0, false // no effect, no spread
	case math.IsInf(shift, 0):
		return 1, true
	default:
		return 1 - noncentralT(TQuantile(1-d.Alpha/2, df), df, shift), true
	}
}

// Detectable is the least true mean difference found with the given power, the
// minimum detectable effect. ok is false when there is none: see Power; for pass
// and fail also when even the largest effect, all discordant pairs one way, is
// found with less.
func (d Design) Detectable(power float64) (effect float64, ok bool) {
	if !level(power) {
		return 0, false
	}
	high := d.Discordant
	if high <= 0 {
		high = d.SD
		for p, ok := d.Power(high); ok && p < power; p, ok = d.Power(high) {
			high *= 2
		}
	}
	if p, ok := d.Power(high); !ok || p < power {
		return 0, false
	}
	low := 0.0
	for range 60 {
		mid := low + (high-low)/2
		if p, _ := d.Power(mid); p >= power {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// TasksNeeded is the least number of tasks, each of d.Trials trials, that finds a
// true mean difference of effect with the given power. ok is false when no
// number up to ten million does.
func (d Design) TasksNeeded(effect, power float64) (tasks int, ok bool) {
	return least(2, func(n int) (float64, bool) {
		d.Tasks = n
		return d.Power(effect)
	}, power)
}

// TrialsNeeded is the least number of trials of each of d.Tasks tasks that finds
// a true mean difference of effect with the given power. ok is false when no
// number does: trials of one task resemble each other, and beyond some number
// more of them add nothing.
func (d Design) TrialsNeeded(effect, power float64) (trials int, ok bool) {
	return least(1, func(n int) (float64, bool) {
		d.Trials = n
		return d.Power(effect)
	}, power)
}

// least is the smallest n from low on at which a rising share reaches want.
func least(low int, share func(n int) (float64, bool), want float64) (n int, ok bool) {
	reaches := func(n int) bool {
		p, ok := share(n)
		return ok && p >= want
	}
	if !level(want) || !reaches(maxSize) {
		return 0, false
	}
	high := int(maxSize)
	for low < high {
		if mid := low + (high-low)/2; reaches(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return high, true
}

// noncentralT is the probability below t ≥ 0 of the noncentral t distribution with
// noncentrality delta ≥ 0.
//
// R. V. Lenth, "Algorithm AS 243: Cumulative Distribution Function of the
// Non-Central t Distribution", Applied Statistics 38 (1989) 185–189. Its series
// starts at e^(−delta²/2); where that is 0, the definition is integrated instead.
func noncentralT(t, df, delta float64) float64 {
	half := delta * delta / 2
	if half > 700 {
		return farT(t, df, delta)
	}
	x := t * t / (t*t + df)
	p := math.Exp(-half) / 2                                // ½ Poisson weight of j
	q := math.Sqrt(2/math.Pi) * delta * math.Exp(-half) / 2 // and of j + ½
	sum, left := 0.0, 0.5                                   // left of the weights p
	for j := 0.0; ; j++ {
		term := p*mathext.RegIncBeta(j+0.5, df/2, x) + q*mathext.RegIncBeta(j+1, df/2, x)
		sum += term
		// Past its peak a term is under the weights not yet spent.
		if left -= p; !(j <= half) && !(left >= 1e-13 && term >= 1e-16*sum) {
			break
		}
		p *= half / (j + 1)
		q *= half / (j + 1.5)
	}
	return min(1, normalShare(-delta)+sum)
}

// farT is noncentralT for a large delta: T = (Z+delta)/√(χ²/df) is below t where
// χ² is above df·((Z+delta)/t)². Simpson's rule over Z in ±9, where nothing is
// sharp and Z+delta stays positive.
func farT(t, df, delta float64) float64 {
	const panels, reach = 400, 9.0
	sum := 0.0
	for i := range panels + 1 {
		z := reach * (2*float64(i)/panels - 1)
		weight := 2 + 2*float64(i%2)
		if i == 0 || i == panels {
			weight = 1
		}
		q := (z + delta) / t
		sum += weight * math.Exp(-z*z/2) * mathext.GammaIncRegComp(df/2, df/2*q*q)
	}
	return sum * 2 * reach / panels / 3 / math.Sqrt(2*math.Pi)
}

// Spread is the standard deviation of one observation and the correlation of
// observations of the same cluster, for a Design, from the analysis of variance.
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
