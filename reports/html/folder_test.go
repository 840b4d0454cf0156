package html

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/plot"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// tell makes up the messages of an episode: a system prompt of 4 KB, outputs of 600
// bytes. The same episode has the same messages.
func tell(r model.Report) DetailOf {
	system := strings.Repeat("You answer questions about counts with one JSON object a turn.\n", 66)
	return func(e model.Episode) (transcript.Detail, bool) {
		d := transcript.Detail{System: "You are " + e.Candidate + ".\n" + system, Answer: "There were 427 angry messages on 2026-05-13."}
		for i := range max(e.Steps, 1) {
			output, err := json.Marshal(map[string]any{
				"thought": strings.Repeat("The day is known, so the counts can be asked for. ", 8), "plan": []string{"ask for the range", "ask for the counts", "answer"},
				"next_action": map[string]any{"type": "tool", "name": "get_counts", "args": map[string]any{"date": "2026-05-13", "label": "angry", "turn": i}},
			})
			if err != nil {
				return d, false
			}
			t := transcript.DetailTurn{Turn: i + 1, Output: string(output), Prompt: []transcript.Message{{Role: "user", Text: "How many angry messages on 13 May?"}}}
			if i > 0 {
				t.Prompt = []transcript.Message{{Role: "assistant", Text: d.Turns[i-1].Output}, {Role: "user", Text: d.Turns[i-1].Steps[0].Result}}
			}
			t.Steps = []transcript.DetailStep{{Tool: "get_counts", Args: `{"date":"2026-05-13","label":"angry"}`, Result: fmt.Sprintf(`{"count":%d,"from":"2026-05-13","to":"2026-05-13"}`, 400+i), Outcome: "ok"}}
			d.Turns = append(d.Turns, t)
		}
		return d, true
	}
}

// written returns the files of a report's folder, by path.
func written(t *testing.T, r model.Report, details DetailOf) map[string]string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, newFolder(r, plot.Inline).write(filepath.Join(dir, "report"), details))
	return reporttest.Snapshot(t, dir)
}

var linkOf = regexp.MustCompile(` (?:href|src)="([^"]*)"`)

// resolves follows every link of every page to a file and an id.
func resolves(t *testing.T, files map[string]string) (links int) {
	t.Helper()
	have := map[string]map[string]bool{}
	for name, text := range files {
		if path.Ext(name) == ".html" {
			have[name] = reporttest.Ids(t, name, text)
		}
	}
	for name, text := range files {
		if path.Ext(name) != ".html" {
			continue
		}
		for _, m := range linkOf.FindAllStringSubmatch(text, -1) {
			file, id, _ := strings.Cut(m[1], "#")
			to := name
			if file != "" {
				to = path.Join(path.Dir(name), file)
			}
			_, ok := files[to]
			require.True(t, ok || strings.HasPrefix(to, "report/plots/"), "%s links %s", name, m[1])
			require.True(t, id == "" || strings.Contains(id, "=") || have[to][id], "%s links %s: no such id", name, m[1])
			links++
		}
	}
	return links
}

func TestPageIsSelfContained(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2))
	page := reporttest.Render(t, page, r)
	require.Less(t, len(page), 1_500_000)
	reporttest.Inert(t, page)
	require.NotRegexp(t, `<link\b`, page)
	require.Greater(t, resolves(t, map[string]string{"x.html": page}), 480)
	require.Equal(t, len(r.Figures), strings.Count(page, `role="img" aria-label="`))
	require.NotRegexp(t, `#1000[0-9A-F]{2}`, page, "a colour of a plot was not made a variable")
}

func TestFolder(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 12, 2))
	files := written(t, r, tell(r))
	require.Len(t, files, 3+12)
	require.Greater(t, resolves(t, files), 12*8*2)
	for name, text := range files {
		if path.Ext(name) == ".html" {
			reporttest.Inert(t, text)
		}
	}
	require.Equal(t, pageScript, files["report/page.js"])
	require.Equal(t, pageStyle, files["report/page.css"])

	index := files["report/index.html"]
	require.NotContains(t, index, `class="ep`)
	require.Equal(t, 12, strings.Count(index, "<tr data-task="))
	require.Equal(t, 96, strings.Count(index, `<a class="mark `))
	require.Contains(t, index, `href="plots/validity.svg"`)

	page := files["report/tasks/G01.html"]
	require.Equal(t, 8, strings.Count(page, `<details class="ep`))
	require.Equal(t, 4, strings.Count(page, `<details class="fold" id="system-`), "one system prompt for each candidate, not for each episode")
	require.Contains(t, page, `<a href="../index.html#tasks">`)
	require.Contains(t, page, `href="G02.html"`)
	require.Contains(t, page, "&#34;next_action&#34;: {", "JSON is indented")
	require.Contains(t, page, "(the output of the turn before)")
	for _, m := range regexp.MustCompile(`<li class="turn"[^>]*>`).FindAllString(page, -1) {
		require.Regexp(t, `data-key="[^"]+"`, m)
	}
}

