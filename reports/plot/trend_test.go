package plot

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/text"
	"github.com/cupel-eval/cupel/reports/trend"
	"github.com/cupel-eval/cupel/reports/view"
)

// trendDemo returns a report of the demo candidates with this number of nights before
// it. From night fall on, the first candidate solves less and is slower; from night 10
// on the suite is another one; on night 5 the second candidate was changed.
func trendDemo(n, nights, fall int) model.Report {
	m, rows := reporttest.Demo(reporttest.DemoProfiles()[:n], 60, 2)
	m.Mode, m.SuiteDigest, m.Started = "live", "s2", time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC).Format(time.RFC3339)
	for i := range m.Candidates {
		m.Candidates[i].Planned, m.Candidates[i].Digest = 120, "now"
	}
	report := build(m, rows)
	rng := rand.New(rand.NewPCG(51, 1))
	var past []trend.Run
	for night := range nights {
		for i, c := range report.Candidates {
			b := binomial{rng}
			steps, cost, latency := 2.9+0.1*rng.Float64(), 5e5*(1+0.1*rng.Float64()), c.Latency.P50*(0.95+0.1*rng.Float64())
			run := trend.Run{
				RunID: fmt.Sprintf("run%02d", night), Candidate: c.Name, Digest: "now", SuiteDigest: "s2",
				Started: time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC).AddDate(0, 0, night-nights),
				Solved:  b.of(120, *c.Success.Value), Scored: 120, Valid: b.of(360, 0.985), Judged: 360, Steps: &steps, CostNanoUSD: &cost, LatencyUs: &latency,
			}
			if night < 10 {
				run.SuiteDigest = "s1"
			}
			if i == 1 && night < 5 {
				run.Digest = "before"
			}
			if i == 0 && night < fall {
				run.Solved = b.of(120, 0.998)
				latency *= 0.7
			}
			past = append(past, run)
		}
	}
	b := newBuilder(m)
	b.SetPast(past, "")
	b.AddAll(rows)
	return b.Report()
}

type binomial struct{ *rand.Rand }

func (b binomial) of(n int, p float64) (k int) {
	for range n {
		if b.Float64() < p {
			k++
		}
	}
	return k
}

func figureNamed(r model.Report, name string) (model.Figure, bool) {
	for _, f := range r.Figures {
		if f.Name == name {
			return f, true
		}
	}
	return model.Figure{}, false
}

func TestTrendFigure(t *testing.T) {
	for name, c := range map[string]struct{ candidates, nights, fall int }{
		"one": {1, 30, 22}, "two": {2, 30, 24}, "four": {4, 59, 50}, "no change": {1, 12, 0}, "two runs": {2, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := trendDemo(c.candidates, c.nights, c.fall)
			f, ok := figureNamed(r, model.FigTrend)
			require.True(t, ok)
			svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
			require.NoError(t, wellFormed(svg))
			require.NotContains(t, svg, "NaN")
			require.NotContains(t, svg, "Inf")
			require.Contains(t, svg, "episodes solved")
			require.Equal(t, c.fall > 0, strings.Contains(svg, "level changed"))
			var b bytes.Buffer
			require.NoError(t, writePNG(&b, r, f))
			img, err := png.Decode(bytes.NewReader(b.Bytes()))
			require.NoError(t, err)
			if *reporttest.DemoDir != "" {
				require.NoError(t, os.MkdirAll(*reporttest.DemoDir, 0o755))
				require.NoError(t, os.WriteFile(filepath.Join(*reporttest.DemoDir, "trend-"+strings.ReplaceAll(name, " ", "-")+".png"), b.Bytes(), 0o644))
			}
			require.True(t, frameIsBlank(img))
		})
	}
}

func TestTrendInWords(t *testing.T) {
	r := trendDemo(1, 30, 27)
	f, _ := figureNamed(r, model.FigTrend)
	require.Regexp(t, `^Share solved of north-mini fell from 99\.\d% to 9[0-4]\.?\d?% on 18 Nov 2026, and 1 more change$`, f.Title)
	require.Regexp(t, `^Trend: 31 runs since 22 Oct 2026; share solved of north-mini fell from .* on 18 Nov 2026 \(alarm on \d+ Nov 2026, evidence [4-9]\.\d+, limit 4\.56\); median turn of north-mini rose from \d+ ms to \d+ ms on 18 Nov 2026`, f.Alt)
	require.Contains(t, f.Alt, "; mean cost of an episode of north-mini now $0.000")
	printed := reporttest.Render(t, text.Markdown, r)
	require.Regexp(t, `(?m)^- Trend, worse: share solved of north-mini fell from .* \(alarm on \d+ Nov 2026\)$`, printed)
	summary := reporttest.Render(t, func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) }, r)
	require.Contains(t, summary, "\ntrend: worse: share solved of north-mini fell from")

	// A change of long ago is not highlighted.
	r = trendDemo(1, 30, 15)
	require.NotEmpty(t, view.Shifts(&r))
	require.NotContains(t, reporttest.Render(t, text.Markdown, r), "Trend,")

	r = trendDemo(1, 12, 0)
	f, _ = figureNamed(r, model.FigTrend)
	require.Equal(t, "No change of trend in 13 runs since 9 Nov 2026", f.Title)
	require.Contains(t, f.Alt, "; no change found; ")

	f, _ = figureNamed(trendDemo(1, 3, 0), model.FigTrend)
	require.Equal(t, "4 runs since 18 Nov 2026 are too few to show a change of trend", f.Title)

	_, ok := figureNamed(build(reporttest.Demo(reporttest.DemoProfiles(), 3, 1)), model.FigTrend)
	require.False(t, ok, "a replay has no trend")
}

