//go:build unix

package reports

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// writeComparison writes a comparison's page and returns its path.
func writeComparison(t require.TestingT, dir string, c compare.Comparison, sides html.SidesOf) string {
	var page bytes.Buffer
	require.NoError(t, html.Comparison(&page, c, sides))
	path := filepath.Join(dir, "compare.html")
	require.NoError(t, os.WriteFile(path, page.Bytes(), 0o644))
	return path
}

func testComparison(p *tab, d desk) {
	classes := map[string][]string{}
	for _, pair := range reporttest.ShownComparison().Pairs {
		for _, task := range pair.Tasks {
			classes[string(task.Class)] = append(classes[string(task.Class)], task.ID)
		}
	}
	p.open(d.compare, "")
	all := shownTasks(p)
	for _, class := range []string{"newly broken", "stable pass", "unclear"} {
		p.pick("#outcome", class)
		require.NotEmpty(p.t, classes[class])
		p.until(`[...document.querySelectorAll("#tasks tbody tr")].every(r => r.checkVisibility() === (r.dataset.class === %s))`, class)
		require.ElementsMatch(p.t, classes[class], shownTasks(p))
		require.True(p.t, eval[bool](p, `document.querySelector("#shown").textContent.startsWith(%s + " of " + %s)`, len(classes[class]), len(all)))
	}
	p.pick("#outcome", "")
	p.click("#find")
	p.write("g04")
	p.until(`document.querySelector("#shown").textContent.startsWith("1 of ")`)
	require.Equal(p.t, []string{"G04"}, shownTasks(p))
	p.press("Control+a", "Backspace")

	p.click("#tasks th:nth-child(5) button[data-sort]")
	p.until(`document.querySelector("#tasks th:nth-child(5)").ariaSort === "ascending"`)
	chances := eval[[]float64](p, `[...document.querySelectorAll("#tasks tbody tr")].map(r => +r.cells[4].dataset.rate)`)
	require.True(p.t, slices.IsSorted(chances), "%v", chances)

	closed := eval[string](p, `"#" + document.querySelector("details.sides-of:not([open])").id`)
	p.click(`#tasks a[href="` + closed + `"]`)
	p.until(`document.querySelector(%s).open && location.hash === %s`, closed, closed)
	require.Equal(p.t, []string{"3"}, eval[[]string](p, `[...document.querySelector(%s).querySelectorAll(".diverges")].map(e => e.dataset.turn)`, closed), "the first row that differs")
	require.Equal(p.t, []bool{true, true, false, false, false},
		eval[[]bool](p, `[...document.querySelector(%s).querySelectorAll(".pair[data-turn]")].map(e => { const [l, r] = e.querySelectorAll("[data-key]"); return l?.dataset.key === r?.dataset.key })`, closed), "and it is that by the keys")
	require.Contains(p.t, eval[string](p, `document.querySelector(%s).querySelector(".diverges").textContent`, closed), "First difference")
}

// testHostileComparison inspects the page of a comparison whose texts are attacks.
func testHostileComparison(p *tab, d desk) {
	p.do("Page.addScriptToEvaluateOnNewDocument", obj{"source": canary})
	root := p.t.TempDir()
	plain := skeleton(p, d.compare)
	c := reporttest.ShownComparison()
	a := &poisoner{attacks: attacks(), by: map[string]string{}, spared: map[string]bool{}, fill: true}
	// These are cupel's own words, and the names that identify the sides.
	for _, word := range append(html.ChangedFirst(), string(stat.Pass), string(stat.Fail), string(stat.Inconclusive), string(stat.NotJudged), string(stat.NoRegression), "B1", "T1") {
		a.spared[word] = true
	}
	a.value(reflect.ValueOf(&c).Elem())
	path := writeComparison(p.t, root, c, func(trial bool, task, candidate string, n int) (ledger.EpisodeRows, transcript.Detail, bool) {
		rows, said, ok := reporttest.SidesFixture(trial, task, candidate, n)
		a.value(reflect.ValueOf(&rows).Elem())
		a.value(reflect.ValueOf(&said).Elem())
		rows.Episode.TaskID, rows.Episode.Candidate = task, candidate
		return rows, said, ok
	})
	tame(p, path, plain, root)
	require.Positive(p.t, eval[int](p, `document.querySelectorAll(".sides-of .diverges").length`), "there are sides to look at")
	p.pick("#outcome", string(flake.NewlyBroken))
	p.until(`document.querySelector("#shown").textContent.startsWith("3 of ")`)
}
