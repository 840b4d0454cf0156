//go:build unix

package reports

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// TestPagesInABrowser uses the pages as people do: with a pointer, with a
// keyboard, on a phone, on paper, in the dark, without scripts.
func TestPagesInABrowser(t *testing.T) {
	p := startBrowser(t)
	d := newDesk(t)
	for i, part := range []struct {
		name string
		test func(*tab, desk)
	}{
		{"phone", testPhone},
		{"hostile comparison", testHostileComparison},
		{"filter", testFilter},
		{"sort", testSort},
		{"the state is in the address", testShared},
		{"open a transcript by pointer", testOpenByPointer},
		{"open a transcript by keyboard", testOpenByKeyboard},
		{"compare two episodes", testSideBySide},
		{"dark and light", testColours},
		{"paper", testPaper},
		{"keyboard reaches all", testKeyboard},
		{"names and headings", testNames},
		{"without scripts", testWithoutScripts},
		{"the single page", testSinglePage},
		{"twelve candidates", testTwelveCandidates},
		{"comparison", testComparison},
		{"hostile names and texts", func(p *tab, d desk) { testHostile(p, d, true) }},
		{"hostile words", func(p *tab, d desk) { testHostile(p, d, false) }},
		{"10,000 episodes of few tasks", testManyTrials},
		{"10,000 episodes of many tasks", testManyTasks},
	} {
		t.Run(part.name, func(t *testing.T) {
			if i >= 3 { // the first three are the sample
				testkit.Slow(t)
			}
			part.test(p.fresh(t), d)
		})
	}
}

// desk is the report that the browser opens.
type desk struct {
	r     model.Report
	dir   string   // of the pages
	index string   // path of index.html
	tasks []string // paths of the tasks' pages
	// compare is the path of a comparison's page.
	compare string
}

// orchestrate gives each episode a sub-agent with a task that failed, and a request.
func orchestrate(rows ledger.Rows) {
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		e.Requests = []work.Request{{SubAgent: "bg_1", Tool: "delete", Kind: "approval", Severity: "destructive", Message: "May it be deleted?", Say: "deny", Text: "No.", TsAsked: e.TsStart}}
		e.Tasks = []work.Task{{ID: "count", Plan: 1, Kind: "delegate", Title: "Count", SubAgent: "bg_1", State: "failed", Reason: "max_turns", TsStart: new(e.TsStart)}}
	}
	for i := range rows.Turns {
		if t := &rows.Turns[i]; t.Turn > 1 {
			t.SubAgent = "bg_1"
		}
	}
}

func newDesk(t *testing.T) desk {
	t.Helper()
	profiles := reporttest.DemoProfiles()
	profiles[2].Infra = 19
	m, rows := reporttest.Demo(profiles, 12, 2)
	for i := range m.Tasks {
		m.Tasks[i].Request, m.Tasks[i].Tags = "How many angry messages were there today?", []string{"counting"}
	}
	orchestrate(rows)
	d := desk{r: Build(m, rows), dir: filepath.Join(t.TempDir(), "report")}
	require.NoError(t, Write(filepath.Dir(d.dir), d.r, said))
	d.index = filepath.Join(d.dir, "index.html")
	var err error
	d.tasks, err = filepath.Glob(filepath.Join(d.dir, "tasks", "*.html"))
	require.NoError(t, err)
	require.Len(t, d.tasks, 12)
	d.compare = writeComparison(t, d.dir, reporttest.ShownComparison(), reporttest.SidesFixture)
	return d
}

// pages has one page of each kind.
func (d desk) pages() map[string]string {
	return map[string]string{"index": d.index, "task": d.tasks[0], "comparison": d.compare}
}

// said makes up the messages of an episode.
func said(e model.Episode) (transcript.Detail, bool) {
	d := transcript.Detail{System: "You count messages.\nReply in JSON.", Answer: "There were 427 angry messages on 2026-05-13."}
	for i := range e.Steps {
		turn := transcript.DetailTurn{Turn: i + 1, Prompt: []transcript.Message{{Role: "user", Text: "How many angry messages were there today?"}}, Output: `{"next_action": {"type": "tool", "name": "get_counts"}}`}
		if i+1 < e.Steps {
			turn.Steps = []transcript.DetailStep{{Tool: "get_counts", Args: `{"label": "angry"}`, Result: `{"count": 427}`, Outcome: "ok"}}
		}
		d.Turns = append(d.Turns, turn)
	}
	return d, true
}

// shownTasks returns the ids of the visible rows, from the top.
func shownTasks(p *tab) []string {
	p.t.Helper()
	return eval[[]string](p, `[...document.querySelectorAll("#tasks tbody tr[data-task]")].filter(r => r.checkVisibility()).map(r => r.dataset.task)`)
}

