package canary

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// simulated is a model whose nights are drawn. The test under check does not know its
// parameters.
type simulated struct {
	rng *rand.Rand
	// noise is the probability of an unusual answer, length the standard deviation of
	// the logarithm of the length of prose.
	noise, length float64
	// odd is the probability that another machine serves a night; then half of the
	// answers differ and prose is a tenth longer. sticky is the probability that the
	// next night has the same kind of machine.
	odd, sticky float64
	answers     []int
	longer      float64
	onOdd       bool
}

func newSimulated(seed uint64, noise float64) *simulated {
	return &simulated{
		rng: rand.New(rand.NewPCG(seed, 77)), noise: noise, length: noise / 2, answers: make([]int, len(Prompts())), longer: 1,
	}
}

// change gives a share of the prompts another usual answer, and changes the length of
// all prose.
func (s *simulated) change(share, longer float64) {
	n := int(math.Round(share * float64(len(s.answers))))
	for _, q := range s.rng.Perm(len(s.answers))[:n] {
		s.answers[q] += 100
	}
	s.longer *= 1 + longer
}

func (s *simulated) night(n int) Observation {
	if s.rng.Float64() >= s.sticky {
		s.onOdd = s.rng.Float64() < s.odd
	}
	o := Observation{Model: Model{Provider: "p", Model: "m"}, Set: "s", At: start.AddDate(0, 0, n)}
	for q, answer := range s.answers {
		length := float64(1 + q)
		if q >= 6 {
			length = 40 * float64(q-4) * s.longer * math.Exp(s.length*s.rng.NormFloat64())
		}
		if s.onOdd && q%2 == 0 {
			answer += 50
			length *= 1.1
		}
		if s.rng.Float64() < s.noise {
			answer += 1 + s.rng.IntN(3)
		}
		tokens := int64(math.Round(length))
		o.Answers = append(o.Answers, Answer{Digest: fmt.Sprint(answer), Tokens: &tokens})
	}
	return o
}

// size returns the number of simulated models for each setting.
func size(small, large int) int {
	if testkit.Evidence() {
		return large
	}
	return small
}

// documented prints a row of a table of docs/canary.md. With the large simulation, the
// row must be in the page.
func documented(t *testing.T, format string, args ...any) {
	t.Helper()
	row := fmt.Sprintf(format, args...)
	t.Log(row)
	if testkit.Evidence() {
		text := testkit.Doc(t, "canary.md")
		require.Contains(t, text, row+"\n")
	}
}

// Every night is tested, and a false alarm starts a new past. So false alarms are
// counted as a user sees them, over 200 nights from the first one on.
func TestSimulationFalseAlarms(t *testing.T) {
	const nights = 200
	for i, c := range []struct {
		name               string
		noise, odd, sticky float64
		promised           bool
	}{
		{"answers never differ", 0, 0, 0, true},
		{"5% of answers differ", 0.05, 0, 0, true},
		{"20% of answers differ", 0.2, 0, 0, true},
		{"5%, and 1 night in 5 on another machine", 0.05, 0.2, 0, true},
		{"5%, and machines that stay for 2 nights on average", 0.05, 0.2, 0.5, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			models := size(testkit.SlowN(1, 3), 200)
			alarms := 0
			for m := range models {
				s := newSimulated(uint64(1000*i+m), c.noise)
				s.odd, s.sticky = c.odd, c.sticky
				var history []Observation
				for n := range nights {
					o, f := Judge(history, s.night(n))
					if history = append(history, o); f.Status == manifest.CanaryChanged {
						alarms++
					}
				}
			}
			rate, se := float64(alarms)/float64(models), math.Sqrt(float64(alarms))/float64(models)
			documented(t, "| %s | %.2f ± %.2f |", c.name, rate, 1.96*se)
			if c.promised {
				require.LessOrEqual(t, rate, 1+3*math.Sqrt(1/float64(models)), "false alarms in %d nights", nights)
			}
		})
	}
}

// In most models a change is found within days. The figures are in the table of
// docs/canary.md.
func TestSimulationDetection(t *testing.T) {
	const before, most = 30, 14
	for i, c := range []struct {
		noise, share, longer float64
		least                float64 // the share of changes found within most nights
	}{
		{0, 0.1, 0, 1}, {0, 0.3, 0, 1}, {0, 0.6, 0, 1}, {0, 0, 0.1, 1}, {0, 0, 0.3, 1},
		{0.05, 0.1, 0, 0.95}, {0.05, 0.3, 0, 1}, {0.05, 0.6, 0, 1}, {0.05, 0, 0.1, 1}, {0.05, 0, 0.3, 1},
		{0.2, 0.1, 0, 0.7}, {0.2, 0.3, 0, 0.95}, {0.2, 0.6, 0, 1}, {0.2, 0, 0.1, 0.7}, {0.2, 0, 0.3, 0.95},
	} {
		name := fmt.Sprintf("%.0f%% | %.0f%% of answers are others", 100*c.noise, 100*c.share)
		if c.longer > 0 {
			name = fmt.Sprintf("%.0f%% | prose %.0f%% longer", 100*c.noise, 100*c.longer)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			models := size(testkit.SlowN(8, 20), 500)
			found, delay, third, near := 0, 0, 0, 0
			for m := range models {
				s := newSimulated(uint64(100_000+1000*i+m), c.noise)
				var history []Observation
				for n := range before {
					history = append(history, s.night(n))
				}
				s.change(c.share, c.longer)
				for n := 1; n <= most; n++ {
					o, f := Judge(history, s.night(before+n-1))
					if history = append(history, o); f.Status != manifest.CanaryChanged {
						continue
					}
					found++
					delay += n
					if n <= 3 {
						third++
					}
					if off := o.Change.On.Sub(start.AddDate(0, 0, before)).Abs(); off <= 24*time.Hour {
						near++
					}
					break
				}
			}
			of := func(n int) float64 { return 100 * float64(n) / float64(models) }
			documented(t, "| %s | %.0f%% | %.0f%% | %.1f | %.0f%% |", name, of(third), of(found), float64(delay)/float64(max(1, found)), 100*float64(near)/float64(max(1, found)))
			require.GreaterOrEqual(t, float64(found), math.Floor(c.least*float64(models))-2*math.Sqrt(float64(models)*c.least*(1-c.least)))
		})
	}
}

// For an unchanged model, p is below a level at most as often as the level says, also
// if the answers of a night are correlated.
func TestSimulationLevel(t *testing.T) {
	for i, odd := range []float64{0, 0.3} {
		models := size(150, 5000)
		below := map[float64]int{}
		for m := range models {
			s := newSimulated(uint64(10_000*i+m), 0.1)
			s.odd = odd
			var nights []Observation
			for n := range 16 {
				nights = append(nights, s.night(n))
			}
			p := findSplit(nights).p
			for _, level := range []float64{0.005, 0.05, 0.2} {
				if p <= level {
					below[level]++
				}
			}
		}
		for _, level := range []float64{0.005, 0.05, 0.2} {
			share, se := float64(below[level])/float64(models), math.Sqrt(level*(1-level)/float64(models))
			t.Logf("odd nights %.1f: p at most %.3f in %.4f", odd, level, share)
			require.LessOrEqual(t, share, level+3*se)
		}
		require.Positive(t, below[0.2], "the test says something")
	}
}
