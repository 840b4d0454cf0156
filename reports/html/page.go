// Package html lays reports and comparisons out as HTML pages: self-contained, light and
// dark, fit for a phone and for paper.
package html

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"sync"

	"github.com/cupel-eval/cupel/reports/model"
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
	return template.Must(template.ParseFS(pageTemplates, "page/index.html.tmpl", "page/task.html.tmpl", "page/compare.html.tmpl", "page/parts.html.tmpl"))
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

// execute writes a page at once: what fails leaves nothing.
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
	Simulated                                 bool
	Candidates, Groups                        []verdictView
	Origin, Notes                             []string
	Outcomes, MoreTasks                       string
	ScriptHash                                string
	Criteria                                  []criteriaView
	Plots                                     []plotView
	own                                       map[string][]plotView // those of sections, by name
	Sections                                  []sectionView
	Strategies                                []view.StrategyView
	StrategyNotes                             []string
	// Answer says in a line which strategy wins on what.
	Answer, BoardLegend string
	Boards              []view.WinTable
	Tasks               []taskView
	Totals              []totalView
	Facts               []view.Fact
	// Single says that the page stands alone: transcripts are on it and there are
	// no files beside it.
	Single      bool
	Transcripts []template.HTML
	LeftOut     string
}

type verdictView struct {
	Verdict              chip
	Name, Sentence, Meta string
	Simulated            bool
	Figures              []view.Fact
}

type criteriaView struct {
	Name, Pooled string
	Simulated    bool
	Verdict      chip
	Rows         []criterionView
}

type criterionView struct {
	Title, Note, Value, Interval, Needs, N, Test, Rule string
	Verdict                                            chip
	Bar                                                *barView
}

// barView are x coordinates in a box 136 wide.
type barView struct{ Class, At, Low, High, Value string }

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
		Simulated: r.Run.Simulated, Confidence: r.Intervals(),
		Facts: view.Facts(r), Outcomes: view.OutcomesLine(r), ScriptHash: scriptHash(), Totals: totals(r), own: map[string][]plotView{}, Single: single,
	}
	for _, c := range r.Candidates {
		v.Simulated = v.Simulated || c.Simulated
		v.Candidates = append(v.Candidates, verdictView{chipOf(c.Verdict), words.Brief(c.Name, 80), words.Visible(c.Sentence), words.Brief(view.CandidateMeta(c), 200), c.Simulated, figures(c)})
	}
	judgements := view.Judgements(r)
	for _, j := range judgements[len(r.Candidates):] {
		v.Groups = append(v.Groups, verdictView{chipOf(j.Verdict), words.Brief(j.Name, 80), words.Visible(j.Sentence), words.Clip(j.About, 300), false, nil})
	}
	for _, line := range view.Origin(r) {
		v.Origin = append(v.Origin, words.Clip(line, 400))
	}
	for _, n := range r.Notes {
		v.Notes = append(v.Notes, words.Clip(n, 400))
	}
	v.Criteria, v.Strategies = criteriaViews(judgements), view.StrategyViews(r)
	if r.Strategies != nil {
		first := r.Strategies.All()[0]
		v.Answer, v.BoardLegend, v.Boards = first.Name()+": "+words.Clip(view.Answer(first), 600), words.UpperFirst(view.WinLegend)+"; a win is bold", view.WinTables(r.Strategies)
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
	if more := len(r.Tasks) - len(v.Tasks); more > 0 {
		v.MoreTasks = fmt.Sprintf("To keep this page small, %s are left out, those that were always solved first; report.json has them.", words.Plural(more, "task"))
	}
	for _, s := range view.Sections(r, linked) {
		v.Sections = append(v.Sections, sectionView{s, v.own[s.Figure], failureViews(r, s.Unsolved, linked)})
	}
}

// Contest are the plots of strategies.
func (v pageView) Contest() []plotView { return v.own[model.FigStrategies] }

// figures are a candidate's most asked for measurements.
func figures(c model.Candidate) []view.Fact {
	return []view.Fact{{Name: "solved", Value: c.Success.Rate()}, {Name: "a solved task", Value: words.DollarsOf(c.CostPerSolved)}, {Name: "median turn", Value: view.Median(c.Latency)}}
}

// criteriaViews lists every candidate's and group's criteria; the bars of one
// criterion share an axis.
func criteriaViews(judgements []view.Judgement) []criteriaView {
	axes := map[string]*axis{}
	for _, j := range judgements {
		for _, c := range j.Criteria {
			if axes[c.Name] == nil {
				axes[c.Name] = &axis{low: c.Threshold, high: c.Threshold}
			}
			if c.Interval != nil {
				axes[c.Name].include(c.Interval.Low, c.Interval.High)
			}
		}
	}
	rows := func(list []model.Criterion) (views []criterionView) {
		for _, c := range list {
			views = append(views, criterionView{
				Title: c.Title, Note: words.Visible(c.Note), Value: c.ValueText(), Interval: c.IntervalText(), Needs: c.NeedsText(), N: words.Thousands(int64(c.N)),
				Test: c.Test, Rule: c.RuleText(), Verdict: chipOf(c.Verdict), Bar: axes[c.Name].bar(c),
			})
		}
		return views
	}
	var views []criteriaView
	for _, j := range judgements {
		views = append(views, criteriaView{words.Brief(j.Name, 80), words.Clip(j.About, 300), j.Simulated, chipOf(j.Verdict), rows(j.Criteria)})
	}
	return views
}

// axis is the range of one criterion's bars.
type axis struct{ low, high float64 }

func (a *axis) include(low, high float64) { a.low, a.high = min(a.low, low), max(a.high, high) }

func (a *axis) bar(c model.Criterion) *barView {
	if c.Interval == nil || c.Value == nil || c.Verdict == stat.NotJudged {
		return nil
	}
	at := func(v float64) string {
		if a.high == a.low {
			return "68"
		}
		return strconv.FormatFloat(6+124*(v-a.low)/(a.high-a.low), 'f', 1, 64)
	}
	return &barView{string(c.Verdict), at(c.Threshold), at(c.Interval.Low), at(c.Interval.High), at(*c.Value)}
}
