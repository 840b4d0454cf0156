package judging

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/cupel-eval/cupel/reports/stat"
)

// Errors are what is known of the errors of a judge, by task: Num of Den of what people pass
// was passed, and Num of Den of what people fail was failed. The zero value knows nothing.
type Errors struct{ Passes, Fails []stat.Cluster }

// ErrorsOf are the errors that labels show.
func ErrorsOf(tasks []Table) (e Errors) {
	for _, t := range tasks {
		if n := t.passes(); n > 0 {
			e.Passes = append(e.Passes, stat.Cluster{Num: t.PassPass, Den: n})
		}
		if n := t.fails(); n > 0 {
			e.Fails = append(e.Fails, stat.Cluster{Num: t.FailFail, Den: n})
		}
	}
	return e
}

// Pattern says which judges decided an observation, and which of them passed it, as bits by the
// index of the judge.
type Pattern struct{ Judges, Passed uint32 }

// Cluster are the observations of one task.
type Cluster struct {
	// N counts all, Sure those that are good whatever any judge says.
	N, Sure float64
	// Decided counts those that are good if and only if all judges of the pattern pass them.
	Decided map[Pattern]float64
}

// draws is the number of draws of Correct. Drawing adds a standard error of 0.1 points to the
// confidence of 95%.
const draws = 20_000

// Correct estimates the share that is truly good, of observations that judges with errors
// decided. value is nil where a judge's errors are not known or say nothing; the interval then
// allows for any. Each end of iv errs with probability (1−confidence)/2 at most, by simulation.
// ok is false without observations and for a confidence not strictly between 0 and 1.
//
// With sensitivity s and specificity p, a verdict y of 0 or 1 counts (y + p − 1)/(s + p − 1),
// whose mean is the true share: W. J. Rogan and B. Gladen, "Estimating Prevalence from the
// Results of a Screening Test", American Journal of Epidemiology 107 (1978) 71–76. Where several
// judges decide, their values are multiplied, which supposes that their errors are independent.
// What the judges decided comes to 0 at least and to all of it at most.
//
// The interval melds the confidence distributions of the share, of s and of p, whose errors are
// independent: M. P. Fay, M. A. Proschan and E. Brittain, "Combining One-Sample Confidence
// Procedures for Inference in the Two-Sample Case", Biometrics 71 (2015) 146–156; for
// sensitivity and specificity: D. M. Bayer, M. P. Fay and B. I. Graubard, "Confidence Intervals
// for Prevalence Estimates from Complex Surveys with Imperfect Assays", Statistics in Medicine
// 42 (2023) 1822–1867. The distributions are those of stat.LowerBound: clusters weighted by
// exponentials, and one more of mean size at the worst. With one observation a task these are
// Clopper's and Pearson's. Values are drawn, with a seed from the data.
func Correct(clusters []Cluster, judges []Errors, confidence float64) (value *float64, iv stat.Interval, ok bool) {
	if !(confidence > 1e-15 && confidence < 1-1e-15) {
		return nil, iv, false
	}
	m, ok := newMelding(clusters, judges)
	if !ok {
		return nil, iv, false
	}
	lows, highs := make([]float64, draws), make([]float64, draws)
	for i := range draws {
		lows[i], highs[i] = m.draw(true), m.draw(false)
	}
	slices.Sort(lows)
	slices.Sort(highs)
	k := int((1 - confidence) / 2 * draws)
	iv = stat.Interval{Low: lows[k], High: highs[draws-1-k]}
	if v, known := m.estimate(); known {
		value = &v
		iv = stat.Interval{Low: min(iv.Low, v), High: max(iv.High, v)}
	}
	return value, iv, true
}

// melding is what is drawn from.
type melding struct {
	rng *rand.Rand
	// patterns are the columns of rows after N and Sure; sets are the combinations of judges.
	patterns []Pattern
	sets     []uint32
	rows     []row
	size     float64 // mean N
	judges   []judge
	sum      []float64 // of one draw
}

// row are n clusters that are equal.
type row struct {
	of []float64
	n  float64
}

// judge is what is known of a judge: rows of two columns. s and p are one draw of its
// sensitivity and specificity.
type judge struct {
	used                  bool
	passes, fails         []row
	passesSize, failsSize float64
	s, p                  float64
}

// grouped counts equal rows, in an order that does not depend on that of the rows. size is the
// mean of the given column.
func grouped(list [][]float64, column int) (rows []row, size float64) {
	slices.SortFunc(list, slices.Compare)
	for _, of := range list {
		size += of[column] / float64(len(list))
		if n := len(rows); n > 0 && slices.Equal(rows[n-1].of, of) {
			rows[n-1].n++
			continue
		}
		rows = append(rows, row{of, 1})
	}
	return rows, size
}

