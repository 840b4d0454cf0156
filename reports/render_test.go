package reports

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/text"
)

type renderer struct {
	name   string
	render func(io.Writer, model.Report) error
}

func renderers() []renderer {
	return []renderer{
		{"index.html", HTML}, {"report.md", text.Markdown}, {"junit.xml", text.JUnit}, {"report.json", text.JSON},
		{"summary.txt", func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{Width: 80}) }},
		{"plain.txt", func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{}) }},
	}
}

// Goldens come from a synthetic run of four candidates on six tasks; rewrite
// them with: go test ./reports -run Golden -update
func TestGolden(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	for _, c := range renderers() {
		if c.name == "index.html" {
			continue // people inspect it, see -demo; its parts are tested below
		}
		t.Run(c.name, func(t *testing.T) {
			got, path := reporttest.Render(t, c.render, r), filepath.Join("testdata", c.name)
			if testkit.Update() {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

func TestHostileText(t *testing.T) {
	r := Build(reporttest.Hostile())
	for _, c := range renderers() {
		t.Run(c.name, func(t *testing.T) {
			out := reporttest.Render(t, c.render, r)
			if c.name == "report.json" {
				reporttest.Lacks(t, out, "<script")
				require.True(t, json.Valid([]byte(out)))
				return
			}
			require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), reporttest.Hidden), "raw control or direction characters")
			switch c.name {
			case "summary.txt", "plain.txt":
				return
			}
			reporttest.Lacks(t, out, "<img")
			reporttest.Lacks(t, out, "alert(1)</script>")
			require.Less(t, len(out), 300_000, "huge strings are bounded")
		})
	}
	page := reporttest.Render(t, HTML, r)
	reporttest.Inert(t, page)
	text := reporttest.Render(t, text.Markdown, r)
	for _, raw := range []string{"](", "@everyone", "http://evil", "www.evil", "<script", "](javascript"} {
		reporttest.Lacks(t, text, raw)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "Clarifying") {
			require.Equal(t, 8, strings.Count(line, "|"), line)
		}
	}
}

func TestBigRunStaysSmall(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 400, 5)
	for i := range rows.Episodes {
		rows.Episodes[i].Answer = strings.Repeat("&", 2000)
		rows.Episodes[i].Checks = append(rows.Episodes[i].Checks, ledger.Check{Name: "x", Detail: strings.Repeat("<", 2000)})
	}
	r := Build(m, rows)
	page := reporttest.Render(t, HTML, r)
	require.Less(t, len(page), 2_500_000)
	require.True(t, strings.Contains(page, "transcripts are left out, solved ones first"))
	text := reporttest.Render(t, text.Markdown, r)
	require.Less(t, len(text), 60_000)
	require.Equal(t, strings.Count(text, "<details>"), strings.Count(text, "</details>"))
}

func TestMarkdownOfManyCandidatesIsCut(t *testing.T) {
	var list []reporttest.Profile
	for i := range 150 {
		p := reporttest.DemoProfiles()[i%4]
		p.Name = fmt.Sprintf("candidate-%d", i)
		list = append(list, p)
	}
	text := reporttest.Render(t, text.Markdown, Build(reporttest.Demo(list, 3, 1)))
	require.Less(t, len(text), 60_000)
	require.Regexp(t, `\n[\d,]+ lines left out to stay below the size of a comment`, text[len(text)-200:])
	require.Equal(t, strings.Count(text, "<details>"), strings.Count(text, "</details>"))
}

func TestMarkdownPutsTheVerdictFirst(t *testing.T) {
	out := reporttest.Render(t, text.Markdown, Build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2)))
	require.True(t, strings.HasPrefix(out, "### ✗ Rejected: "), out[:60])
}

func TestJSONHoldsNullForUnknown(t *testing.T) {
	var got struct {
		Format     int
		Verdict    string
		Candidates []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(reporttest.Render(t, text.JSON, Build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1)))), &got))
	require.Equal(t, 2, got.Format)
	cost, present := got.Candidates[3]["cost_nanousd"]
	require.True(t, present)
	require.Nil(t, cost)
	require.NotNil(t, got.Candidates[0]["cost_nanousd"])
}

func TestSummaryFitsItsWidth(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles(), 60, 2)
	for _, width := range []int{80, 120} {
		for line := range strings.Lines(reporttest.Render(t, func(w io.Writer, r model.Report) error { return text.Summary(w, r, text.Screen{Width: width}) }, Build(m, rows))) {
			require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), width, line)
		}
	}
}

// The same report gives the same bytes, with one processor and with many, one at a time
// and in parallel.
func TestDeterministic(t *testing.T) {
	m, rows := reporttest.Demo(reporttest.DemoProfiles()[:2], 6, 1)
	all := func() (outs []string) {
		r := Build(m, rows)
		for _, c := range renderers() {
			outs = append(outs, reporttest.Render(t, c.render, r))
		}
		return outs
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := all()
	runtime.GOMAXPROCS(8)
	results := make(chan []string, 2)
	for range cap(results) {
		go func() { results <- all() }()
	}
	for range cap(results) {
		got := <-results
		for i := range want {
			require.True(t, want[i] == got[i], "output %d differs", i)
		}
	}
}

func TestEmptyRun(t *testing.T) {
	for name, m := range map[string]manifest.Manifest{"nothing": {}, "candidates without rows": reporttest.NewWorld("", "a", "b").M} {
		r := Build(m, ledger.Rows{})
		require.Equal(t, stat.Inconclusive, r.Verdict, name)
		for _, c := range renderers() {
			require.NotEmpty(t, reporttest.Render(t, c.render, r))
		}
		require.Empty(t, r.Figures, "nothing was measured")
		require.NotContains(t, reporttest.Render(t, HTML, r), `id="plots"`)
	}
}

func TestWrite(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 3, 1))
	dir := t.TempDir()
	require.NoError(t, Write(dir, r, nil))
	first := reporttest.Snapshot(t, dir)
	require.Len(t, first, 6+len(r.Figures)+3, "the index, its style and script, three more formats, a file a figure, three tasks")
	require.NoError(t, Write(dir, r, nil))
	require.NoError(t, WritePNGs(dir, r))
	require.Len(t, reporttest.Snapshot(t, dir), len(first)+len(r.Figures))
	require.NoError(t, Write(dir, r, nil))
	require.Equal(t, first, reporttest.Snapshot(t, dir), "a second write leaves the same bytes and nothing else")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	require.ErrorContains(t, Write(filepath.Join(dir, "file"), r, nil), "reports: ")

	path := filepath.Join(dir, "report", "report.md")
	before := first["report/report.md"]
	boom := errors.New("boom")
	require.ErrorIs(t, atomicfile.Render(path, func(w io.Writer) error { _, _ = w.Write([]byte("half")); return boom }), boom)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, string(after), "a failed render leaves the old file")
}

func TestRenderersReportWriteErrors(t *testing.T) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles()[:1], 2, 1))
	for _, c := range renderers() {
		require.ErrorIs(t, c.render(reporttest.Broken{}, r), io.ErrClosedPipe, c.name)
	}
}

// Floor: six plots and 480 transcripts through html/template.
func BenchmarkHTML480Episodes(b *testing.B) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2))
	b.ReportAllocs()
	for b.Loop() {
		if err := HTML(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}
