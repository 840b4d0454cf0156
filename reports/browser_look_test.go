//go:build unix

package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/internal/reporttest"
)

func testColours(p *tab, d desk) {
	for name, path := range d.pages() {
		grounds := map[string]string{}
		for _, scheme := range []string{"light", "dark"} {
			p.media("", scheme)
			p.open(path, "")
			eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
			got := eval[struct {
				N   int
				Bad []string
			}](p, faint)
			require.Greater(p.t, got.N, 100, "texts looked at")
			require.Empty(p.t, got.Bad, "%s page, %s: contrast below 4.5:1", name, scheme)
			grounds[scheme] = eval[string](p, `getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color`)
		}
		require.NotEqual(p.t, grounds["light"], grounds["dark"], name)
	}
}

// smallOrCovered lists the texts of plots that are smaller than 11 pixels or overlap.
const smallOrCovered = `[...document.querySelectorAll(".plot svg, svg.dots")].flatMap(svg => {
	const scale = svg.viewBox.baseVal.width ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1
	const all = [...svg.querySelectorAll("text")].filter(e => e.textContent).map(e => ({text: e.textContent, box: e.getBoundingClientRect(), size: scale * parseFloat(getComputedStyle(e).fontSize)}))
	const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4
	return all.filter(a => svg.checkVisibility() && a.box.width && (a.size < 11 || all.some(b => a != b && meet(a.box, b.box)))).map(a => a.text + ": " + a.size)
})`

func testPhone(p *tab, d desk) {
	p.phone()
	for name, path := range d.pages() {
		p.open(path, "")
		eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
		require.LessOrEqual(p.t, eval[int](p, `document.scrollingElement.scrollWidth`), 390, "the %s page is wider than a phone: %s", name, eval[[]string](p, overhang))
		require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("button, select, input:not(label *), label:has(input), nav a, summary")].filter(e => e.checkVisibility() && e.getBoundingClientRect().height < 20).map(e => e.outerHTML.slice(0, 120))`), "too small for a finger")
	}
	p.open(d.index, "")
	require.Empty(p.t, eval[[]string](p, smallOrCovered), "texts of plots")
	p.click("#find")
	p.write("dates")
	p.until(`document.querySelector("#shown").textContent.startsWith("1 of 12")`)
}

func testPaper(p *tab, d desk) {
	p.media("", "dark")
	for name, path := range d.pages() {
		p.media("print", "dark")
		p.open(path, "")
		require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("nav, #find, #outcome, .skip, button:not(th button)")].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 120))`),
			"%s page: what one cannot press on paper", name)
		require.Equal(p.t, "rgb(255, 255, 255)", eval[string](p, `getComputedStyle(document.body).backgroundColor`), "paper is white")
		got := eval[struct{ Bad []string }](p, strings.ReplaceAll(faint, `matchMedia("(prefers-color-scheme: dark)").matches`, "false"))
		require.Empty(p.t, got.Bad, "%s page on paper", name)
		if name == "task" {
			var pdf struct{ Data []byte }
			require.NoError(p.t, json.Unmarshal(p.do("Page.printToPDF", nil), &pdf))
			require.Greater(p.t, bytes.Count(pdf.Data, []byte("/Type /Page\n")), 2, "sheets")
			require.True(p.t, eval[bool](p, `[...document.querySelectorAll("details.ep li.turn")].every(e => e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 0)`), "transcripts are on paper though they are closed")
		}
	}
}

// testKeyboard presses Tab through whole pages.
func testKeyboard(p *tab, d desk) {
	for name, path := range d.pages() {
		p.open(path, "")
		// Rows after the third repeat the same structure.
		eval[any](p, `void ([...document.querySelectorAll("#tasks tbody tr:nth-child(n+4), #failures li:nth-child(n+4)")].forEach(e => e.remove()),
			window.stops = new Set(), window.unseen = new Set(), addEventListener("focusin", e => {
				stops.add(e.target);
				const s = getComputedStyle(e.target), box = e.target.getBoundingClientRect();
				if (s.outlineStyle === "none" || parseFloat(s.outlineWidth) < 1 || box.bottom <= 0 || box.top >= innerHeight) unseen.add(e.target.outerHTML.slice(0, 120));
			}))`)
		// Tab stops once at radio buttons of one name; arrow keys move between them.
		controls := `[...document.querySelectorAll("a[href], button, input, select, summary, [tabindex='0']")].filter(e => e.checkVisibility() && (e.type !== "radio" || e.checked))`
		n := eval[int](p, controls+`.length`)
		require.Greater(p.t, n, 20)
		for i := 0; i < n+60; i += 10 {
			p.press(slices.Repeat([]string{"Tab"}, 10)...)
			if eval[int](p, controls+`.filter(e => !stops.has(e)).length`) == 0 {
				break
			}
		}
		require.Empty(p.t, eval[[]string](p, controls+`.filter(e => !stops.has(e)).map(e => e.outerHTML.slice(0, 120))`), "%s page: Tab does not reach", name)
		require.Empty(p.t, eval[[]string](p, `[...unseen]`), "%s page: one cannot see that these have the focus", name)
	}
}