// tasksWhere returns the ids of tasks with a cell of this kind.
func tasksWhere(r model.Report, like func(model.Cell) bool) (ids []string) {
	for _, t := range r.Tasks {
		if slices.ContainsFunc(t.Cells, like) {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func testFilter(p *tab, d desk) {
	p.open(d.index, "")
	require.Len(p.t, shownTasks(p), len(d.r.Tasks))
	require.Contains(p.t, eval[string](p, `document.querySelector("#shown").textContent`), "12 of 12")

	p.click("#find")
	p.write("dates")
	p.until(`document.querySelector("#shown").textContent.startsWith("1 of 12")`)
	require.Equal(p.t, []string{"G04"}, shownTasks(p), "titles are searched")
	require.Equal(p.t, "polite", eval[string](p, `document.querySelector("#shown").ariaLive`))
	p.press("Control+a")
	p.write("G1")
	p.until(`document.querySelector("#shown").textContent.startsWith("3 of 12")`)
	require.ElementsMatch(p.t, []string{"G10", "G11", "G12"}, shownTasks(p), "ids are searched, in any case of letters")
	p.press("Control+a", "Backspace")

	failed := tasksWhere(d.r, func(c model.Cell) bool { return c.Scored > 0 && c.Solved == 0 })
	mixed := tasksWhere(d.r, func(c model.Cell) bool { return c.Solved > 0 && c.Solved < c.Scored })
	lost := tasksWhere(d.r, func(c model.Cell) bool { return len(c.Episodes) > c.Scored })
	var solved []string
	for _, t := range d.r.Tasks {
		if !slices.Contains(slices.Concat(failed, mixed, lost), t.ID) {
			solved = append(solved, t.ID)
		}
	}
	for _, c := range []struct {
		outcome string
		want    []string
	}{{"failed", failed}, {"mixed", mixed}, {"solved", solved}, {"no-result", lost}} {
		require.NotEmpty(p.t, c.want, "the run has no task that is %s", c.outcome)
		p.pick("#outcome", c.outcome)
		p.until(`document.querySelector("#shown").textContent.startsWith(%s)`, fmt.Sprintf("%d of 12", len(c.want)))
		require.ElementsMatch(p.t, c.want, shownTasks(p), c.outcome)
	}
	p.pick("#outcome", "")
	p.until(`document.querySelector("#shown").textContent.startsWith("12 of 12")`)
	p.click("#find")
	p.write("no such task")
	p.until(`document.querySelector("#shown").textContent.startsWith("0 of 12")`)
	require.Empty(p.t, shownTasks(p))
}

func testSort(p *tab, d desk) {
	p.open(d.index, "")
	rates := func() (column []float64) {
		return eval[[]float64](p, `[...document.querySelectorAll("#tasks tbody tr[data-task]")].map(r => +(r.querySelectorAll("td")[3].dataset.rate ?? -1))`)
	}
	state := func() string {
		return eval[string](p, `[...document.querySelectorAll("#tasks th[aria-sort]")].map(h => h.ariaSort).join(" ")`)
	}
	require.Equal(p.t, "none none none none none", state())
	p.click("#tasks th:nth-child(5) button[data-sort]")
	p.until(`document.querySelector("#tasks th:nth-child(5)").ariaSort === "ascending"`)
	require.Equal(p.t, "none none none none ascending", state())
	up := rates()
	require.True(p.t, slices.IsSorted(up), "%v", up)
	require.NotEqual(p.t, up[0], up[len(up)-1], "there is something to sort")
	p.click("#tasks th:nth-child(5) button[data-sort]")
	p.until(`document.querySelector("#tasks th:nth-child(5)").ariaSort === "descending"`)
	down := rates()
	slices.Reverse(down)
	require.True(p.t, slices.IsSorted(down), "%v", down)

	p.click("#tasks th:first-child button[data-sort]")
	p.until(`document.querySelector("#tasks th:first-child").ariaSort === "ascending"`)
	require.Equal(p.t, "ascending none none none none", state())
	require.True(p.t, slices.IsSorted(shownTasks(p)))
}

func testShared(p *tab, d desk) {
	p.open(d.index, "")
	p.click("#find")
	p.write("g0")
	p.pick("#outcome", "failed")
	p.click("#tasks th:first-child button[data-sort]")
	p.click("#tasks th:first-child button[data-sort]")
	p.until(`document.querySelector("#tasks th:first-child").ariaSort === "descending" && /failed.*sort=task-/.test(location.hash)`)
	left := 0
	for _, t := range d.r.Tasks {
		if strings.HasPrefix(t.ID, "G0") && slices.ContainsFunc(t.Cells, func(c model.Cell) bool { return c.Scored > 0 && c.Solved == 0 }) {
			left++
		}
	}
	p.until(`document.querySelector("#shown").textContent.startsWith(%s)`, fmt.Sprintf("%d of 12", left))
	address, rows := eval[string](p, `location.href`), shownTasks(p)
	require.NotEmpty(p.t, rows)
	require.Less(p.t, len(rows), 9)

	p.visit("about:blank")
	p.visit(address)
	require.Equal(p.t, rows, shownTasks(p), "a link to %s shows what was shown", address)
	require.Equal(p.t, "g0 failed descending", eval[string](p,
		`[document.querySelector("#find").value, document.querySelector("#outcome :checked").value, document.querySelector("#tasks th:first-child").ariaSort].join(" ")`))

	for _, strange := range []string{"#find=%E0%A4%A&outcome=none&sort=99", "#%", "#sort=__proto__", "#outcome=constructor", "#find=" + strings.Repeat("x", 5_000)} {
		p.visit("about:blank")
		p.open(d.index, strange)
		require.NotEmpty(p.t, eval[string](p, `document.querySelector("#shown").textContent`), "%.40s", strange)
	}
}

// failedMark is the selector of the link from the index to the first failed episode.
const failedMark = `#tasks tbody a.mark.x`

func testOpenByPointer(p *tab, d desk) {
	p.open(d.index, "")
	p.click(failedMark)
	opened(p)
	p.click(`a[href*="index.html"]`)
	p.until(`location.pathname.endsWith("/index.html") && document.readyState === "complete"`)
}

func testOpenByKeyboard(p *tab, d desk) {
	p.open(d.index, "")
	p.press("Tab")
	require.Contains(p.t, eval[string](p, `document.activeElement.className`), "skip", "the first stop")
	require.True(p.t, eval[bool](p, `document.activeElement.getBoundingClientRect().left >= 0`), "the skip link shows")
	p.press("Enter")
	p.until(`location.hash.length > 1 && Math.abs(document.querySelector(location.hash).getBoundingClientRect().top) < innerHeight / 2`)

	for i := 0; !eval[bool](p, `document.activeElement.matches(%s)`, failedMark); i++ {
		require.Less(p.t, i, 200, "no mark in 200 stops")
		p.press("Tab")
	}
	p.press("Enter")
	opened(p)
	// The transcript can be closed and opened in place.
	p.until(`(document.querySelector(":target summary").focus(), document.activeElement.matches("summary"))`)
	p.press("Enter")
	p.until(`!document.querySelector(":target").open`)
}

// opened waits for the transcript that a link leads to.
func opened(p *tab) {
	p.t.Helper()
	p.until(`location.pathname.includes("/tasks/") && document.readyState === "complete" && document.querySelector("details.ep:target")?.open === true`)
	p.until(`(() => { const box = document.querySelector("details.ep:target > summary").getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight })()`)
	require.Positive(p.t, eval[int](p, `[...document.querySelectorAll(":target li.turn")].filter(e => e.checkVisibility()).length`))
	require.Contains(p.t, eval[string](p, `document.querySelector(":target").textContent`), "How many angry messages", "what was said is there")
}

func testSideBySide(p *tab, d desk) {
	require.NotEmpty(p.t, d.tasks)
	found := false
	for _, path := range d.tasks {
		p.open(path, "")
		// The two episodes diverge after a common beginning; a second method compares
		// the keys.
		pair := eval[[]string](p, `(() => {
			const eps = [...document.querySelectorAll("details.ep")].map(e => [e.id, [...e.querySelectorAll("li.turn")].map(t => t.dataset.key)]);
			for (const [a, k] of eps) for (const [b, l] of eps) {
				const at = k.findIndex((key, i) => key !== l[i]);
				if (a !== b && at > 0 && at < l.length) return [a, b, String(at)];
			}
			return [];
		})()`)
		if len(pair) == 0 {
			continue
		}
		found = true
		p.pick("#left", pair[0])
		p.pick("#right", pair[1])
		p.until(`document.querySelectorAll("#compare .diverges").length === 1`)
		require.Equal(p.t, pair[2], eval[string](p, `String([...document.querySelectorAll("#compare .pair")].indexOf(document.querySelector("#compare .diverges")))`), "the first row that differs is marked")
		require.Contains(p.t, eval[string](p, `document.querySelector("#compare .diverges").textContent`), "differ", "in words too")
		address := eval[string](p, `location.href`)
		p.visit("about:blank")
		p.visit(address)
		require.Equal(p.t, pair[:2], eval[[]string](p, `[document.querySelector("#left").value, document.querySelector("#right").value]`), "the choice is in the address")
		p.pick("#right", pair[0])
		p.until(`document.querySelectorAll("#compare .diverges").length === 0`)
		break
	}
	require.True(p.t, found, "no two episodes part")
}
