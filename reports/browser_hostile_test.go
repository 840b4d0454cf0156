//go:build unix

package reports

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/html"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/transcript"
)

// canary is called by every text that is executed.
const canary = `window.called = 0; window.pwned = () => { window.called++; return "pwned" };`

// attacks are texts that must be shown unchanged. Each calls pwned if any part of it is
// executed, or moves, hides or loads something if it is parsed as markup.
func attacks() []string {
	return []string{
		`<script>pwned()</script>`,
		`<img src=x onerror=pwned()>`,
		`</title></style></textarea></script><script>pwned()</script>`,
		`"><svg onload=pwned()><animate onbegin=pwned() attributeName=x>`,
		`' autofocus onfocus=pwned() x='`,
		`javascript:pwned()`,
		`[x](javascript:pwned())`,
		`{{.}} {{call .Run}} {{"<script>pwned()</script>"}} ${pwned()} <%= pwned() %>`,
		`{"a": "</script><script>pwned()</script><!--"}`,
		`<!-- <script> --> ]]> <![CDATA[ <x:script xmlns:x="http://www.w3.org/1999/xhtml">pwned()</x:script>`,
		"\x00\x01\x08\x0b\x1b[31mred\x1b]0;title\x07\x1b]8;;http://e.example\x07link\x7f\u009b2J",
		"abc\u202Egpj.exe\u202C \u2066x\u2069 \u200F\u061C \u200B\u2060\uFEFF \u2028 \u2029",
		"\xff\xfe\xed\xa0\x80\xc0\xaf \xf4\x90\x80\x80 \uFFFE",
		`x}</style><style>*{display:none!important;background:url(http://e.example/x)}`,
		`x; background: url(http://e.example/x); position: fixed; inset: 0`,
		`__proto__`, `constructor`, `toString`, `hasOwnProperty`,
		`../../../../etc/passwd`, `CON`, `..`, `a/b\c`,
		`<iframe src="javascript:pwned()"></iframe><base href="http://e.example/"><meta http-equiv=refresh content="0;url=http://e.example/">`,
		`<form action=http://e.example/><button formaction=javascript:pwned()>x</button></form><a href=javascript:pwned() id=find>x</a>`,
		`&lt;script&gt;pwned()&lt;/script&gt; &#60;img src=x onerror=pwned()&#62;`,
		strings.Repeat("Ẑ͑ͫ̓a̴", 400),
		strings.Repeat(`W`, 5000),
		strings.Repeat(`<b onclick=pwned()>`, 1<<20/19),
		"見出し שלום مرحبا 👩‍👩‍👧 e\u0301",
	}
}

// poisoner replaces texts by attacks. Equal texts get the same attack and different
// texts different ones, so that names still refer to the same things.
type poisoner struct {
	attacks []string
	by      map[string]string
	spared  map[string]bool // words that a report needs for its calculations
	fill    bool            // replaces empty texts, too
}

func (p *poisoner) text(s string) string {
	if s == "" && !p.fill || p.spared[s] {
		return s
	}
	if p.by[s] == "" || s == "" {
		n := len(p.by)
		p.by[s] = p.attacks[n%len(p.attacks)]
		if n >= len(p.attacks) || s == "" {
			p.by[s] += fmt.Sprintf(" %d", n)
		}
		if s == "" {
			p.by[fmt.Sprint("\x00", n)] = "" // the next empty text gets another attack
		}
	}
	return p.by[s]
}

// value replaces every text in v, at every depth.
func (p *poisoner) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(p.text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			p.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				p.value(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	}
}

// poisoned returns a run in which every text is an attack. With spared, the values that
// a report counts by are not changed, so that all of its parts have content.
func poisoned(spare bool) (model.Report, html.DetailOf) {
	profiles := reporttest.DemoProfiles()
	profiles[2].Infra = 7
	m, rows := reporttest.Demo(profiles, 3, 2)
	for i := range rows.Turns {
		rows.Turns[i].Violations = append(rows.Turns[i].Violations, "one", "two")
		rows.Turns[i].Warnings = []string{"three", "four"}
	}
	for i := range m.Tasks {
		m.Tasks[i].Tags, m.Tasks[i].Request = []string{"five", "six"}, "seven"
	}
	orchestrate(rows)
	p := &poisoner{attacks: attacks(), by: map[string]string{}, spared: map[string]bool{}, fill: !spare}
	for _, word := range []string{"main", "act", "answered", "clarify", "stopped", "error", "ok", "tool", "respond", "length", "stop", "complete"} {
		p.spared[word] = spare
	}
	p.value(reflect.ValueOf(&m).Elem())
	p.value(reflect.ValueOf(&rows).Elem())
	r := Build(m, rows)
	return r, func(e model.Episode) (transcript.Detail, bool) {
		d, _ := said(e)
		filled := *p
		filled.fill = true
		filled.value(reflect.ValueOf(&d).Elem())
		return d, true
	}
}

