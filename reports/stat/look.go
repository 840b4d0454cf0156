package stat

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mathext"
)

// Look is one of several looks at data that grow round by round: after Rounds[i]
// trials of each task (rising; the last is the most there can be), At counts from 1.
// The zero value is the only look at data of fixed size.
//
// Each look spends a part of the error rate, by the function of O'Brien–Fleming type
// of Lan and DeMets: looks up to the share t of the trials may err with
// 2·(1 − Φ(z/√t)) together, z being the normal quantile of 1 − α/2. Their levels
// follow from the joint normal distribution of estimates that have independent
// increments, by the recursion of Armitage, McPherson and Rowe.
//
// The levels err on the safe side where trials of one task resemble each other. With
// correlation ρ between them, the mean over tasks after k trials has the information
// I ∝ 1/(ρ + (1−ρ)/k), so the estimates after j < k trials have the correlation
// √(I_j/I_k) ≥ √(j/k). By Slepian's inequality a greater correlation of normal
// estimates makes it less probable that any of them crosses its boundary.
//
// K. K. G. Lan and D. L. DeMets, "Discrete Sequential Boundaries for Clinical
// Trials", Biometrika 70 (1983) 659–663; P. C. O'Brien and T. R. Fleming, "A Multiple
// Testing Procedure for Clinical Trials", Biometrics 35 (1979) 549–556; P. Armitage,
// C. K. McPherson and B. C. Rowe, "Repeated Significance Tests on Accumulating Data",
// Journal of the Royal Statistical Society A 132 (1969) 235–244; D. Slepian, "The
// One-Sided Barrier Problem for Gaussian Noise", Bell System Technical Journal 41
// (1962) 463–501.
type Look struct {
	Rounds []int `json:"rounds"`
	At     int   `json:"at"`
}

// spendUpTo is the greatest error rate that is spent by the function above. Up to
// about 0.318 a greater rate has a greater level at every look, which repeated
// p-values need: W. Maurer and F. Bretz, "Multiple Testing in Group Sequential Trials
// Using Graphical Approaches", Statistics in Biopharmaceutical Research 5 (2013)
// 311–320. What exceeds it is divided equally among the looks.
const spendUpTo = 0.3

// Level is the nominal one-sided level at this look, with which all looks together
// err with alpha at most. It is alpha for the zero Look, and NaN for an alpha outside
// [0, 1] or a look that is not Valid.
func (l Look) Level(alpha float64) float64 {
	switch {
	case !probability(alpha) || !l.Valid():
		return math.NaN()
	case len(l.Rounds) <= 1:
		return alpha
	case alpha > spendUpTo:
		return l.Level(spendUpTo) + (alpha-spendUpTo)/float64(len(l.Rounds))
	}
	last := float64(l.Rounds[len(l.Rounds)-1])
	spent, level := 0.0, 0.0
	var walk brownian
	for i, n := range l.Rounds[:l.At] {
		t := float64(n) / last
		upTo := spendOBrienFleming(alpha, t)
		level = min(max(walk.step(t, upTo-spent), upTo-spent), upTo)
		if i+1 < l.At {
			walk.stopAbove(-mathext.NormalQuantile(level))
		}
		spent = upTo
	}
	return level
}

// P is the repeated p-value: the least alpha at which the Level of this look reaches
// p. It may be compared with an error rate at every look, rises with p and is p for
// the zero Look. It is NaN where Level is.
//
// C. Jennison and B. W. Turnbull, "Group Sequential Methods with Applications to
// Clinical Trials" (2000), section 9.5.
func (l Look) P(p float64) float64 {
	switch {
	case !probability(p) || !l.Valid():
		return math.NaN()
	case len(l.Rounds) <= 1 || p == 0:
		return p
	}
	if top := l.Level(spendUpTo); p >= top {
		return min(1, spendUpTo+(p-top)*float64(len(l.Rounds)))
	}
	// Bisection of log alpha, drawn to where the line between the ends would have the
	// level p: log levels are nearly straight.
	low, high := p, spendUpTo // a level is at most its alpha
	atLow, atHigh := math.Log(l.Level(low)/p), math.Log(l.Level(high)/p)
	for i := 0; i < 200 && high > low*(1+1e-8); i++ {
		share := 0.5
		if between := -atLow / (atHigh - atLow); i%3 != 2 && between > 0 && between < 1 {
			share = between
		}
		middle := math.Exp((1-share)*math.Log(low) + share*math.Log(high))
		if at := math.Log(l.Level(middle) / p); at < 0 {
			low, atLow = middle, at
		} else {
			high, atHigh = middle, at
		}
	}
	return high
}

