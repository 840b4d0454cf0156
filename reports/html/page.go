// Package html lays reports and comparisons out as HTML pages: self-contained, light and
// dark, fit for a phone and for paper.
package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/cupel-eval/cupel/reports/internal/dots"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/orchestration"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/words"
)

//go:embed page/*.tmpl
var pageTemplates embed.FS

//go:embed page/style.css
var pageStyle string

// Style returns the style sheet of all pages, for other pages that look like them.
func Style() string { return pageStyle }

//go:embed page/page.js
var pageScript string

// parsed are the templates, parsed on first use: start-up does not pay for them.
var parsed = sync.OnceValue(func() *template.Template {
	drawn := template.FuncMap{"drawn": func(l orchestration.Lane) template.HTML { return template.HTML(l.SVG()) }}
	return template.Must(template.New("").Funcs(drawn).ParseFS(pageTemplates, "page/index.html.tmpl", "page/task.html.tmpl", "page/compare.html.tmpl", "page/parts.html.tmpl"))
})

// scriptHash lets a page run its own script and no other.
var scriptHash = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
})

// Plots returns a plot of a report as an SVG element, to be placed inside a page.
type Plots func(r model.Report, f model.Figure) (string, error)

// Page writes the report as one self-contained page: no network, no other file,
// light and dark, fit for a phone and for paper. Transcripts share a budget of
// bytes, episodes that were not solved first, so that a page stays small.
func Page(w io.Writer, r model.Report, plots Plots) error {
	v, err := newPage(r, plots, true)
	if err != nil {
		return err
	}
	linked, err := v.transcripts(r)
	if err != nil {
		return err
	}
	v.link(r, linked, nil)
	return execute(w, "index.html.tmpl", v)
}

