// Package level finds the nights on which the level of a noisy series changed. Its
// functions are pure.
package level

import "math"

// Reading is one night of a series, on a scale on which noise does not grow with the
// level: an arcsine for a share, a logarithm for a cost or a time.
type Reading struct {
	Value float64
	// Spread is the standard deviation that sampling alone can give Value: less for a
	// night of many observations. It is positive.
	Spread float64
}

// Shift is a change of level, as it was known on the night of the alarm.
type Shift struct {
	// At is the index of the first reading of the new level, Detected that of the
	// reading at which the alarm was raised; At < Detected.
	At, Detected int
	// Score is the evidence on that night, in standard deviations; Limit what it had to
	// reach.
	Score, Limit float64
}

// Settings of Shifts. The limits in level_limit.go are calibrated for these values.
const (
	// levelFirst is how many readings of the first level must precede a change, levelNext
	// of each later one: then the noise is known, and only the level is not.
	levelFirst, levelNext = 10, 3
	// levelLeast is how many readings a new level must have: one alone is an outlier.
	levelLeast = 2
	// levelWindow is how many readings a new level may have when the alarm is raised.
	levelWindow = 30
	// levelClip is how many standard deviations a reading may lie from its prediction;
	// one that is further away counts as one that far away.
	levelClip = 3
	// levelPhi is the largest autocorrelation that is allowed for.
	levelPhi = 0.9
	// levelPrior is the weight of Spread in the estimate of the noise, in readings.
	levelPrior = 2
)

// Shifts goes forward through a series, night by night, and raises an alarm where
// its level has changed. What it says of a night depends on readings up to that night
// only, so later readings neither move nor withdraw a change. nights is the mean number
// of readings to a false alarm that is wanted of reading i; the limit follows from it.
//
// The noise is taken as first-order autoregressive with unknown level, autocorrelation φ
// and spread. On night t each k that leaves levelLeast to levelWindow readings k…t is
// tried as the first of a new level. φ and the spread are estimated from deviations
// within both levels, so the change itself does not inflate them, and from all earlier
// levels. The estimate of φ is corrected for its bias in short series and then raised by
// one standard error, since a φ that is too small raises false alarms. The score of k is
// Student's t of the summed one-step prediction errors of k…t, as a normal deviate. An
// alarm is raised when the largest score reaches the limit; its k is the change. Then
// the search restarts with the readings since k.
//
// A reading far from its prediction is moved to levelClip standard deviations, and one
// of few observations towards the prediction in proportion to its Spread, before either
// counts. The first alarm is possible at the twelfth reading.
//
// ok is false when a value is not finite or beyond ±1e100, or a spread is not positive
// or below 1e-100 or beyond 1e100.
//
// D. M. Hawkins, P. Qiu and C. W. Kang, "The Changepoint Model for Statistical Process
// Control", Journal of Quality Technology 35 (2003) 355–366, for the search over k with
// unknown parameters at a constant rate of false alarms; L. C. Alwan and H. V. Roberts,
// "Time-Series Modeling for Statistical Process Control", Journal of Business & Economic
// Statistics 6 (1988) 87–95, for charts of prediction errors; F. H. C. Marriott and J. A.
// Pope, "Bias in the estimation of autocorrelations", Biometrika 41 (1954) 390–402, for
// the bias of φ.
func Shifts(series []Reading, nights func(i int) float64) (shifts []Shift, ok bool) {
	for _, r := range series {
		if !(math.Abs(r.Value) <= 1e100 && r.Spread >= 1e-100 && r.Spread <= 1e100) {
			return nil, false
		}
	}
	var noise lagged // within all earlier levels
	levels, first, from, known := 1.0, levelFirst, 0, -1
	for {
		l := levelReadings{noise: noise, levels: levels}
		s, found := l.search(series[from:], first, known-from, func(i int) float64 { return levelLimit(nights(from + i)) })
		if !found {
			return shifts, true
		}
		noise, levels, first = noise.plus(l.within(0, s.At)), levels+1, levelNext
		s.At, s.Detected = s.At+from, s.Detected+from
		shifts, from, known = append(shifts, s), s.At, s.Detected
	}
}

// lagged are sums over pairs of neighbouring deviations from a level: how many, and the
// squares of the earlier ones, of the later ones, and the products.
type lagged struct{ pairs, earlier, later, products float64 }

func (a lagged) plus(b lagged) lagged {
	return lagged{a.pairs + b.pairs, a.earlier + b.earlier, a.later + b.later, a.products + b.products}
}

// ar1 estimates φ, conservatively, and the spread of the prediction errors with its
// degrees of freedom, from deviations of so many levels. spread is that of sampling.
func (a lagged) ar1(levels, spread float64) (phi, sigma, df float64) {
	if squares := (a.earlier + a.later) / 2; squares > 0 {
		phi = a.products / squares
	}
	n := a.pairs + levels
	phi += levels * (1 + 3*phi) / n
	phi += math.Sqrt(max(0, 1-phi*phi) / n)
	phi = min(levelPhi, max(0, phi))
	df = a.pairs - levels - 1
	squares := max(0, a.later-2*phi*a.products+phi*phi*a.earlier)
	return phi, math.Sqrt((squares + levelPrior*spread*spread) / df), df
}