// Confidence is the nominal confidence of a two-sided interval at this look, so that
// the intervals of all looks hold the truth with confidence c together: a repeated
// confidence interval. It is c for the zero Look, and NaN where Level is.
//
// C. Jennison and B. W. Turnbull, "Interim Analyses: The Repeated Confidence Interval
// Approach", Journal of the Royal Statistical Society B 51 (1989) 305–361.
func (l Look) Confidence(c float64) float64 {
	switch {
	case !probability(c) || !l.Valid():
		return math.NaN()
	case len(l.Rounds) <= 1:
		return c
	}
	return 1 - 2*l.Level((1-c)/2)
}

// maxRounds bounds the rounds of a Look: its levels take time that is linear in them.
const maxRounds = 1000

// Valid says that Rounds are at most 1,000 rising numbers from 1 and At is one of
// their places, or that both are 0.
func (l Look) Valid() bool {
	if len(l.Rounds) == 0 {
		return l.At == 0
	}
	before := 0
	for _, n := range l.Rounds {
		if n <= before {
			return false
		}
		before = n
	}
	return l.At >= 1 && l.At <= len(l.Rounds) && len(l.Rounds) <= maxRounds
}

// spendOBrienFleming is what looks up to the share t of the data may spend of alpha.
func spendOBrienFleming(alpha, t float64) float64 {
	if t >= 1 {
		return alpha
	}
	return math.Erfc(-mathext.NormalQuantile(alpha/2) / math.Sqrt(2*t))
}

// brownian is the distribution of a Brownian motion at one look among the paths that
// have not crossed an earlier boundary: the sum of the standard normal statistic times
// √t, whose increments are independent. The zero value is at time 0.
type brownian struct {
	before, t float64   // time of the last boundary, and of this look
	at, mass  []float64 // nodes below the last boundary, and their probabilities
}

// step moves on to time t and returns the standard normal level that so far uncrossed
// paths exceed there with probability spend.
func (b *brownian) step(t, spend float64) float64 {
	b.t = t
	if b.at == nil || spend <= 0 {
		return max(0, spend)
	}
	// Newton's method on the logarithm, which is concave and falling: from the right of
	// the solution it never passes it.
	z, sd, root := -mathext.NormalQuantile(spend), math.Sqrt(t-b.before), math.Sqrt(t)
	for range 50 {
		above, density := 0.0, 0.0
		for i, s := range b.at {
			u := (z*root - s) / sd
			above += b.mass[i] * math.Erfc(u/math.Sqrt2) / 2
			density += b.mass[i] * normalDensity(u)
		}
		move := math.Log(spend/above) * above / (density * root / sd)
		if !(move > 1e-10) { // also where both have underflowed
			break
		}
		z -= move
	}
	return normalShare(-z)
}

// stopAbove takes out the paths above the boundary z at this look.
func (b *brownian) stopAbove(z float64) {
	root := math.Sqrt(b.t)
	// A path further down crosses no later boundary with a probability that counts, and
	// none is further up.
	low, high := -5.0, min(z, 9)
	step := math.Sqrt(b.t-b.before) / root
	nodes := min(500, 16+int(2*(high-low)/step))
	at, weight := make([]float64, nodes), make([]float64, nodes)
	quad.Legendre{}.FixedLocations(at, weight, low*root, high*root)
	mass := make([]float64, nodes)
	for i, s := range at {
		if b.at == nil {
			mass[i] = weight[i] * normalDensity(s/root) / root
			continue
		}
		sd, density := math.Sqrt(b.t-b.before), 0.0
		for j, from := range b.at {
			density += b.mass[j] * normalDensity((s-from)/sd)
		}
		mass[i] = weight[i] * density / sd
	}
	b.before, b.at, b.mass = b.t, at, mass
}

func normalDensity(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
