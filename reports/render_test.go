package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
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
)

var update = flag.Bool("update", false, "rewrite testdata/*")

type renderer struct {
	name   string
	render func(io.Writer, Report) error
}

func renderers() []renderer {
	return []renderer{
		{"index.html", HTML}, {"report.md", Markdown}, {"junit.xml", JUnit}, {"report.json", JSON},
		{"summary.txt", func(w io.Writer, r Report) error { return Summary(w, r, 80) }},
		{"plain.txt", func(w io.Writer, r Report) error { return Summary(w, r, 0) }},
	}
}

func render(t testing.TB, f func(io.Writer, Report) error, r Report) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, f(&b, r))
	return b.String()
}

// Goldens come from a synthetic run of four candidates on six tasks; rewrite
// them with: go test ./reports -run Golden -update
func TestGolden(t *testing.T) {
	r := Build(demo(demoProfiles(), 6, 1))
	for _, c := range renderers() {
		if c.name == "index.html" {
			continue // looked at by people, see -demo; its parts are tested below
		}
		t.Run(c.name, func(t *testing.T) {
			got, path := render(t, c.render, r), filepath.Join("testdata", c.name)
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

// hostile puts payloads into every string a model, a tool or a file name can
// influence.
func hostile() (manifest.Manifest, ledger.Rows) {
	const payload = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202Egnp.exe\x1b[2J\x00\"'`|*_[x](javascript:alert(3)) @everyone #1 www.evil.example http://evil.example ]]> \xff"
	m, rows := demo(demoProfiles()[:2], 3, 1)
	m.RunID, m.Suite, m.CodeVersion = "run"+payload, "suite"+payload, payload
	for i := range m.Candidates {
		c := &m.Candidates[i]
		c.Name, c.Model, c.Provider, c.Agent, c.OutputMode, c.PromptProfile, c.RescueModel = fmt.Sprint(i)+payload, payload, payload, payload, payload+fmt.Sprint(i), payload, payload
	}
	for i := range m.Tasks {
		m.Tasks[i].ID, m.Tasks[i].Title, m.Tasks[i].Tier, m.Tasks[i].Request = m.Tasks[i].ID+payload, payload, payload, payload
	}
	foul := func(k *ledger.Key) {
		k.EpisodeID += payload
		k.TaskID += payload
		k.Candidate = map[string]string{"north-mini": m.Candidates[0].Name, "north-mini-prose": m.Candidates[1].Name}[k.Candidate]
	}
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		foul(&e.Key)
		e.Solved, e.Status, e.StopReason, e.Answer = i%2 == 0, payload, payload, strings.Repeat(payload, 5000)
		e.Checks = []ledger.Check{{Name: payload, Detail: strings.Repeat(payload, 1000)}}
		if i == 1 {
			e.InfraError, e.ErrorKind, e.ErrorText = true, payload, payload
		}
	}
	for i := range rows.Turns {
		u := &rows.Turns[i]
		foul(&u.Key)
		u.Violations, u.NextActionName, u.NextActionType, u.Kind, u.ModelServed, u.Cassette = []string{payload}, payload, payload, payload, payload, payload
		if i%5 == 0 {
			u.ErrorKind = payload
		}
	}
	for i := range rows.ToolCalls {
		foul(&rows.ToolCalls[i].Key)
		rows.ToolCalls[i].ToolName, rows.ToolCalls[i].Outcome, rows.ToolCalls[i].ErrorCode = payload, payload, payload
	}
	return m, rows
}

func TestHostileText(t *testing.T) {
	r := Build(hostile())
	for _, c := range renderers() {
		t.Run(c.name, func(t *testing.T) {
			out := render(t, c.render, r)
			if c.name == "report.json" {
				lacks(t, out, "<script")
				require.True(t, json.Valid([]byte(out)))
				return
			}
			require.Equal(t, -1, strings.IndexFunc(strings.ReplaceAll(out, "\n", ""), hidden), "raw control or direction characters")
			switch c.name {
			case "summary.txt", "plain.txt":
				return
			}
			lacks(t, out, "<img")
			lacks(t, out, "alert(1)</script>")
			require.Less(t, len(out), 300_000, "huge strings are bounded")
		})
	}
	page := render(t, HTML, r)
	inert(t, page)
	text := render(t, Markdown, r)
	for _, raw := range []string{"](", "@everyone", "http://evil", "www.evil", "<script", "](javascript"} {
		lacks(t, text, raw)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "| ") && strings.Contains(line, "Clarifying") {
			require.Equal(t, 8, strings.Count(line, "|"), line)
		}
	}
}

// lacks is NotContains that does not print a whole report.
func lacks(t *testing.T, out, part string) {
	t.Helper()
	if at := strings.Index(out, part); at >= 0 {
		t.Fatalf("found %q in …%s…", part, out[max(0, at-80):min(len(out), at+120)])
	}
}

func TestBigRunStaysSmall(t *testing.T) {
	m, rows := demo(demoProfiles(), 400, 5)
	for i := range rows.Episodes {
		rows.Episodes[i].Answer = strings.Repeat("&", 2000)
		rows.Episodes[i].Checks = append(rows.Episodes[i].Checks, ledger.Check{Name: "x", Detail: strings.Repeat("<", 2000)})
	}
	r := Build(m, rows)
	page := render(t, HTML, r)
	require.Less(t, len(page), 2_500_000)
	require.True(t, strings.Contains(page, "transcripts are left out, solved ones first"))
	text := render(t, Markdown, r)
	require.Less(t, len(text), 60_000)
	require.Equal(t, strings.Count(text, "<details>"), strings.Count(text, "</details>"))
}

func TestMarkdownOfManyCandidatesIsCut(t *testing.T) {
	var list []profile
	for i := range 150 {
		p := demoProfiles()[i%4]
		p.Name = fmt.Sprintf("candidate-%d", i)
		list = append(list, p)
	}
	text := render(t, Markdown, Build(demo(list, 3, 1)))
	require.Less(t, len(text), 60_000)
	require.Regexp(t, `\n[\d,]+ lines left out to stay below the size of a comment`, text[len(text)-200:])
	require.Equal(t, strings.Count(text, "<details>"), strings.Count(text, "</details>"))
}

func TestMarkdownPutsTheVerdictFirst(t *testing.T) {
	out := render(t, Markdown, Build(demo(demoProfiles(), 60, 2)))
	require.True(t, strings.HasPrefix(out, "### ✗ Rejected: "), out[:60])
}

func TestJUnitCounts(t *testing.T) {
	m, rows := demo(demoProfiles(), 60, 2)
	var got junitSuites
	require.NoError(t, xml.Unmarshal([]byte(render(t, JUnit, Build(m, rows))), &got))
	require.Equal(t, 480, got.Tests)
	failures, infra := 0, 0
	for _, e := range rows.Episodes {
		if e.InfraError {
			infra++
		} else if !e.Solved {
			failures++
		}
	}
	require.Equal(t, failures, got.Failures)
	require.Equal(t, infra, got.Errors)
	require.Len(t, got.Suites, 4)
	for _, s := range got.Suites {
		require.Len(t, s.Cases, 120)
		for _, c := range s.Cases {
			require.False(t, c.Failure != nil && c.Error != nil)
		}
	}
}

func TestJSONHoldsNullForUnknown(t *testing.T) {
	var got struct {
		Format     int
		Verdict    string
		Candidates []map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(render(t, JSON, Build(demo(demoProfiles(), 6, 1)))), &got))
	require.Equal(t, 2, got.Format)
	cost, present := got.Candidates[3]["cost_nanousd"]
	require.True(t, present)
	require.Nil(t, cost)
	require.NotNil(t, got.Candidates[0]["cost_nanousd"])
}

func TestSummaryFitsItsWidth(t *testing.T) {
	m, rows := demo(demoProfiles(), 60, 2)
	for _, width := range []int{80, 120} {
		for line := range strings.Lines(render(t, func(w io.Writer, r Report) error { return Summary(w, r, width) }, Build(m, rows))) {
			require.LessOrEqual(t, len([]rune(strings.TrimRight(line, "\n"))), width, line)
		}
	}
}

// Same report, same bytes, on one processor and on many, one by one and at once.
func TestDeterministic(t *testing.T) {
	m, rows := demo(demoProfiles()[:2], 6, 1)
	all := func() (outs []string) {
		r := Build(m, rows)
		for _, c := range renderers() {
			outs = append(outs, render(t, c.render, r))
		}
		for _, f := range r.Figures {
			outs = append(outs,
				render(t, func(w io.Writer, r Report) error { return writeSVG(w, r, f) }, r),
				render(t, func(w io.Writer, r Report) error { return writePNG(w, r, f) }, r))
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
	for name, m := range map[string]manifest.Manifest{"nothing": {}, "candidates without rows": newWorld("", "a", "b").m} {
		r := Build(m, ledger.Rows{})
		require.Equal(t, Inconclusive, r.Verdict, name)
		for _, c := range renderers() {
			require.NotEmpty(t, render(t, c.render, r))
		}
		for _, f := range r.Figures {
			require.Contains(t, render(t, func(w io.Writer, r Report) error { return writeSVG(w, r, f) }, r), "no data", f.Name)
		}
		require.Equal(t, len(r.Figures), strings.Count(render(t, HTML, r), ">no data<"))
	}
}

func TestWrite(t *testing.T) {
	r := Build(demo(demoProfiles(), 3, 1))
	dir := t.TempDir()
	require.NoError(t, Write(dir, r, nil))
	first := snapshot(t, dir)
	require.Len(t, first, 6+2*len(r.Figures)+3, "the index, its style and script, three more formats, two files a figure, three tasks")
	require.NoError(t, Write(dir, r, nil))
	require.Equal(t, first, snapshot(t, dir), "a second write leaves the same bytes and nothing else")

	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o644))
	require.ErrorContains(t, Write(filepath.Join(dir, "file"), r, nil), "reports: ")

	path := filepath.Join(dir, "report", "report.md")
	before := first["report/report.md"]
	boom := errors.New("boom")
	require.ErrorIs(t, writeFile(path, func(w io.Writer) error { _, _ = w.Write([]byte("half")); return boom }), boom)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, string(after), "a failed render leaves the old file")
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[rel] = string(text)
		return err
	}))
	return files
}

func TestRenderersReportWriteErrors(t *testing.T) {
	r := Build(demo(demoProfiles()[:1], 2, 1))
	for _, c := range renderers() {
		require.ErrorIs(t, c.render(broken{}, r), io.ErrClosedPipe, c.name)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Floor: six plots and 480 transcripts through html/template.
func BenchmarkHTML480Episodes(b *testing.B) {
	r := Build(demo(demoProfiles(), 60, 2))
	b.ReportAllocs()
	for b.Loop() {
		if err := HTML(io.Discard, r); err != nil {
			b.Fatal(err)
		}
	}
}

// Floor: rasterising six PNG plots.
func BenchmarkPlots(b *testing.B) {
	r := Build(demo(demoProfiles(), 60, 2))
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range r.Figures {
			if err := errors.Join(writeSVG(io.Discard, r, f), writePNG(io.Discard, r, f)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