func testNames(p *tab, d desk) {
	for name, path := range d.pages() {
		p.open(path, "")
		eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
		var tree struct {
			Nodes []struct {
				Ignored    bool
				Role, Name struct{ Value string }
			}
		}
		require.NoError(p.t, json.Unmarshal(p.do("Accessibility.getFullAXTree", nil), &tree))
		roles := map[string]int{}
		for i, n := range tree.Nodes {
			switch role := n.Role.Value; role {
			case "link", "button", "searchbox", "textbox", "combobox", "checkbox", "radio", "image", "img", "graphics-document", "region", "navigation", "table", "heading", "DisclosureTriangle", "option", "SvgRoot":
				if !n.Ignored {
					roles[role]++
					require.NotEmpty(p.t, strings.TrimSpace(n.Name.Value), "%s page: %s %d has no name", name, role, i)
				}
			}
		}
		p.t.Logf("%s page: named %v", name, roles)
		require.Positive(p.t, roles["link"])
		require.Positive(p.t, roles["combobox"]+roles["radio"])
		levels := eval[[]int](p, `[...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(e => e.checkVisibility()).map(e => +e.tagName[1])`)
		require.Equal(p.t, 1, levels[0], "the first heading")
		for i := 1; i < len(levels); i++ {
			require.LessOrEqual(p.t, levels[i], levels[i-1]+1, "%s page: headings %v", name, levels)
			require.Greater(p.t, levels[i], 1, "%s page: one h1", name)
		}
		require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("table")].filter(t => !t.caption?.textContent.trim() || !t.querySelector("th[scope]")).map(t => t.outerHTML.slice(0, 120))`), "%s page: tables without caption or heads", name)
		require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("svg:not([aria-hidden=true] *)")].filter(s => s.getAttribute("aria-hidden") !== "true" && !(s.getAttribute("role") === "img" && (s.getAttribute("aria-label") || s.getAttribute("aria-labelledby")))).map(s => s.outerHTML.slice(0, 120))`), "%s page: drawings without words", name)
		require.Empty(p.t, eval[[]string](p, `(ids => ids.filter((id, i) => ids.indexOf(id) !== i))([...document.querySelectorAll("[id]")].map(e => e.id))`), "%s page: an id twice", name)
		require.Equal(p.t, "en", eval[string](p, `document.documentElement.lang`))
	}
}

func testWithoutScripts(p *tab, d desk) {
	p.do("Emulation.setScriptExecutionDisabled", obj{"value": true})
	p.open(d.index, "")
	require.Len(p.t, shownTasks(p), len(d.r.Tasks))
	require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("#find, #unfold")].filter(e => e.checkVisibility()).map(e => e.id)`), "controls that do nothing")
	for _, c := range d.r.Candidates {
		require.Contains(p.t, eval[string](p, `document.body.innerText`), c.Name)
	}
	p.pick("#outcome", "solved")
	require.Less(p.t, len(shownTasks(p)), len(d.r.Tasks), "outcomes filter without scripts")
	p.pick("#outcome", "")
	p.click(failedMark)
	p.until(`location.pathname.includes("/tasks/") && document.readyState === "complete" && document.querySelectorAll("details.ep").length === 8`)
	p.click("details.ep:target > summary b")
	p.until(`document.querySelector("details.ep:target li.turn").checkVisibility()`)
}

// Twelve candidates fit the screen, so no table is cut.
func testTwelveCandidates(p *tab, _ desk) {
	var profiles []reporttest.Profile
	for i := range 12 {
		profile := reporttest.DemoProfiles()[i%4]
		profile.Name = fmt.Sprintf("%s-%d", profile.Name, i)
		profiles = append(profiles, profile)
	}
	path := filepath.Join(p.t.TempDir(), "twelve.html")
	var page bytes.Buffer
	require.NoError(p.t, HTML(&page, Build(reporttest.Demo(profiles, 12, 2))))
	require.NoError(p.t, os.WriteFile(path, page.Bytes(), 0o644))
	p.do("Emulation.setDeviceMetricsOverride", obj{"width": 1400, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	p.open(path, "")
	eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
	require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll(".box")].filter(b => b.scrollWidth > b.clientWidth + 1).map(b => b.getAttribute("aria-label") + " " + b.scrollWidth)`))
}

// This is the single page that cupel report -o writes.
func testSinglePage(p *tab, d desk) {
	path := filepath.Join(p.t.TempDir(), "alone.html")
	var page bytes.Buffer
	require.NoError(p.t, HTML(&page, d.r))
	require.NoError(p.t, os.WriteFile(path, page.Bytes(), 0o644))
	p.open(path, "")
	require.Len(p.t, shownTasks(p), len(d.r.Tasks))
	p.click(failedMark)
	p.until(`document.querySelector("details.ep:target")?.open === true`)
	require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href")).filter(h => !h.startsWith("#"))`), "links to files that may not be there")
	p.phone()
	require.LessOrEqual(p.t, eval[int](p, `document.scrollingElement.scrollWidth`), 390, fmt.Sprint(eval[[]string](p, overhang)))
}
