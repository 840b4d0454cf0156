package model

import (
	"errors"
	"fmt"
	"time"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/column"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/trend"
)

// ReadTrendRuns are the figures that a trend follows, of the candidates of a run, read from a
// few columns of its ledger in dir: what a Report of the run would say, without its
// episodes. Left out are scripts, and candidates that were not asked nearly all of
// the run's tasks. It is safe for concurrent use; the files are untrusted.
func ReadTrendRuns(dir string, m manifest.Manifest) ([]trend.Run, error) {
	var all []trend.Run
	f := tracker{by: map[string]*tracked{}, lost: map[place]bool{}, clusters: clustersOf(m), attacked: map[string]bool{}}
	for _, t := range m.Tasks {
		f.attacked[t.ID] = t.Base != ""
	}
	for _, c := range m.Candidates {
		if f.by[c.Name] == nil && whole(m, c) {
			f.by[c.Name] = &tracked{}
		}
	}
	if err := errors.Join(f.episodes(dir), f.turns(dir)); err != nil {
		return nil, fmt.Errorf("figures of run %s: %w", m.RunID, err)
	}
	for _, c := range m.Candidates {
		if g := f.by[c.Name]; g != nil {
			all = append(all, g.run(m, c))
			delete(f.by, c.Name)
		}
	}
	return all, nil
}

// whole says that a candidate can be followed from run to run: it is judged, and
// was asked nearly all of the run's tasks as often as the others. A run of what
// failed before says nothing about its rate.
func whole(m manifest.Manifest, c manifest.Candidate) bool {
	return c.Provider != Scripted && 10*c.Planned >= 9*len(m.Tasks)*m.TrialsOf(c.Name)
}

// tracked adds up what is read of one candidate.
type tracked struct {
	by        taskCounts
	steps     int64 // of solved episodes whose steps count
	cost      sum
	latencies []float64
}

// run sorts the latencies.
func (g *tracked) run(m manifest.Manifest, c manifest.Candidate) trend.Run {
	started, _ := time.Parse(time.RFC3339Nano, m.Started) // a run without a time is in no trend
	solved, valid := newShare(g.by.share(solvedOf), trend.Confidence), newShare(g.by.share(validOf), trend.Confidence)
	stepped := newShare(g.by.share(withinOf), trend.Confidence).N
	r := trend.Run{
		RunID: m.RunID, Started: started, Candidate: c.Name, Digest: c.Digest, SuiteDigest: m.SuiteDigest,
		Solved: solved.K, Scored: solved.N, SolvedWithin: solved.Interval, Valid: valid.K, Judged: valid.N, ValidWithin: valid.Interval,
		Steps: quotient(&g.steps, stepped), CostNanoUSD: quotient(g.cost.value(), solved.N),
	}
	if s := spread(g.latencies); s != nil {
		r.LatencyUs = &s.P50
	}
	return r
}

// quotient is null without a sum, or of nothing.
func quotient(sum *int64, n int) *float64 {
	if sum == nil || n == 0 {
		return nil
	}
	return new(float64(*sum) / float64(n))
}

// place names an episode of a run.
type place struct {
	task, candidate string
	trial           int32
}

// tracker holds the figures of a run's candidates as they are read.
type tracker struct {
	by       map[string]*tracked
	lost     map[place]bool // without a result
	clusters map[string]string
	attacked map[string]bool // tasks that injections made
}

// read calls row for every row of a table, with the columns named.
func read(dir, table string, columns []string, group func([]column.Vector) (row func(i int))) error {
	c, err := column.Open(dir, table, columns)
	if err != nil {
		return err
	}
	vectors := make([]column.Vector, len(columns))
	for g := range c.Groups() {
		if err = c.Read(g, vectors); err != nil {
			break
		}
		row := group(vectors)
		for i := range c.Rows(g) {
			row(i)
		}
	}
	return errors.Join(err, c.Close())
}

// of are the figures of the candidates that a column of names speaks of; nil for
// others.
func (f *tracker) of(names *column.Vector) []*tracked {
	list := make([]*tracked, len(names.Words))
	for i, w := range names.Words {
		list[i] = f.by[w]
	}
	return list
}

func textAt(v *column.Vector, i int) string { return v.Words[v.Index[i]] }

func (f *tracker) episodes(dir string) error {
	columns := []string{"candidate", "status", "infra_error", "solved", "steps", "cost_nanousd", "task_id", "trial"}
	return read(dir, "episodes", columns, func(v []column.Vector) func(int) {
		of := f.of(&v[0])
		return func(i int) {
			g := of[v[0].Index[i]]
			if g == nil {
				return
			}
			row := ledger.Episode{Status: textAt(&v[1], i), Solved: v[3].Bools[i]}
			if ledger.ExcludedBy(row.Status, v[2].Bools[i]) != "" {
				f.lost[place{textAt(&v[6], i), textAt(&v[0], i), int32(v[7].Numbers[i])}] = true
				return
			}
			task := textAt(&v[6], i)
			if f.attacked[task] {
				return
			}
			c := g.by.of(clusterOf(f.clusters, task))
			c.scored++
			c.solved += one(row.Solved)
			if row.CountsSteps() {
				c.stepped++
				g.steps += int64(v[4].Numbers[i])
			}
			cost := new(int64(v[5].Numbers[i]))
			if v[5].Nulls != nil && v[5].Nulls[i] {
				cost = nil
			}
			g.cost.add(cost)
		}
	})
}

// turns reads those of scored episodes. What hit the token cap ended with "length",
// so the violations, which are a list, need not be read.
func (f *tracker) turns(dir string) error {
	columns := []string{"candidate", "role", "error_kind", "finish_reason", "contract_valid", "duration_us", "task_id", "trial"}
	return read(dir, "turns", columns, func(v []column.Vector) func(int) {
		of := f.of(&v[0])
		var c *counted
		var was [2]int32
		return func(i int) {
			g := of[v[0].Index[i]]
			row := ledger.Turn{Role: textAt(&v[1], i), ErrorKind: textAt(&v[2], i), FinishReason: textAt(&v[3], i), ContractValid: v[4].Bools[i]}
			if g == nil || !row.Judged() {
				return
			}
			if len(f.lost) > 0 && f.lost[place{textAt(&v[6], i), textAt(&v[0], i), int32(v[7].Numbers[i])}] {
				return
			}
			// Turns of an episode follow one another: most are counted where the last one was.
			if is := [2]int32{v[0].Index[i], v[6].Index[i]}; c == nil || is != was {
				c, was = g.by.of(clusterOf(f.clusters, textAt(&v[6], i))), is
			}
			c.judged++
			c.valid += one(row.Valid())
			g.latencies = append(g.latencies, v[5].Numbers[i])
		}
	})
}
