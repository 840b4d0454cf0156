//go:build unix

package viewer

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/internal/testkit/browser"
)

// desk is a viewer with four runs, one of them in progress.
type desk struct {
	url, runs string
	// finish ends the run in progress.
	finish func()
}

func newDesk(t *testing.T) desk {
	t.Helper()
	runs := t.TempDir()
	for i, id := range []string{"run01", "run02", "run03"} {
		m, rows := night(id, i+1, 9-i)
		addRun(t, runs, m, rows, i < 2)
	}
	m, rows := night("run04", 4, 5)
	half := ledger.Rows{Episodes: rows.Episodes[:8], Turns: rows.Turns[:8]}
	addRunning(t, runs, m, half)
	unlock, err := ledger.Lock(filepath.Join(runs, "run04"))
	require.NoError(t, err)
	t.Cleanup(unlock)
	s := httptest.NewServer(Handler(options(runs)))
	t.Cleanup(s.Close)
	return desk{s.URL, runs, func() {
		unlock()
		require.NoError(t, ledger.RemoveJournal(filepath.Join(runs, "run04")))
		addRun(t, runs, m, rows, true)
	}}
}

func (d desk) pages() map[string]string {
	pages := map[string]string{}
	for name, path := range map[string]string{
		"list": "/", "search": "/?q=nothing", "progress": "/run/run04/", "trend": "/trend?suite=counts", "refused comparison": "/compare?baseline=run01&new=run02&changed=keep",
		"rendered": "/run/run03/", "problem": "/absent",
	} {
		pages[name] = d.url + path
	}
	return pages
}

// TestPagesInABrowser uses the viewer like a person.
func TestPagesInABrowser(t *testing.T) {
	b := browser.Start(t)
	d := newDesk(t)
	p := b.NewTab(d.url)
	for i, part := range []struct {
		name string
		test func(*browser.Tab, desk)
	}{
		{"search", testSearch},
		{"compare by keyboard", testCompareByKeyboard},
		{"reports and their scripts", testReports},
		{"dark and light", testColours},
		{"phone", testPhone},
		{"keyboard reaches all", testKeyboard},
		{"names", testNames},
		{"without scripts", testWithoutScripts},
		{"a foreign report", testForeign},
		{"progress", testProgress}, // must be last, because it ends the run
	} {
		t.Run(part.name, func(t *testing.T) {
			if i > 0 { // the first is the sample
				testkit.Slow(t)
			}
			part.test(p.Fresh(t), d)
		})
	}
}

// shownRuns are the ids of the runs in the list.
func shownRuns(p *browser.Tab) []string {
	p.T.Helper()
	return browser.Eval[[]string](p, `[...document.querySelectorAll(".runs tbody tr")].map(r => r.id)`)
}

func testSearch(p *browser.Tab, d desk) {
	p.Visit(d.url + "/")
	require.Equal(p.T, []string{"run-run04", "run-run03", "run-run02", "run-run01"}, shownRuns(p))
	p.Click("input[name=q]")
	p.Write("11-02 weak")
	p.Press("Enter")
	p.Until(`location.search.startsWith("?q=") && document.readyState === "complete" && document.querySelectorAll(".runs tbody tr").length === 1`)
	require.Equal(p.T, []string{"run-run02"}, shownRuns(p))
	require.Equal(p.T, "11-02 weak", browser.Eval[string](p, `document.querySelector("input[name=q]").value`))
	p.Click("tbody th a")
	p.Until(`location.pathname === "/run/run02/" && document.readyState === "complete"`)
}

func testCompareByKeyboard(p *browser.Tab, d desk) {
	p.Visit(d.url + "/")
	checked := `[...document.querySelectorAll(":checked")].filter(e => e.type === "radio").map(e => e.name + "=" + e.value).join(" ")`
	require.Equal(p.T, "new=run03 baseline=run02", browser.Eval[string](p, checked))
	browser.Eval[any](p, `document.querySelector("[name=baseline]:checked").focus()`)
	p.Press("ArrowDown")
	require.Equal(p.T, "new=run03 baseline=run01", browser.Eval[string](p, checked))
	p.Press("Enter")
	p.Until(`location.pathname === "/compare" && document.body.innerText.includes("run01|")`)
	require.Contains(p.T, browser.Eval[string](p, `document.body.innerText`), filepath.Join(d.runs, "run03")+"|refuse")
}

