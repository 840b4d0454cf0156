package reports

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

// stream makes a run of one candidate and 100 tasks, episode by episode in the order of
// the ledger, each with the given number of turns. Every tenth episode is not solved.
// episodes is a multiple of 100. Equal arguments give equal rows.
func stream(episodes, turns int) (manifest.Manifest, func(i int) ledger.EpisodeRows) {
	p := reporttest.DemoProfiles()[0]
	p.Steps = 0
	m, _ := reporttest.Demo([]reporttest.Profile{p}, 100, 1)
	m.Trials = episodes / 100
	slices.SortFunc(m.Tasks, func(a, b manifest.Task) int { return cmp.Compare(a.ID, b.ID) })
	m.Candidates[0].Planned = episodes
	return m, func(i int) ledger.EpisodeRows {
		key := ledger.Key{
			RunID: m.RunID, EpisodeID: fmt.Sprintf("01JD0Q3V7M%016X", i), Suite: m.Suite, TaskID: m.Tasks[i*100/episodes].ID,
			Candidate: p.Name, Agent: p.Agent, Provider: p.Provider, Model: p.Model, Trial: int32(i%m.Trials + 1),
		}
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		rows := ledger.EpisodeRows{Episode: ledger.Episode{
			Key: key, Status: "answered", ExpectedStatus: "answered", Solved: i%10 != 0, Steps: int32(turns), Answer: "There were 427.",
			Checks: []ledger.Check{{Name: "status", Passed: true}, {Name: "numbers", Passed: i%10 != 0, Detail: fmt.Sprintf("want %d in the answer, found 411", i)}},
		}}
		for k := 1; k <= turns; k++ {
			rows.Turns = append(rows.Turns, reporttest.DemoTurn(p, key, rng, 0, k, turns, true))
		}
		return rows
	}
}

// peakHeap keeps the largest observed heap, including garbage.
type peakHeap struct{ most uint64 }

func (p *peakHeap) look() {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	p.most = max(p.most, s[0].Value.Uint64())
}

// looking passes writes on and observes the heap.
type looking struct {
	*os.File
	heap *peakHeap
}

func (l looking) Write(b []byte) (int, error) {
	l.heap.look()
	return l.File.Write(b)
}

// A report needs the same memory for an episode of a long run as of a short one: for
// each of many more episodes it keeps the outcome and 8 bytes a turn.
func TestMemoryOfAnEpisode(t *testing.T) {
	const turns = 5
	inUse := func(episodes int) (bytes uint64) {
		m, row := stream(episodes, turns)
		b := NewBuilder(m)
		for i := range episodes {
			b.Add(row(i))
		}
		r := b.Report()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		runtime.KeepAlive(r)
		runtime.KeepAlive(b)
		return s.HeapAlloc
	}
	more := testkit.SlowN(8_000, 20_000)
	few, many := inUse(20_000), inUse(20_000+more)
	each := float64(many-few) / float64(more)
	t.Logf("%.0f bytes an episode of %d turns; %.1f and %.1f MB in all", each, turns, float64(few)/1e6, float64(many)/1e6)
	require.Less(t, each, 700.0)
	require.Positive(t, each)
}

// Floor: making the rows, which the generator's own benchmark measures. Each turn is
// read once and leaves 8 bytes, an episode about 400.
func BenchmarkBuilder(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 200_000} {
		m, row := stream(n, 5)
		b.Run(fmt.Sprintf("turns=%d", 5*n), func(b *testing.B) {
			b.ReportAllocs()
			var heap peakHeap
			for b.Loop() {
				builder := NewBuilder(m)
				for i := range n {
					builder.Add(row(i))
					if i%1000 == 0 {
						heap.look()
					}
				}
				builder.Report()
				heap.look()
			}
			b.ReportMetric(float64(heap.most)/(1<<20), "peak-MB")
			b.ReportMetric(float64(5*n*b.N)/b.Elapsed().Seconds(), "turns/s")
		})
		b.Run(fmt.Sprintf("rows-alone=%d", 5*n), func(b *testing.B) {
			for b.Loop() {
				for i := range n {
					row(i)
				}
			}
		})
	}
}

// Floor: the bytes of report.json and junit.xml.
func BenchmarkWriteMillionTurns(b *testing.B) {
	m, row := stream(200_000, 5)
	builder := NewBuilder(m)
	for i := range 200_000 {
		builder.Add(row(i))
	}
	r := builder.Report()
	dir := b.TempDir()
	b.ReportAllocs()
	var heap peakHeap
	for b.Loop() {
		for _, f := range renderers() {
			file, err := os.Create(filepath.Join(dir, f.name))
			if err != nil {
				b.Fatal(err)
			}
			if err := errors.Join(f.render(looking{file, &heap}, r), file.Close()); err != nil {
				b.Fatal(err)
			}
			heap.look()
			info, err := os.Stat(file.Name())
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/(1<<20), f.name+"-MB")
		}
	}
	b.ReportMetric(float64(heap.most)/(1<<20), "peak-MB")
}

// Floor: read eight columns of the episodes and six of the turns, and sort one
// candidate's 50,000 durations. A trend reads up to 199 runs, two at a time.
func BenchmarkFigures(b *testing.B) {
	m, row := stream(10_000, 5)
	dir := b.TempDir()
	w, err := ledger.NewWriter(dir)
	require.NoError(b, err)
	for i := range 10_000 {
		require.NoError(b, w.Append(row(i)))
	}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if list, err := model.ReadTrendRuns(dir, m); err != nil || len(list) != 1 || list[0].Scored != 10_000 {
			b.Fatal(list, err)
		}
	}
}