// levelReadings are those since the last change, from zero at its first, as they count.
type levelReadings struct {
	noise  lagged  // within earlier levels
	levels float64 // how many there are, with this one

	cleaned []float64
	// Sums of the readings before i, of their squares, of products of neighbours, and of
	// spreads.
	sums, squares, products, spreads []float64
}

// start makes room for the first reading.
func (l *levelReadings) start() {
	l.sums, l.squares, l.products, l.spreads = []float64{0}, []float64{0}, []float64{0}, []float64{0}
}

// add takes in a reading.
func (l *levelReadings) add(v, spread float64) {
	n, product := len(l.cleaned), 0.0
	if n > 0 {
		product = v * l.cleaned[n-1]
	}
	l.cleaned = append(l.cleaned, v)
	l.sums = append(l.sums, l.sums[n]+v)
	l.squares = append(l.squares, l.squares[n]+v*v)
	l.products = append(l.products, l.products[n]+product)
	l.spreads = append(l.spreads, l.spreads[n]+spread)
}

func (l *levelReadings) mean(from, to int) float64 {
	return (l.sums[to] - l.sums[from]) / float64(to-from)
}

// within sums up the deviations of readings from…to−1 from their own mean.
func (l *levelReadings) within(from, to int) lagged {
	if to-from < 2 {
		return lagged{}
	}
	n, m := float64(to-from-1), l.mean(from, to)
	earlier, later := l.sums[to-1]-l.sums[from], l.sums[to]-l.sums[from+1]
	return lagged{
		pairs:    n,
		earlier:  l.squares[to-1] - l.squares[from] - 2*m*earlier + n*m*m,
		later:    l.squares[to] - l.squares[from+1] - 2*m*later + n*m*m,
		products: l.products[to] - l.products[from+1] - m*(earlier+later) + n*m*m,
	}
}

// search goes through the readings of a level until the next change. Those up to known
// had been read when this level was found, so they raise no alarm.
func (l *levelReadings) search(series []Reading, first, known int, limit func(i int) float64) (s Shift, found bool) {
	l.start()
	for t, r := range series {
		l.add(l.clean(r.Value-series[0].Value, r.Spread), r.Spread)
		if t <= known {
			continue
		}
		best := Shift{Detected: t}
		for k := t + 1 - levelLeast; k >= max(first, t+1-levelWindow); k-- {
			if score := l.score(k); score > best.Score {
				best.At, best.Score = k, score
			}
		}
		if best.At == 0 {
			continue
		}
		if best.Limit = limit(t); best.Score >= best.Limit {
			return best, true
		}
	}
	return Shift{}, false
}

// clean is a reading as it counts: moved towards its prediction if it is further away
// than noise may be, or of fewer observations than those before.
func (l *levelReadings) clean(v, spread float64) float64 {
	n := len(l.cleaned)
	if n == 0 {
		return v
	}
	typical := l.spreads[n] / float64(n)
	m := l.mean(0, n)
	prediction, most := m, math.Inf(1)
	if all := l.noise.plus(l.within(0, n)); all.pairs >= l.levels+2 {
		phi, sigma, df := all.ar1(l.levels, typical)
		prediction, most = m+phi*(l.cleaned[n-1]-m), sigma*studentOf(levelClip, df)
	}
	off := (v - prediction) / max(1, spread/typical)
	return prediction + max(-most, min(most, off))
}

// score is the evidence that reading k is the first of a new level that lasts up to now.
func (l *levelReadings) score(k int) float64 {
	n := len(l.cleaned)
	phi, sigma, df := l.noise.plus(l.within(0, k)).plus(l.within(k, n)).ar1(l.levels+1, l.spreads[n]/float64(n))
	long := float64(n - k)
	errors := l.sums[n] - l.sums[k] - phi*(l.sums[n-1]-l.sums[k-1]) - long*(1-phi)*l.mean(0, k)
	return normalOf(math.Abs(errors)/(sigma*math.Sqrt(long+long*long/float64(k))), df)
}

// normalOf is the normal deviate that is as improbable as a Student's t ≥ 0 of df
// degrees of freedom, to within 0.03 deviates for 3 degrees or more: D. L. Wallace,
// "Bounds on Normal Approximations to Student's and the Chi-Square Distributions",
// Annals of Mathematical Statistics 30 (1959) 1121–1130.
func normalOf(t, df float64) float64 {
	return (8*df + 1) / (8*df + 3) * math.Sqrt(df*math.Log1p(t*t/df))
}

// studentOf is the inverse of normalOf.
func studentOf(z, df float64) float64 {
	z *= (8*df + 3) / (8*df + 1)
	return math.Sqrt(df * math.Expm1(z*z/df))
}