// Full details are kept for unsolved episodes, and for the first solved episode of a
// task by a candidate.
func TestFolderTellsWhatMatters(t *testing.T) {
	w := reporttest.NewWorld("a", "b")
	w.Add(3, "t", true, 2, nil)
	w.Add(1, "t", false, 2, func(e *ledger.Episode, _ []ledger.Turn) { e.Candidate, e.EpisodeID = "b", "b1" })
	for i := range 3 {
		w.Rows.Episodes[i].Trial = int32(i + 1)
	}
	r := build(w.M, w.Rows)
	var asked []string
	page := written(t, r, func(e model.Episode) (transcript.Detail, bool) {
		asked = append(asked, e.ID)
		return tell(r)(e)
	})["report/tasks/t.html"]
	require.Equal(t, []string{"e0", "b1"}, asked)
	require.Equal(t, 4, strings.Count(page, `<details class="ep`))
	require.Contains(t, page, "Prompts, outputs and observations come from executing episodes again")
}

func TestWriteRemovesPagesOfEarlierReports(t *testing.T) {
	dir := t.TempDir()
	tasks := filepath.Join(dir, "report", "tasks")
	require.NoError(t, WritePages(filepath.Join(dir, "report"), build(reporttest.Demo(reporttest.DemoProfiles()[:1], 3, 1)), plot.Inline, nil))
	require.NoError(t, os.WriteFile(filepath.Join(tasks, "notes.txt"), []byte("mine"), 0o644))
	require.NoError(t, WritePages(filepath.Join(dir, "report"), build(reporttest.Demo(reporttest.DemoProfiles()[:1], 2, 1)), plot.Inline, nil))
	entries, err := os.ReadDir(tasks)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"G01.html", "G02.html", "notes.txt"}, names, "other files stay")

	// If a link were followed, pages of other people would be removed.
	elsewhere := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "precious.html"), nil, 0o644))
	require.NoError(t, os.RemoveAll(tasks))
	if err := os.Symlink(elsewhere, tasks); err != nil {
		t.Skip("no symbolic links here")
	}
	require.ErrorContains(t, WritePages(filepath.Join(dir, "report"), build(reporttest.Demo(reporttest.DemoProfiles()[:1], 2, 1)), plot.Inline, nil), "is not a folder: remove it")
	require.FileExists(t, filepath.Join(elsewhere, "precious.html"))
}

// Ids of tasks are untrusted. For any ids, files stay in their folder, have names that
// every file system can tell apart, and links lead to them.
func TestHostileTaskIDs(t *testing.T) {
	w := reporttest.NewWorld("a")
	hostile := []string{
		"../../x", "/etc/passwd", `..\..\x`, "con", "CON", "con.html", "a b", "a-b", "A-B", "a?b", "a#b", "a%2Fb", "", ".", "..", "日本語", "日本", strings.Repeat("long", 500),
		strings.Repeat("long", 501), "x\x00y", "x\ny", "<script>alert(1)</script>", `"><img src=x>`, "\u202Egnp", "lpt1", "COM9", "index", "-rf", "é", "e\u0301",
	}
	for _, id := range hostile {
		w.Add(1, id, false, 1, nil)
	}
	r := build(w.M, w.Rows)
	files := written(t, r, tell(r))
	require.Len(t, files, 3+len(hostile))
	resolves(t, files)
	seen := map[string]bool{}
	for name, text := range files {
		require.Regexp(t, `\Areport/(index\.html|page\.(css|js)|tasks/[A-Za-z0-9][A-Za-z0-9_-]{0,47}\.html)\z`, name)
		require.NotRegexp(t, `(?i)/(con|prn|aux|nul|com\d|lpt\d)\.`, name)
		require.False(t, seen[strings.ToLower(name)], name)
		seen[strings.ToLower(name)] = true
		if path.Ext(name) == ".html" {
			reporttest.Inert(t, text)
		}
	}
	require.Equal(t, newFolder(r, plot.Inline).pages, newFolder(r, plot.Inline).pages, "names do not depend on the order of a map")
}