// The history is hostile: many changes, invalid names, and extreme values.
func TestTrendOfHostileRuns(t *testing.T) {
	m, rows := reporttest.TimedDemo(t)
	payload := "strong</svg><script>alert(1)</script>\u202Eevil\x1b[2J"
	m.Candidates[0].Name = payload
	for i := range rows.Episodes {
		if rows.Episodes[i].Candidate == "north-mini" {
			rows.Episodes[i].Candidate = payload
		}
	}
	var past []trend.Run
	for i := range 59 {
		for _, c := range m.Candidates {
			huge := 1e-9
			if i/20%2 == 0 {
				huge = 1e15
			}
			past = append(past, trend.Run{
				RunID: fmt.Sprint(payload, i), Started: time.Date(2026, 1, i, 0, 0, 0, 0, time.UTC), Candidate: c.Name, Solved: i / 20 % 2 * 40, Scored: 40,
				Valid: 1, Judged: 1, Steps: &huge, CostNanoUSD: &huge, LatencyUs: &huge, Digest: fmt.Sprint(i), SuiteDigest: fmt.Sprint(i),
			})
		}
	}
	b := newBuilder(m)
	b.SetPast(past, "unreadable: "+payload)
	b.AddAll(rows)
	r := b.Report()
	require.Greater(t, len(view.Shifts(&r)), 20)
	f, _ := figureNamed(r, model.FigTrend)
	svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
	require.NoError(t, wellFormed(svg))
	for name, out := range map[string]string{"svg": svg, "title": f.Title, "alt": f.Alt, "markdown": reporttest.Render(t, text.Markdown, r), "html": reporttest.Render(t, func(w io.Writer, r model.Report) error { return html.Page(w, r, Inline) }, r)} {
		if name != "title" && name != "alt" { // renderers escape these
			reporttest.Lacks(t, out, "<script>alert")
		}
		require.Equal(t, -1, strings.IndexFunc(strings.NewReplacer("\n", "", "\t", "").Replace(out), reporttest.Hidden), name)
	}
	require.Less(t, len(f.Alt), 6000)
}

// Candidates beyond the limit are omitted, those without a change first.
func TestTrendOfManyCandidates(t *testing.T) {
	var list []reporttest.Profile
	for i := range 12 {
		p := reporttest.DemoProfiles()[0]
		p.Name = fmt.Sprintf("candidate-%02d", i)
		list = append(list, p)
	}
	r := build(reporttest.Demo(list, 3, 1))
	for i := range list {
		s := trend.Series{Candidate: list[i].Name, Metric: trend.Solved, Points: []trend.Point{{RunID: "a", Value: 0.5}, {RunID: "b", Value: 0.6}}}
		if i == 11 {
			s.Changes = []trend.Change{{At: 1, Before: 0.5, After: 0.6}}
		}
		r.Trend = append(r.Trend, s)
	}
	svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, model.Figure{Name: model.FigTrend}) }, r)
	require.Contains(t, svg, "candidate-11")
	require.Contains(t, svg, "candidate-06")
	require.NotContains(t, svg, "candidate-07")
}

func TestTrendTicks(t *testing.T) {
	for _, c := range []struct {
		metric    string
		low, high float64
	}{
		{trend.Solved, 0, 1}, {trend.Solved, 1, 1}, {trend.Solved, 0.971, 0.972}, {trend.Steps, 3, 3}, {trend.Steps, 2.1, 9}, {trend.Cost, 0, 0}, {trend.Cost, 1e5, 9e12},
		{trend.Latency, 0.5, 3.6e9}, {trend.Latency, 400_000, 400_001},
	} {
		for _, m := range view.TrendMetrics() {
			if m.Name != c.metric {
				continue
			}
			a := trendAxis(m, c.low, c.high)
			require.GreaterOrEqual(t, len(a.ticks), 2, "%v", c)
			require.LessOrEqual(t, len(a.ticks), 6, "%v", c)
			require.Less(t, a.low, a.high)
			require.LessOrEqual(t, a.low, c.low)
			require.GreaterOrEqual(t, a.high, c.high)
			require.GreaterOrEqual(t, a.ticks[0].value, a.low-1e-9)
		}
	}
}
