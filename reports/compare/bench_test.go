package compare

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

// Floor: one hash of the words and arguments of each turn, and one copy of the id. The
// record itself is about 130 bytes, and 8 for each turn.
func BenchmarkAdd(b *testing.B) {
	for _, turns := range []int{3, 30} {
		b.Run(fmt.Sprintf("turns=%d", turns), func(b *testing.B) {
			p := plan{candidate: "a", tasks: 1, trials: 1}
			rows := p.rows("T00", 1)
			for len(rows.Turns) < turns {
				n := len(rows.Turns) + 1
				rows.Turns = append(rows.Turns, turn(rows.Episode.Key, n, "tool", "get_counts"))
				rows.ToolCalls = append(rows.ToolCalls, ledger.ToolCall{Turn: int32(n), ToolName: "get_counts", ArgsHash: "cc"})
			}
			m := p.manifest()
			var builder *Builder
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if i%100_000 == 0 {
					builder = NewBuilder([]manifest.Manifest{m}, m, []Names{{"a", "a"}}, Rules{})
				}
				builder.AddNew(rows)
			}
		})
	}
}

// Floor: draw 9,999 signs for each task that differs, for each metric whose values are
// not whole numbers; sort the tasks by name; run Fisher's test for each task.
func BenchmarkComparison(b *testing.B) {
	for _, c := range [][2]int{{60, 4}, {1000, 10}, {30_000, 5}} {
		b.Run(fmt.Sprintf("tasks=%d/trials=%d", c[0], c[1]), func(b *testing.B) {
			base, newer := sized("a", c[0], c[1]), sized("b", c[0], c[1])
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				builder := NewBuilder([]manifest.Manifest{base.manifest()}, newer.manifest(), []Names{{"a", "b"}}, Rules{})
				base.each(builder.addBaseline)
				newer.each(builder.AddNew)
				b.StartTimer()
				finished(builder)
			}
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N*2*c[0]*c[1]), "ns/episode")
		})
	}
}

// sized returns a plan in which a fifth of the tasks is flaky and the turns have
// latencies.
func sized(candidate string, tasks, trials int) plan {
	flaky := flips(uint64(len(candidate)+tasks), func(task int) float64 {
		if task%5 == 0 {
			return 0.7
		}
		return 1
	})
	return plan{candidate: candidate, tasks: tasks, trials: trials, episode: func(task, trial int, rows *ledger.EpisodeRows) {
		flaky(task, trial, rows)
		*rows.Turns[0].DurationUs += int64(task*trial*7919%100_000) * int64(candidate[0])
	}}
}

// What a builder keeps does not depend on the size of the rows: 300,000 episodes of
// five turns take 60 MB for each side.
func TestMemoryPerEpisode(t *testing.T) {
	p := plan{candidate: "a", tasks: 500, trials: 20}
	b := NewBuilder([]manifest.Manifest{p.manifest()}, p.manifest(), []Names{{"a", "a"}}, Rules{})
	heap := func() uint64 {
		var s runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	before := heap()
	p.each(func(rows ledger.EpisodeRows) {
		rows.Episode.Answer = string(make([]byte, 2000))
		b.AddNew(rows)
	})
	each := float64(heap()-before) / float64(p.tasks*p.trials)
	runtime.KeepAlive(b)
	t.Logf("%.0f bytes an episode of three turns", each)
	require.Less(t, each, 300.0)
}
