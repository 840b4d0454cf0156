package stat_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/stat/multiple"
)

// suiteOf returns 60 tasks of 8 paired differences, as a report has them for each
// metric and candidate. With unit 1 the differences are whole numbers.
func suiteOf(unit float64) []stat.Observation {
	rng := rand.New(rand.NewPCG(21, 22))
	var list []stat.Observation
	for i := range 480 {
		list = append(list, stat.Observation{Cluster: strconv.Itoa(i % 60), Value: unit * float64(rng.IntN(5)-2)})
	}
	return list
}

// Floor: sort 480 observations by name, then 60 passes over the sums up to half of the
// total. It allocates the sorted copy and four short slices.
func BenchmarkPairedPermutationWhole(b *testing.B) {
	list := suiteOf(1)
	b.ReportAllocs()
	for b.Loop() {
		stat.PairedPermutation(list)
	}
}

// Floor: 9,999 draws of 60 signs, one addition for each sign.
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

// Floor: walk twice from the mode to the counts whose weight is 0. No allocation.
func BenchmarkMcNemar(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		stat.McNemar(12, 31)
	}
}

// Floor: the sum of the shorter tail in big integers, and one reduced fraction.
func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		flake.Classify(stat.Trials{Passed: 8, N: 8}, stat.Trials{Passed: 4, N: 8}, 0.05)
	}
}

// Floor: sort. It allocates the order and the result.
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

// Floor: sort 480 values and take a mean for each cluster. It allocates both copies.
func BenchmarkQuantileInterval(b *testing.B) {
	list := suiteOf(0.37)
	b.ReportAllocs()
	for b.Loop() {
		stat.QuantileInterval(list, 0.9, 0.95)
	}
}