func TestSlugs(t *testing.T) {
	s := slugs{}
	require.Equal(t, "G01", s.of("G01"))
	require.Equal(t, "g01-"+transcript.Digest("g01\x000"), s.of("g01"), "file systems that fold case tell them apart")
	require.Equal(t, "x-"+transcript.Digest("../../x\x000"), s.of("../../x"))
	require.Equal(t, transcript.Digest("日本\x000"), s.of("日本"))
	require.Equal(t, "con-"+transcript.Digest("con\x000"), s.of("con"))
	require.Len(t, s.of(strings.Repeat("a", 4000)), 47)
}

func TestHostileDetails(t *testing.T) {
	const bad = "</pre></bdi></details><script>alert(1)</script><img src=x onerror=alert(2)>\u202Egnp.exe\x1b[2J\x00\xff\r\n\tx"
	r := build(reporttest.Hostile())
	deep := strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000)
	huge := strings.Repeat(bad, 20_000)
	files := written(t, r, func(e model.Episode) (transcript.Detail, bool) {
		d := transcript.Detail{System: huge, Answer: huge}
		for i := range 100 {
			d.Turns = append(d.Turns, transcript.DetailTurn{
				Turn: i, System: bad + fmt.Sprint(i), Output: deep, Failed: huge, Prompt: slices.Repeat([]transcript.Message{{Role: bad, Text: huge}}, 50),
				Steps: slices.Repeat([]transcript.DetailStep{{Tool: bad, Args: huge, Question: bad, Result: huge, Outcome: bad}}, 50),
			})
		}
		return d, true
	})
	for name, text := range files {
		if path.Ext(name) == ".html" {
			reporttest.Inert(t, text)
			reporttest.Lacks(t, text, "alert(1)</script>")
			require.Less(t, len(text), 4<<20, name)
		}
	}
}

func TestFolderIsDeterministic(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 20, 2))
	require.Equal(t, written(t, r, tell(r)), written(t, r, tell(r)))
}

// The test checks the size of the report for a run of 10,000 episodes, and the size for
// each solved episode.
func TestFolderSizes(t *testing.T) {
	for _, c := range []struct {
		name          string
		tasks, trials int
		index         int
	}{{"many tasks", 2000, 1, 2 << 20}, {"some of both", 100, 20, 1 << 20}, {"one task", 1, 2000, 1 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			if c.trials != 20 {
				testkit.Slow(t)
			}
			five := append(reporttest.DemoProfiles(), reporttest.DemoProfiles()[0])
			five[4].Name = "north-mini-again"
			r := build(reporttest.Demo(five, c.tasks, c.trials))
			bare, _ := weigh(t, r, nil)
			all, index := weigh(t, r, tell(r))
			t.Logf("%d bytes, %d of them the index; %d without what was said", all, index, bare)
			require.Less(t, index, c.index)
			require.InDelta(t, 1, float64(newFolder(r, plot.Inline).size)/float64(bare-index), 0.1, "sizes are foreseen")
			require.Greater(t, all-bare, leastSaid/2, "there is something to read")
			require.Len(t, r.Episodes, 10_000)
			require.Less(t, all, 12_000_000)
		})
	}
}

// weigh returns the size of all pages, and of the index.
func weigh(t *testing.T, r model.Report, details DetailOf) (all, index int) {
	t.Helper()
	f := newFolder(r, plot.Inline)
	page, err := f.index()
	require.NoError(t, err)
	var b bytes.Buffer
	for k := range f.order {
		require.NoError(t, f.page(&b, k, details))
		all += b.Len()
		b.Reset()
	}
	return all + len(page), len(page)
}

// A solved episode takes less than a kilobyte for its transcript, its mark and the
// elements around them.
func TestPassingEpisodesAreSmall(t *testing.T) {
	grow := func(trials int) int {
		p := reporttest.DemoProfiles()[0]
		p.Solve = 1
		all, _ := weigh(t, build(reporttest.Demo([]reporttest.Profile{p}, 20, trials)), nil)
		return all
	}
	few, many := grow(2), grow(12)
	require.Less(t, (many-few)/200, 1000)
	t.Logf("%d bytes for each episode more", (many-few)/200)
}

// Floor: 480 transcripts with messages through html/template, and six inline plots. No
// files are written.
func BenchmarkFolder480Episodes(b *testing.B) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 60, 2))
	details := tell(r)
	b.ReportAllocs()
	for b.Loop() {
		f := newFolder(r, plot.Inline)
		if _, err := f.index(); err != nil {
			b.Fatal(err)
		}
		for k := range f.order {
			if err := f.page(io.Discard, k, details); err != nil {
				b.Fatal(err)
			}
		}
	}
}