// The scripts and styles of reports work, although their pages have no origin.
func testReports(p *browser.Tab, d desk) {
	for _, path := range []string{"/run/run01/", "/run/run03/"} {
		p.Visit(d.url + path)
		require.Equal(p.T, "null", browser.Eval[string](p, `self.origin`))
		p.Click("#find")
		p.Write("G03")
		p.Until(`document.querySelector("#shown").textContent.startsWith("1 of 10")`)
		p.Until(`location.hash.includes("find=G03")`)
	}
	p.Visit(d.url + "/run/run01/tasks/G03.html")
	require.True(p.T, browser.Eval[bool](p, `!!document.querySelector("#unfold")`), "the script of the page has run")
	require.Equal(p.T, "0px", browser.Eval[string](p, `getComputedStyle(document.body).margin`), "the style sheet is there")
	p.Click(`a[href="/"]`)
	p.Until(`location.pathname === "/" && document.readyState === "complete"`)
	require.Len(p.T, shownRuns(p), 4)
}

func testColours(p *browser.Tab, d desk) {
	for name, address := range d.pages() {
		grounds := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			p.Media("", scheme)
			p.Visit(address)
			got := browser.Eval[struct {
				N   int
				Bad []string
			}](p, browser.Faint)
			require.Positive(p.T, got.N)
			require.Empty(p.T, got.Bad, "%s page, %s: contrast below 4.5:1", name, scheme)
			grounds[scheme] = browser.Eval[string](p, `getComputedStyle(document.body).backgroundColor`)
		}
		require.NotEqual(p.T, grounds["light"], grounds["dark"], name)
		p.TakeProblems() // a status of 404 or 422 is logged
	}
}

func testPhone(p *browser.Tab, d desk) {
	p.Phone()
	for name, address := range d.pages() {
		p.Visit(address)
		require.LessOrEqual(p.T, browser.Eval[int](p, `document.scrollingElement.scrollWidth`), 390, "the %s page is wider than a phone: %s", name, browser.Eval[[]string](p, browser.Overhang))
		require.Empty(p.T, browser.Eval[[]string](p, `[...document.querySelectorAll(".runs .box, .cards")].filter(e => e.parentElement.scrollWidth > e.parentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 100))`), "%s: a table that one must scroll sideways", name)
		p.TakeProblems()
	}
	p.Visit(d.url + "/")
	p.Click("[name=baseline][value=run01]")
	p.Click("form[action='/compare'] button")
	p.Until(`location.pathname === "/compare" && document.body.innerText.includes("run01|")`)
}

func testKeyboard(p *browser.Tab, d desk) {
	for name, address := range d.pages() {
		if name == "rendered" { // the code of reports renders it and tests it
			continue
		}
		p.Visit(address)
		browser.Eval[any](p, `void (window.stops = [], addEventListener("focusin", e => {
			const s = getComputedStyle(e.target), box = e.target.getBoundingClientRect();
			stops.push(e.target);
			if (s.outlineStyle === "none" || box.bottom <= 0 || box.top >= innerHeight) stops.unseen = e.target.outerHTML;
		}))`)
		// Tab selects radio buttons of one name only once.
		controls := `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.checkVisibility() && (e.type !== "radio" || e.checked))`
		n := browser.Eval[int](p, controls+`.length`)
		require.Positive(p.T, n)
		p.Press(slices.Repeat([]string{"Tab"}, n)...)
		require.True(p.T, browser.Eval[bool](p, `stops[0].classList.contains("skip")`), "%s page: the link to the content comes first", name)
		require.Empty(p.T, browser.Eval[[]string](p, controls+`.filter(e => !stops.includes(e)).map(e => e.outerHTML.slice(0, 120))`), "%s page: Tab does not reach", name)
		require.Nil(p.T, browser.Eval[any](p, `stops.unseen`), name)
		p.TakeProblems()
	}
}

