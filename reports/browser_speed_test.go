//go:build unix

package reports

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

// testManyTrials opens a report of 10,000 episodes of few tasks: the largest pages
// of tasks.
func testManyTrials(p *tab, _ desk) {
	dir := p.t.TempDir()
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 25, 100))
	require.Len(p.t, r.Episodes, 10_000)
	require.NoError(p.t, Write(dir, r, said))
	n, size := pageBytes(p, dir)
	p.t.Logf("%d pages of %.1f MB", n, float64(size)/1e6)
	require.Less(p.t, size, int64(12_000_000))
	openQuickly(p, filepath.Join(dir, "report", "index.html"))
	p.visit(eval[string](p, `document.querySelector("#tasks tr:not([hidden]) a.mark").href`))
	p.until(`location.pathname.includes("/tasks/") && document.readyState === "complete" && document.querySelector("details.ep:target")?.open`)
	page := p.computed()
	p.t.Logf("a task's page opens in %.0f ms", page)
	require.Less(p.t, page, 2000.0)
}

// testManyTasks opens the single page of 10,000 episodes with as many tasks as it
// lists, and transcripts. It is the largest page.
func testManyTasks(p *tab, _ desk) {
	r := Build(reporttest.Demo(reporttest.DemoProfiles(), 2500, 1))
	require.Len(p.t, r.Episodes, 10_000)
	path := filepath.Join(p.t.TempDir(), "alone.html")
	var page bytes.Buffer
	require.NoError(p.t, HTML(&page, r))
	require.NoError(p.t, os.WriteFile(path, page.Bytes(), 0o644))
	p.t.Logf("one page of %.1f MB", float64(page.Len())/1e6)
	openQuickly(p, path)
}

// openQuickly opens a page and filters its tasks by one letter. The limits are for the
// computing time of the page's thread, which depends little on the load of the machine.
// The fastest of a few openings counts; the elapsed time is logged.
func openQuickly(p *tab, path string) {
	p.t.Helper()
	open, key, clock, keyClock := 1e9, 1e9, 0.0, 0.0
	for i := 0; i < 4 && (open >= 2000 || key >= 200); i++ {
		p.visit("about:blank")
		p.open(path, "")
		open, clock = min(open, p.computed()), eval[float64](p, `performance.getEntriesByType("navigation")[0].loadEventEnd`)
		// This is the time from the key to the frame that shows the remaining rows.
		eval[any](p, `void (addEventListener("keydown", e => window.pressed = e.timeStamp, {capture: true, once: true}),
			new MutationObserver((_, o) => { o.disconnect(); requestAnimationFrame(() => setTimeout(() => window.shownAfter = performance.now() - pressed)) }).observe(document.querySelector("#shown"), {childList: true, characterData: true, subtree: true}))`)
		p.click("#find")
		before := p.computed()
		p.write("7")
		p.until(`window.shownAfter > 0`)
		key, keyClock = min(key, p.computed()-before), eval[float64](p, `window.shownAfter`)
	}
	p.t.Logf("opens in %.0f ms (%.0f by the clock); the first key filters %d rows in %.0f ms (%.0f)",
		open, clock, eval[int](p, `document.querySelectorAll("#tasks tbody tr[data-task]").length`), key, keyClock)
	require.Less(p.t, open, 2000.0)
	require.Less(p.t, key, 200.0)
	p.press("Backspace")
}

// computed returns how long the page's thread has computed since the page was opened,
// in ms.
func (p *tab) computed() float64 {
	p.t.Helper()
	var got struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	require.NoError(p.t, json.Unmarshal(p.do("Performance.getMetrics", nil), &got))
	for _, m := range got.Metrics {
		if m.Name == "TaskDuration" {
			return m.Value * 1000
		}
	}
	require.FailNow(p.t, "the browser has no TaskDuration")
	return 0
}

// pageBytes returns the number of HTML files below a folder, and their size.
func pageBytes(p *tab, dir string) (n int, size int64) {
	p.t.Helper()
	require.NoError(p.t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".html" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n, size = n+1, size+info.Size()
		}
		return err
	}))
	return n, size
}