func newMelding(clusters []Cluster, errors []Errors) (m *melding, ok bool) {
	m = &melding{judges: make([]judge, len(errors))}
	seen, used := map[Pattern]bool{}, uint32(0)
	for _, c := range clusters {
		for p := range c.Decided {
			seen[p] = true
			used |= p.Judges
		}
	}
	m.patterns = slices.SortedFunc(maps.Keys(seen), func(a, b Pattern) int {
		return cmp.Or(cmp.Compare(a.Judges, b.Judges), cmp.Compare(a.Passed, b.Passed))
	})
	for _, p := range m.patterns {
		if !slices.Contains(m.sets, p.Judges) {
			m.sets = append(m.sets, p.Judges)
		}
	}
	var list [][]float64
	for _, c := range clusters {
		if !(c.N > 0) {
			continue
		}
		of := []float64{c.N, c.Sure}
		for _, p := range m.patterns {
			of = append(of, c.Decided[p])
		}
		list = append(list, of)
	}
	m.rows, m.size = grouped(list, 0)
	hash := sha256.New()
	_, _ = fmt.Fprintln(hash, m.patterns, m.rows) // a hash does not fail
	for i, e := range errors {
		j := &m.judges[i]
		j.passes, j.passesSize = grouped(columns(e.Passes), 1)
		j.fails, j.failsSize = grouped(columns(e.Fails), 1)
		if j.used = used>>i&1 == 1; j.used {
			_, _ = fmt.Fprintln(hash, j.passes, j.fails)
		}
	}
	seed := hash.Sum(nil)
	m.rng = rand.New(rand.NewPCG(binary.BigEndian.Uint64(seed), binary.BigEndian.Uint64(seed[8:])))
	m.sum = make([]float64, 2+len(m.patterns))
	return m, len(list) > 0
}

func columns(clusters []stat.Cluster) (list [][]float64) {
	for _, c := range clusters {
		list = append(list, []float64{c.Num, c.Den})
	}
	return list
}

// weigh adds up rows, each weighted by the sum of so many standard exponentials.
func (m *melding) weigh(rows []row, sum []float64) {
	clear(sum)
	for _, r := range rows {
		w := 0.0
		if r.n == 1 {
			w = m.rng.ExpFloat64()
		} else {
			w = distuv.Gamma{Alpha: r.n, Beta: 1, Src: m.rng}.Rand()
		}
		for i, v := range r.of {
			sum[i] += w * v
		}
	}
}

// share draws from the lower or the upper confidence distribution of a share.
func (m *melding) share(rows []row, size float64, lower bool) float64 {
	var sum [2]float64
	m.weigh(rows, sum[:])
	more := m.rng.ExpFloat64() * cmp.Or(size, 1) // of a task that was not seen
	if lower {
		return sum[0] / (sum[1] + more)
	}
	return (sum[0] + more) / (sum[1] + more)
}

// draw is a value of the lower or the upper confidence distribution of the true share. The share
// falls with a judge's sensitivity and rises with its specificity.
func (m *melding) draw(lower bool) float64 {
	for i := range m.judges {
		if j := &m.judges[i]; j.used {
			j.s, j.p = m.share(j.passes, j.passesSize, !lower), m.share(j.fails, j.failsSize, lower)
		}
	}
	m.weigh(m.rows, m.sum)
	v, _ := m.solve(m.rng.ExpFloat64()*m.size, lower)
	return v
}

// estimate is the share at the estimates of everything; ok is false where a judge's errors are
// not known or say nothing.
func (m *melding) estimate() (v float64, ok bool) {
	ratio := func(rows []row) float64 {
		var num, den float64
		for _, r := range rows {
			num, den = num+r.n*r.of[0], den+r.n*r.of[1]
		}
		return num / den // not a number without labels, which is not informative
	}
	for i := range m.judges {
		m.judges[i].s, m.judges[i].p = ratio(m.judges[i].passes), ratio(m.judges[i].fails)
	}
	clear(m.sum)
	for _, r := range m.rows {
		for i, v := range r.of {
			m.sum[i] += r.n * v
		}
	}
	return m.solve(0, true)
}

// solve returns the share of the weighted sums, corrected for the judges' errors, with
// observations more of the least value, or of the greatest. informative is false if the
// sensitivity and specificity of a judge say nothing: what it decided is then taken as 0, or as
// good.
func (m *melding) solve(more float64, lower bool) (share float64, informative bool) {
	good, at, extreme := m.sum[1], -1, 1.0
	if lower {
		extreme = 0
	}
	for i, set := range m.sets {
		if least, most, ok := m.extremes(set); ok && lower && least < extreme {
			at, extreme = i, least
		} else if ok && !lower && most > extreme {
			at, extreme = i, most
		}
	}
	if at < 0 {
		good += extreme * more
	}
	informative = true
	for i, set := range m.sets {
		all, part := 0.0, 0.0
		if i == at {
			all, part = more, more*extreme
		}
		known := true
		for k, p := range m.patterns {
			if p.Judges != set {
				continue
			}
			v, ok := m.value(p)
			all, part, known = all+m.sum[2+k], part+m.sum[2+k]*v, known && ok
		}
		switch {
		case known:
			good += min(max(part, 0), all)
		case !lower:
			good += all
		}
		informative = informative && known
	}
	return good / (m.sum[0] + more), informative
}

// value is what an observation with these verdicts counts; ok is false if a judge's verdicts say
// nothing.
func (m *melding) value(of Pattern) (v float64, ok bool) {
	v = 1
	for i := range m.judges {
		if of.Judges>>i&1 == 0 {
			continue
		}
		j := &m.judges[i]
		worth := j.s + j.p - 1
		if !(worth > 0) {
			return 0, false
		}
		v *= (float64(of.Passed>>i&1) + j.p - 1) / worth
	}
	return v, true
}

// extremes are the least and the greatest value of an observation that these judges decide.
func (m *melding) extremes(set uint32) (least, most float64, ok bool) {
	least, most = 1, 1
	for i := range m.judges {
		if set>>i&1 == 0 {
			continue
		}
		fails, failed := m.value(Pattern{Judges: 1 << i})
		passes, _ := m.value(Pattern{1 << i, 1 << i})
		if !failed {
			return 0, 0, false
		}
		least, most = min(least*fails, least*passes, most*fails, most*passes), max(least*fails, least*passes, most*fails, most*passes)
	}
	return least, most, true
}