func testNames(p *browser.Tab, d desk) {
	for name, address := range d.pages() {
		p.Visit(address)
		var tree struct {
			Nodes []struct {
				Ignored    bool
				Role, Name struct{ Value string }
			}
		}
		require.NoError(p.T, json.Unmarshal(p.Do("Accessibility.getFullAXTree", nil), &tree))
		named := 0
		for i, n := range tree.Nodes {
			switch role := n.Role.Value; role {
			case "link", "button", "searchbox", "textbox", "combobox", "radio", "image", "region", "navigation", "table", "heading", "progressbar", "progress", "ProgressIndicator":
				if !n.Ignored {
					named++
					require.NotEmpty(p.T, strings.TrimSpace(n.Name.Value), "%s page: %s %d has no name", name, role, i)
				}
			}
		}
		require.Positive(p.T, named)
		require.Equal(p.T, 1, browser.Eval[int](p, `document.querySelectorAll("h1").length`), name)
		require.Equal(p.T, "en", browser.Eval[string](p, `document.documentElement.lang`), name)
		p.TakeProblems()
	}
}

func testWithoutScripts(p *browser.Tab, d desk) {
	p.Do("Emulation.setScriptExecutionDisabled", browser.Obj{"value": true})
	p.Visit(d.url + "/")
	p.Click("input[name=q]")
	p.Write("run01")
	p.Click("form[role=search] button")
	p.Until(`location.search.includes("q=run01") && document.readyState === "complete"`)
	require.Equal(p.T, []string{"run-run01"}, shownRuns(p))
	p.Visit(d.url + "/run/run04/")
	require.Equal(p.T, "5", browser.Eval[string](p, `document.querySelector("noscript meta, meta[http-equiv=refresh]").content`), "the page is loaded again")
	p.Visit(d.url + "/")
	p.Click("form[action='/compare'] button")
	p.Until(`location.pathname === "/compare" && document.body.innerText.includes("run02|")`)
}

// A foreign report cannot read the other runs or send them elsewhere.
func testForeign(p *browser.Tab, d desk) {
	index := filepath.Join(d.runs, "run02", "report", "index.html")
	before, err := os.ReadFile(index)
	require.NoError(p.T, err)
	defer func() { require.NoError(p.T, os.WriteFile(index, before, 0o644)) }()
	require.NoError(p.T, os.WriteFile(index, []byte(`<!doctype html><title>begun</title><header class="wrap"></header><script>
		(async () => {
			const got = [];
			for (const url of ["/", "/run/run01/", "http://127.0.0.1:9/"]) await fetch(url).then(r => r.text()).then(t => got.push(t), () => {});
			try { got.push(localStorage.length) } catch { }
			try { got.push(document.cookie) } catch { }
			try { got.push(String(open("/"))) } catch { }
			document.title = "read " + got.filter(t => t !== "null").length;
		})();
	</script><img src="http://127.0.0.1:9/x.png"><iframe src="/"></iframe>`), 0o644))
	p.Visit(d.url + "/run/run02/")
	p.Until(`document.title.startsWith("read")`)
	require.Equal(p.T, "read 0", browser.Eval[string](p, `document.title`))
	require.Contains(p.T, strings.Join(p.TakeProblems(), "\n"), "Content Security Policy")
	p.Click(`a[href="/"]`)
	p.Until(`location.pathname === "/" && document.readyState === "complete"`)
}

func testProgress(p *browser.Tab, d desk) {
	p.Visit(d.url + "/run/run04/")
	status := `document.querySelector("[role=status]").textContent`
	require.Equal(p.T, "8 of 20 episodes have ended", browser.Eval[string](p, status))
	browser.Eval[any](p, `void (window.kept = true)`)
	_, rows := night("run04", 4, 5)
	j, err := ledger.OpenJournal(filepath.Join(d.runs, "run04"), nil)
	require.NoError(p.T, err)
	_, err = j.Append(ledger.EpisodeRows{Episode: rows.Episodes[8], Turns: rows.Turns[8:9]})
	require.NoError(p.T, err)
	require.NoError(p.T, j.Close())
	p.Until(status + ` === "9 of 20 episodes have ended"`)
	require.True(p.T, browser.Eval[bool](p, `kept && document.querySelector("progress").value === 9`), "without loading the page again")
	d.finish()
	p.Until(`document.readyState === "complete" && !!document.querySelector("#criteria")`)
	p.Visit(d.url + "/")
	require.Contains(p.T, browser.Eval[string](p, `document.querySelector("#run-run04").textContent`), "complete")
}
