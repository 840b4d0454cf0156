package stat_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// suiteOf is 60 tasks of 8 paired differences, as a report holds per metric and
// candidate; unit 1 makes them whole.
func suiteOf(unit float64) []stat.Observation {
	rng := rand.New(rand.NewPCG(21, 22))
	var list []stat.Observation
	for i := range 480 {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i % 60), Value: unit * float64(rng.IntN(5)-2)})
	}
	return list
}

// Floor: sorting 480 observations by name, then 60 passes over sums up to half
// of what is at stake; it allocates the sorted copy and four short slices.
func BenchmarkPairedPermutationWhole(b *testing.B) {
	list := suiteOf(1)
	b.ReportAllocs()
	for b.Loop() {
		stat.PairedPermutation(list)
	}
}

// Floor: 9,999 draws of 60 signs, an addition each.
func BenchmarkPairedPermutationRandom(b *testing.B) {
	list := suiteOf(0.37)
	b.ReportAllocs()
	for b.Loop() {
		stat.PairedPermutation(list)
	}
}

// Floor: 2^19 sums, the worst case of 20 clusters near no effect.
func BenchmarkPairedPermutationEnumerated(b *testing.B) {
	rng := rand.New(rand.NewPCG(23, 24))
	var list []stat.Observation
	for i := range 20 {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i), Value: rng.NormFloat64()})
	}
	b.ReportAllocs()
	for b.Loop() {
		stat.PairedPermutation(list)
	}
}

// Floor: two inverse incomplete beta functions, no allocation.
func BenchmarkClopperPearson(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		stat.ClopperPearson(950, 1000, 0.95)
	}
}

// Floor: the walk from the mode to where weights vanish, twice; no allocation.
func BenchmarkMcNemar(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		stat.McNemar(12, 31)
	}
}

// Floor: the shorter tail in big integers and one reduced fraction.
func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		flake.Classify(stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 4, N: 8}, 0.05)
	}
}

// Floor: sorting; it allocates the order and the answer.
func BenchmarkBenjaminiHochberg(b *testing.B) {
	rng := rand.New(rand.NewPCG(27, 28))
	p := make([]float64, 200)
	for i := range p {
		p[i] = rng.Float64()
	}
	b.ReportAllocs()
	for b.Loop() {
		_, _ = multiple.BenjaminiHochberg(p)
	}
}

// Floor: sorting 480 values and a mean by cluster; it allocates both copies.
func BenchmarkQuantileInterval(b *testing.B) {
	list := suiteOf(0.37)
	b.ReportAllocs()
	for b.Loop() {
		stat.QuantileInterval(list, 0.9, 0.95)
	}
}
