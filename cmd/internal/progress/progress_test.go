package progress

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/batching"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
)

func failedEpisode(task, kind, text string) *ledger.Episode {
	return &ledger.Episode{
		Key: ledger.Key{TaskID: task, Candidate: "weak", Trial: 1}, Status: ledger.StatusInfraError, InfraError: true,
		ErrorKind: kind, ErrorText: text,
	}
}

func TestLine(t *testing.T) {
	full := view{
		Progress: harness.Progress{
			Done: 123, Total: 276, InFlight: 16, Outcomes: manifest.Outcomes{Solved: 90, Failed: 33}, LastFailure: failedEpisode("G12", "rate_limit", ""),
			Admission: admission.Snapshot{State: admission.State{Spent: admission.Spend{CostNanoUSD: 1_234_000_000}}},
		},
		rate: 1.9125, cap: 5_000_000_000,
	}
	waiting, free, odd, first, slow, bad, lost := full, full, full, full, full, full, full
	lost.Outcomes = manifest.Outcomes{Solved: 90, Failed: 31, InfraErrors: 2}
	waiting.Admission.Waiting = 3
	free.cap, free.CostNanoUSD, free.CostUnknown = 0, 12_300_000, true
	odd.LastFailure = failedEpisode("G\x1b[2J\u202e", "x\ny", "")
	first.Progress = harness.Progress{Total: 276}
	first.cap, first.rate = 0, 0
	slow.rate = 0.05
	bad.Total = 1_000_000_000
	batched := full
	batched.now, batched.LastFailure = time.Unix(1000, 0), nil
	batched.Batches = []batching.Waits{{Provider: "openai", Batch: "b1", Requests: 1200, Since: time.Unix(900, 0)}, {Provider: "gemini", Batch: "b2", Requests: 1, Since: time.Unix(700, 0)}, {Requests: 3}}
	for _, c := range []struct {
		name  string
		v     view
		width int
		want  string
	}{
		{"all", full, 120, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 16 in flight · 1.9/s · last: G12/weak rate_limit"},
		{"100", full, 100, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 16 in flight · 1.9/s · last: G12/weak…"},
		{"80", full, 80, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 16 in flight"},
		{"50", full, 50, "123/276 · $1.23 of 5.00 · 1m20s left · 1.9/s"},
		{"40", full, 40, "123/276 · $1.23 of 5.00 · 1m20s left"},
		{"20", full, 20, "123/276 · 1m20s left"},
		{"nothing", full, 0, "123/276"},
		{"waiting", waiting, 90, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 16 in flight, 3 waiting"},
		{"batches", batched, 150, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 1,201 requests in 2 batches for 5m, 3 collected · 16 in flight · 1.9/s"},
		{"batches in 90", batched, 90, "123/276 · $1.23 of 5.00 · 1m20s left · 1,201 requests in 2 batches for 5m, 3 collected"},
		{"unknown cost", free, 38, "123/276 · $0.0123+ · 1m20s left"},
		{"untrusted", odd, 120, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 1m20s left · 16 in flight · 1.9/s · last: G [2J /weak x y"},
		{"begun", first, 80, "0/276 · 0 solved, 0 failed · $0.00"},
		{"without result", lost, 80, "123/276 · 90 solved, 31 failed, 2 without result · $1.23 of 5.00 · 1m20s left"},
		{"slow", slow, 80, "123/276 · 90 solved, 33 failed · $1.23 of 5.00 · 51m left · 16 in flight"},
		{"hopeless", bad, 70, "123/1000000000 · 90 solved, 33 failed · $1.23 of 5.00 · 16 in flight"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, c.v.line(c.width))
			if c.width >= 20 {
				require.LessOrEqual(t, utf8.RuneCountInString(c.want), c.width)
			}
		})
	}
	for width := range 130 {
		require.LessOrEqual(t, utf8.RuneCountInString(waiting.line(width)), max(width, 7))
	}
}

// Computed by hand: ten per minute, then two per second, then none.
func TestPace(t *testing.T) {
	start := time.Unix(0, 0)
	p := rate{begun: start}
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	require.Zero(t, p.rate(at(0)))
	require.Zero(t, p.rate(at(9)))
	for i := range 10 {
		p.ended(at(float64(6 * (i + 1))))
	}
	require.InDelta(t, 5.0/30, p.rate(at(60)), 1e-9, "those at 36, 42, … 60")
	for i := range 60 {
		p.ended(at(60 + float64(i+1)/2))
	}
	require.InDelta(t, 2, p.rate(at(90)), 1e-9, "what was slow is out of the window")
	require.InDelta(t, 70.0/200, p.rate(at(200)), 1e-9, "none in the window: of the whole run")

	// Of a fast run only the last ones are stored.
	for i := range 10_000 {
		p.ended(at(300 + float64(i+1)/1000))
	}
	require.InDelta(t, 1000, p.rate(at(310)), 1)
	require.LessOrEqual(t, len(p.at), rateMost)

	young := rate{begun: start}
	for i := range 4 {
		young.ended(at(float64(i + 1)))
	}
	require.InDelta(t, 1, young.rate(at(4)), 1e-9, "the window begins with the run")
}

// Episodes that ended before the run was resumed do not count in its rate.
func TestResumedEpisodesAreNoPace(t *testing.T) {
	start := time.Unix(0, 0)
	g := &Display{out: io.Discard, now: func() time.Time { return start }}
	g.Watch(harness.Progress{Done: 100, Total: 120, Resumed: 100})
	require.Empty(t, g.view().left())
	start = start.Add(10 * time.Second)
	for i := range 5 {
		g.Episode(harness.Progress{Done: 101 + i, Total: 120, Resumed: 100})
	}
	require.Equal(t, "30.0/min", g.view().rateText())
	require.Equal(t, "30s left", g.view().left())
}

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		40 * time.Millisecond: "40ms", 1520 * time.Millisecond: "1.5s", 80*time.Second + 400*time.Millisecond: "1m20s",
		12 * time.Second: "12s", 2*time.Hour + 5*time.Minute + 10*time.Second: "2h5m", 0: "0s",
	} {
		require.Equal(t, want, brief(d))
	}
}

// The log of a run with every kind of line, with a test clock.
func TestPlainLines(t *testing.T) {
	now := time.Unix(0, 0)
	var out strings.Builder
	g := &Display{out: &out, stderr: &out, now: func() time.Time { return now }}
	var s harness.Progress
	watch := func(c *admission.Change) {
		state := s
		state.Change = c
		g.Watch(state)
	}
	end := func(e ledger.Episode) {
		now = now.Add(time.Second)
		s.Done++
		e.AddTo(&s.Outcomes)
		s.Last = e
		g.Episode(s)
	}
	s = harness.Progress{Total: 40, Done: 10, Resumed: 10}
	watch(nil)
	watch(&admission.Change{Provider: "p", Lane: 1, Limit: 8, Why: admission.Start})
	for range 4 {
		end(ledger.Episode{Solved: true})
	}
	watch(&admission.Change{Provider: "p", Lane: 1, Limit: 4, Why: admission.RateLimit})
	watch(&admission.Change{Provider: "p", Lane: 1, Limit: 5, Why: admission.Recovered})
	watch(&admission.Change{Provider: "p", Lane: 2, Limit: 4, At: now, Until: now.Add(3 * time.Second), Why: admission.Overloaded})
	watch(&admission.Change{Provider: "p", Lane: 1, Limit: 5, At: now, Until: now.Add(time.Minute), Gap: 120 * time.Millisecond, Why: admission.Header})
	end(*failedEpisode("G1", "rate_limit", "slow\n::error::down"+strings.Repeat("x", 300)))
	end(*failedEpisode("G2", "rate_limit", "again"))
	now = now.Add(27 * time.Second)
	watch(nil)
	s.InFlight, s.Admission.Waiting = 3, 2
	now = now.Add(time.Second)
	watch(nil)
	watch(nil)
	s.Stopping = "the cap of the run"
	for i := range 30 {
		watch(&admission.Change{Provider: "q", Lane: 1, Limit: 100 - i, Why: admission.RateLimit})
	}
	end(ledger.Episode{})
	g.Finish()
	want := `14/40 episodes · 4 solved, 0 failed · $0.00 · 26s left · 1.0/s
p: 4 requests in parallel, was 8 (rate_limit)
p key 2: paused for 3s (overloaded)
p: requests 120ms apart for 1m (header)
G1/weak/1: rate_limit: slow ::error::down` + strings.Repeat("x", 181) + `…
16/40 episodes · 4 solved, 0 failed, 2 without result · $0.00 · 2m20s left · 3 in flight, 2 waiting · 10.6/min
no more episodes start: the cap of the run
`
	for i := range 16 {
		want += fmt.Sprintf("q: %d requests in parallel, was %d (rate_limit)\n", 99-i, 100-i)
	}
	want += "and 13 more failures and lowered limits, see limits.jsonl of the run\n" +
		"17/40 episodes · 4 solved, 1 failed, 2 without result · $0.00 · 35s\n"
	require.Equal(t, want, out.String())
}

// A run that is shorter than the gap between lines prints one line.
func TestFastRunsAreOneLine(t *testing.T) {
	now := time.Unix(0, 0)
	var out strings.Builder
	g := &Display{out: &out, stderr: &out, now: func() time.Time { return now }}
	s := harness.Progress{Total: 400}
	g.Watch(s)
	for range 400 {
		now = now.Add(time.Millisecond)
		s.Done++
		g.Episode(s)
	}
	g.Finish()
	require.Equal(t, "400/400 episodes · 0 solved, 0 failed · $0.00 · 400ms\n", out.String())
}

// A run that did not start prints no summary.
func TestNothingBegan(t *testing.T) {
	var out strings.Builder
	g := &Display{out: &out, stderr: &out, now: time.Now}
	g.Finish()
	require.Empty(t, out.String())
	n, err := g.Write([]byte("hello\n"))
	require.NoError(t, err)
	require.Equal(t, 6, n)
	require.Equal(t, "hello\n", out.String())
}

// BenchmarkShow measures the cost of the display per episode in a log. The lower bound is reading a
// clock.
func BenchmarkShow(b *testing.B) {
	g := &Display{out: io.Discard, now: time.Now}
	s := harness.Progress{Total: 1 << 30}
	g.Watch(s)
	b.ReportAllocs()
	for b.Loop() {
		s.Done++
		g.Episode(s)
	}
}