// execute renders a page completely before it writes, so that a failure writes nothing.
func execute(w io.Writer, name string, v any) error {
	var b bytes.Buffer
	if err := parsed().ExecuteTemplate(&b, name, v); err != nil {
		return fmt.Errorf("reports: HTML: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("reports: HTML: %w", err)
	}
	return nil
}

// Bounds of the page.
const (
	maxTranscriptBytes = 900 << 10
	maxMarked          = 4000 // episodes drawn as single marks in the heat map
	maxMarks           = 12   // of a cell
	maxTaskRows        = 2000 // listed in the task table
	firstTasks         = 20   // shown at first: style.css hides the others
	maxFailures        = 100  // listed for each candidate
)

type chip struct{ Class, Sign, Word string }

func chipOf(v stat.Verdict) chip {
	return chip{Class: string(v), Sign: words.Sign(v), Word: words.Word(v)}
}

// pageView is what the template shows: strings, and coordinates of small drawings.
type pageView struct {
	CSS                                       template.CSS
	Script                                    template.JS
	Verdict                                   stat.Verdict
	Headline, Suite, Shape, RunID, Confidence string
	view.Opening
	// SomeSimulated says that simulated and real candidates are mixed.
	SomeSimulated       bool
	Verdicts            []verdictView // the worst first
	Names               []string      // of the columns of tasks
	Origin, Notes       []string
	Outcomes, MoreTasks string
	ScriptHash          string
	Criteria            []criterionView
	Plots               []plotView
	own                 map[string][]plotView // those of sections, by name
	Sections            []sectionView
	Strategies          []view.StrategyView
	StrategyNotes       []string
	StrategyLegend      string
	Tasks               []taskView
	Outcome             []outcomeView
	Rest                int // how many tasks are shown at first; 0 means all
	Totals              []totalView
	Facts, Provenance   []view.Fact
	// Single means that the page is the only file, with the transcripts on it.
	Single      bool
	Transcripts []template.HTML
	LeftOut     string
}

type verdictView struct {
	Verdict      chip
	Name, Pooled string
	Reasons      []string
	Made         []view.Fact
	Simulated    bool
	Figures      []figureView
}

// figureView is a measurement of a candidate; Value is what sorts it, empty if unknown.
type figureView struct{ Label, Text, Value string }

// criterionView is a criterion with its axis.
type criterionView struct {
	view.CriterionTable
	Scale template.HTML
	Rows  []criterionRow
}

type criterionRow struct {
	view.CriterionRow
	Chip chip
	Rule string
	Dots template.HTML
}

// plotView is a figure; Name is that of its files.
type plotView struct {
	Name, Title, Alt string
	SVG              template.HTML
	Files            bool // lie beside the page
}

func newPage(r model.Report, plots Plots, single bool) (pageView, error) {
	v := pageView{
		CSS: template.CSS(pageStyle), Script: template.JS(pageScript),
		Verdict: r.Verdict, Headline: r.Headline, Suite: words.Brief(r.Run.Suite, 80), RunID: words.Brief(r.Run.RunID, 64), Shape: view.Shape(r),
		Confidence: r.Intervals(), Opening: view.OpeningOf(r),
		Facts: view.Facts(r), Provenance: view.Provenance(r), Outcomes: view.OutcomesLine(r), ScriptHash: scriptHash(), Totals: totals(r), own: map[string][]plotView{}, Single: single,
	}
	v.SomeSimulated = r.Run.Simulated && !v.AllSimulated
	for _, c := range r.Candidates {
		v.Names = append(v.Names, words.Brief(c.Name, 80))
	}
	judgements := view.Judgements(r)
	v.Verdicts, v.Criteria = verdictViews(r, judgements, v.SomeSimulated), criterionViews(judgements, v.SomeSimulated)
	for _, line := range view.Origin(r) {
		v.Origin = append(v.Origin, words.Clip(line, 400))
	}
	for _, n := range r.Notes {
		v.Notes = append(v.Notes, words.Clip(n, 400))
	}
	v.Strategies = view.StrategyViews(r)
	if r.Strategies != nil {
		v.StrategyLegend = view.StrategyLegend
		for _, n := range r.Strategies.Notes {
			v.StrategyNotes = append(v.StrategyNotes, words.Clip(n, 600))
		}
	}
	for _, f := range r.Figures {
		svg, err := plots(r, f)
		if err != nil {
			return v, err
		}
		p := plotView{f.Name, words.Visible(f.Title), words.Visible(f.Alt), template.HTML(svg), !single}
		switch f.Name {
		case model.FigTrend, model.FigStrategies:
			v.own[f.Name] = append(v.own[f.Name], p)
		default:
			v.Plots = append(v.Plots, p)
		}
	}
	return v, nil
}

// link fills in what leads to episodes and to the pages of tasks.
func (v *pageView) link(r model.Report, linked links, pages map[string]string) {
	v.Tasks = taskViews(r, linked, pages)
	v.Outcome = outcomeViews(v.Tasks)
	if len(v.Tasks) > firstTasks {
		v.Rest = firstTasks
	}
	if more := len(r.Tasks) - len(v.Tasks); more > 0 {
		v.MoreTasks = fmt.Sprintf("To keep this page small, %s are left out, those that were always solved first; report.json has them.", words.Plural(more, "task"))
	}
	for _, s := range view.Sections(r, linked) {
		v.Sections = append(v.Sections, sectionView{s, v.own[s.Figure], failureViews(r, s.Unsolved, linked)})
	}
}

// StrategyPlots are the plots of strategies.
func (v pageView) StrategyPlots() []plotView { return v.own[model.FigStrategies] }

// verdictViews are the candidates and groups, those that fail first.
func verdictViews(r model.Report, judgements []view.Judgement, mark bool) (views []verdictView) {
	var costs []*float64
	for _, c := range r.Candidates {
		costs = append(costs, c.CostPerSolved)
	}
	prices := words.USDColumn(costs)
	order := map[stat.Verdict]int{stat.Fail: 0, stat.Inconclusive: 1, stat.Pass: 2, stat.NotJudged: 3}
	at := make([]int, len(judgements))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int {
		return cmp.Compare(order[judgements[a].Verdict], order[judgements[b].Verdict])
	})
	for _, i := range at {
		j := judgements[i]
		v := verdictView{Verdict: chipOf(j.Verdict), Name: words.Brief(j.Name, 80), Pooled: words.Clip(j.About, 300), Reasons: j.Reasons(), Simulated: mark && j.Simulated}
		if i < len(r.Candidates) {
			c := r.Candidates[i]
			v.Made = view.CandidateMade(r, c)
			v.Figures = []figureView{{"Solved", c.Success.Rate(), sortable(c.Success.Value)}, {"Cost per solved task", prices[i], sortable(c.CostPerSolved)}, {"Median turn", view.Median(c.Latency), ""}}
			if c.Latency != nil {
				v.Figures[2].Value = sortable(&c.Latency.P50)
			}
		}
		views = append(views, v)
	}
	return views
}

func sortable(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}

// criterionViews are the criteria, each with the axis that its rows share.
func criterionViews(judgements []view.Judgement, mark bool) (views []criterionView) {
	for _, t := range view.CriterionTables(judgements) {
		v := criterionView{CriterionTable: t}
		var all []model.Criterion
		for _, row := range t.Rows {
			all = append(all, row.Criterion)
		}
		plot, drawn := dots.New(all)
		if drawn {
			v.Scale = plot.Scale()
		}
		for _, row := range t.Rows {
			row.Simulated = row.Simulated && mark
			view := criterionRow{row, chipOf(row.Verdict), row.Test + ", " + row.RuleText(), ""}
			if drawn {
				view.Dots = plot.Row(row.Criterion)
			}
			v.Rows = append(v.Rows, view)
		}
		views = append(views, v)
	}
	return views
}
