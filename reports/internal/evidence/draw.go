package evidence

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"
)

// Beta draws the share of a cluster from a beta distribution of the given mean, so that
// observations of one cluster have the intra-cluster correlation icc: with 0 all clusters
// have the mean, and with 1 each is 0 or 1.
func Beta(rng *rand.Rand, mean, icc float64) float64 {
	switch {
	case icc == 0 || mean <= 0 || mean >= 1:
		return mean
	case icc == 1:
		if rng.Float64() < mean {
			return 1
		}
		return 0
	}
	size := 1/icc - 1
	return distuv.Beta{Alpha: mean * size, Beta: (1 - mean) * size, Src: rng}.Rand()
}

// Mechanism is a way in which tasks differ whose shares have a given mean.
type Mechanism struct {
	Name string
	// Draw draws the share of a task; mean is that over all tasks there could be.
	Draw func(rng *rand.Rand, mean float64) float64
}

// Mechanisms are beta-binomial tasks of four intra-task correlations and two others, which
// no method supposes: 60 % of all failures are those of tasks that always fail, the rest
// of tasks that fail rarely; or 90 % are those of hard tasks, which succeed 3 times in 10.
func Mechanisms() []Mechanism {
	var list []Mechanism
	for _, icc := range []float64{0, 0.1, 0.3, 0.6} {
		list = append(list, Mechanism{fmt.Sprintf("ICC %g", icc), func(rng *rand.Rand, mean float64) float64 { return Beta(rng, mean, icc) }})
	}
	return append(list, Mechanism{"always-failing tasks", AlwaysFailing}, Mechanism{"hard tasks", Hard})
}

// AlwaysFailing draws a share of 0 for the tasks that make up 60 % of all failures.
func AlwaysFailing(rng *rand.Rand, mean float64) float64 {
	never := 0.6 * (1 - mean)
	if rng.Float64() < never {
		return 0
	}
	return mean / (1 - never)
}

// Hard draws a share of 0.3 for the tasks that make up 90 % of all failures.
func Hard(rng *rand.Rand, mean float64) float64 {
	const solved = 0.3
	hard := 0.9 * (1 - mean) / (1 - solved)
	if rng.Float64() < hard {
		return solved
	}
	return (mean - solved*hard) / (1 - hard)
}

// LogNormal returns a source of log-normal values of mean 1. At a sigma of 2 a hundredth
// of all values is more than a third of their sum.
func LogNormal(sigma float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return math.Exp(sigma*rng.NormFloat64() - sigma*sigma/2) }
}

// Pareto returns a source of Pareto values of mean 1, for a shape above 1. At a shape of
// 2 or less their variance is infinite.
func Pareto(shape float64) func(*rand.Rand) float64 {
	return func(rng *rand.Rand) float64 { return (shape - 1) / shape * math.Pow(1-rng.Float64(), -1/shape) }
}

// AR1 draws n values with mean 0 and the given spread, each correlated with the one
// before by phi.
func AR1(rng *rand.Rand, n int, phi, spread float64) []float64 {
	list := make([]float64, n)
	last := spread * rng.NormFloat64()
	for i := range list {
		list[i] = last
		last = phi*last + spread*math.Sqrt(1-phi*phi)*rng.NormFloat64()
	}
	return list
}