// testHostile inspects all pages of a run whose texts are attacks.
func testHostile(p *tab, plain desk, spare bool) {
	p.do("Page.addScriptToEvaluateOnNewDocument", obj{"source": canary})
	r, details := poisoned(spare)
	dir := p.t.TempDir()
	require.NoError(p.t, Write(dir, r, details))
	root := filepath.Join(dir, "report")
	index := filepath.Join(root, "index.html")
	tame(p, index, skeleton(p, plain.index), root)
	p.open(index, "#sort=0")
	p.click("#outcome label:last-child .chip")
	p.click("#find")
	p.write("o")
	p.until(`location.hash.includes("find=o")`)

	tasks, err := filepath.Glob(filepath.Join(root, "tasks", "*"))
	require.NoError(p.t, err)
	require.Len(p.t, tasks, len(r.Tasks), "a page for each task, and none elsewhere")
	allowed := skeleton(p, plain.tasks[0])
	for _, path := range tasks {
		require.Regexp(p.t, `^[A-Za-z0-9_-]{1,60}\.html$`, filepath.Base(path))
		tame(p, path, allowed, root)
		p.pick("#right", eval[string](p, `document.querySelector("#right").options[0].value`))
	}
	drawings, err := filepath.Glob(filepath.Join(root, "plots", "*.svg"))
	require.NoError(p.t, err)
	require.NotEmpty(p.t, drawings)
	for _, path := range drawings {
		p.open(path, "")
		require.Zero(p.t, eval[int](p, `window.called`))
		require.Empty(p.t, eval[[]string](p, `[...document.querySelectorAll("*")].filter(e => !/^(svg|g|path|text|title|desc|rect|circle|line|polyline|tspan)$/.test(e.localName) || [...e.attributes].some(a => /^on|href$/i.test(a.name))).map(e => e.outerHTML.slice(0, 120))`), path)
		clean(p)
	}
}

// skeleton lists the names of a page's elements and of their attributes, and the number
// of elements that load or run something.
func skeleton(p *tab, path string) string {
	p.t.Helper()
	p.open(path, "")
	eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
	return eval[string](p, `JSON.stringify({
		names: [...new Set([...document.querySelectorAll("*")].flatMap(e => [e.localName, ...[...e.attributes].map(a => e.localName + "/" + a.name)]))],
		count: document.querySelectorAll("script, style, meta, link, base, title, h1, main, nav, footer").length,
	})`)
}

var hrefs = regexp.MustCompile(`\A(#[A-Za-z0-9_.%=&+-]*|[A-Za-z0-9_./-]+(#[A-Za-z0-9_-]+)?)\z`)

// tame requires that a hostile page has only elements that a plain one has, runs
// nothing, loads nothing and stays within bounds.
func tame(p *tab, path, plain, root string) {
	p.t.Helper()
	info, err := os.Stat(path)
	require.NoError(p.t, err)
	require.Less(p.t, info.Size(), int64(2<<20), path)
	p.phone()
	p.open(path, "")
	eval[any](p, `void document.querySelectorAll("details").forEach(e => e.open = true)`)
	require.LessOrEqual(p.t, eval[int](p, `document.scrollingElement.scrollWidth`), 390, "%s is wider than a phone: %s", path, eval[[]string](p, overhang))
	require.Zero(p.t, eval[int](p, `window.called`), "%s ran a text", path)
	require.Empty(p.t, eval[[]string](p, `(plain => {
		const odd = new Set(), names = new Set(plain.names);
		for (const e of document.querySelectorAll("*")) for (const n of [e.localName, ...[...e.attributes].map(a => e.localName + "/" + a.name)]) if (!names.has(n)) odd.add(n);
		const n = document.querySelectorAll("script, style, meta, link, base, title, h1, main, nav, footer").length;
		if (n !== plain.count) odd.add(n + " of what loads or runs, want " + plain.count);
		return [...odd];
	})(JSON.parse(%s))`, plain), "%s has elements or attributes that no plain page has", path)
	clean(p)
	for _, href := range eval[[]string](p, `[...new Set([...document.querySelectorAll("[href], [src], [action]")].map(e => e.getAttribute("href") ?? e.getAttribute("src") ?? e.getAttribute("action")))]`) {
		require.Regexp(p.t, hrefs, href)
		to, err := url.PathUnescape(strings.SplitN(href, "#", 2)[0])
		require.NoError(p.t, err)
		file := filepath.Join(filepath.Dir(path), to)
		require.True(p.t, strings.HasPrefix(file, root), "%s leads out of the report", href)
		if to != "" {
			require.FileExists(p.t, file, href)
		}
	}
}

// clean requires that no text on the page can reorder or control the display.
func clean(p *tab) {
	p.t.Helper()
	require.Empty(p.t, eval[[]string](p, `[...new Set([...document.documentElement.outerHTML.matchAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g)].map(m => m[0].charCodeAt(0).toString(16)))]`), "control characters or overrides")
	require.True(p.t, eval[bool](p, `document.documentElement.outerHTML.isWellFormed()`))
}
