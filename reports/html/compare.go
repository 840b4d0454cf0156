package html

import (
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/transcript"
	"github.com/cupel-eval/cupel/reports/view"
	"github.com/cupel-eval/cupel/reports/view/compared"
	"github.com/cupel-eval/cupel/reports/words"
)

// Bounds of the page of a comparison.
const (
	maxCompareTasks   = 1000      // rows, of all pairs
	maxTaskBytes      = 600 << 10 // and what these take; about half of that is markup
	maxNotes          = 100
	maxSides          = 40        // tasks shown side by side
	maxSidesBytes     = 900 << 10 // and what these take
	maxSaidOfSides    = 600 << 10 // texts in them; the rest is what the ledger knows
	maxPromptsOfSides = 64 << 10  // system prompts, each once
)

// Comparison writes a comparison as one self-contained page: no network, no other
// file, light and dark, fit for a phone and for paper. Tasks that changed are shown
// side by side, those that broke first, within a budget; sides says how their
// episodes went, and may be nil.
func Comparison(w io.Writer, c compare.Comparison, sides SidesOf) error {
	v := comparePage{
		CSS: template.CSS(pageStyle), Script: template.JS(pageScript), ScriptHash: scriptHash(),
		Verdict: c.Verdict, Headline: words.Clip(c.Headline, 400), Heads: compared.Headings(c), OneRun: c.OneRun,
		Simulated: c.New.Simulated || slices.ContainsFunc(compared.Baselines(c), func(s compare.Side) bool { return s.Simulated }), Facts: compareFacts(c), Classes: ChangedFirst(),
	}
	for _, r := range compared.RunsOf(c) {
		v.Runs = append(v.Runs, compared.RunView{Name: r.Name, Line: words.Clip(r.Line, 1200)})
	}
	for _, s := range compared.Sections(c) {
		v.Sections = append(v.Sections, sectionView{Section: s})
	}
	for _, n := range c.Notes[:min(len(c.Notes), maxNotes)] {
		v.Notes = append(v.Notes, words.Clip(n, 400))
	}
	for _, p := range c.Pairs {
		v.Pairs = append(v.Pairs, pairViewOf(p))
	}
	b, err := sidesOf(c, sides)
	if err != nil {
		return err
	}
	v.Sides, v.Systems, v.NoSides = b.blocks, b.systems.Views, b.left
	v.tasks(c, b.anchors)
	return execute(w, "compare.html.tmpl", v)
}

// comparePage is what the template shows: strings, and coordinates of small
// drawings.
type comparePage struct {
	CSS                        template.CSS
	Script                     template.JS
	ScriptHash, Headline       string
	Verdict                    stat.Verdict
	Heads                      compare.Names // of both sides
	OneRun, Simulated          bool
	Runs                       []compared.RunView
	Pairs                      []pairView
	Sections                   []sectionView
	Notes, Classes             []string
	Tasks                      []comparedTask
	Changed, ByChance, NoTasks string
	Sides                      []template.HTML
	NoSides                    string
	Systems                    []transcript.SystemView
	Facts                      []view.Fact
}

type pairView struct {
	Name, Sentence, Meta, Counts, Episodes string
	Verdict                                chip
	Metrics                                []metricView
}

type metricView struct {
	Title, Details, Baseline, New, Effect, Interval, Adjusted, Margin, Tasks string
	Verdict                                                                  chip
	Bar                                                                      *effectBar
}

// effectBar is a change against none and against the tolerated loss: x
// coordinates in a box 136 wide. What is better lies to the right.
type effectBar struct{ Class, Zero, Margin, Low, High, Value, Words string }

type comparedTask struct {
	ID, Title, Pair, Class, Outcome, Order, Rank, Sign, Colour, Adjusted, Known, Href string
	Baseline, New                                                                     sharedCell
}

// sharedCell is a share of trials, coloured as in the heat map of a report.
type sharedCell struct{ Class, Rate, Text string }

func pairViewOf(p compare.Pair) pairView {
	v := pairView{
		Name: words.Brief(compared.PairName(p), 160), Sentence: words.Clip(p.Sentence, 900), Verdict: chipOf(p.Verdict), Counts: compared.ClassCounts(p.Tasks), Episodes: compared.PairCounts(p),
		Meta: words.Brief(words.Join(" · ", p.New.Agent, words.Join("/", p.New.Provider, p.New.Model), p.New.OutputMode, p.New.PromptProfile), 200),
	}
	v.Verdict.Word = compared.PairWord(p)
	for _, m := range p.Metrics {
		row := metricView{
			Title: words.Clip(m.Title, 100), Details: words.Clip(words.Join(" ", compared.Details(m), words.UpperFirst(m.Test)), 1000), Baseline: words.InUnit(m.Unit, m.Baseline), New: words.InUnit(m.Unit, m.New),
			Effect: compared.Change(m), Interval: words.SpanOf(m.Unit, m.Interval), Adjusted: compared.AdjustedP(m), Margin: compared.Margin(m), Tasks: words.Thousands(int64(m.Clusters)),
			Verdict: chipOf(m.Verdict), Bar: effectBarOf(m),
		}
		row.Verdict.Word = compared.MetricWord(m)
		v.Metrics = append(v.Metrics, row)
	}
	return v
}

// effectBarOf draws a change: zero is in the middle, the margin on the side of the
// loss. nil without an interval.
func effectBarOf(m compare.Metric) *effectBar {
	if m.Effect == nil || m.Interval == nil {
		return nil
	}
	good := 1.0
	if !m.HigherIsBetter {
		good = -1
	}
	low, high, value := good*m.Interval.Low, good*m.Interval.High, good**m.Effect
	if low > high {
		low, high = high, low
	}
	reach := max(math.Abs(low), math.Abs(high), math.Abs(value))
	if m.Margin != nil {
		reach = max(reach, *m.Margin)
	}
	at := func(v float64) string {
		if reach == 0 || math.IsNaN(reach) || math.IsInf(reach, 0) {
			return "68"
		}
		return strconv.FormatFloat(68+62*v/reach, 'f', 1, 64)
	}
	b := &effectBar{
		Class: string(m.Verdict), Zero: "68", Low: at(low), High: at(high), Value: at(value),
		Words: fmt.Sprintf("change %s, interval %s", compared.Change(m), words.SpanOf(m.Unit, m.Interval)),
	}
	if m.Margin != nil {
		b.Margin = at(-*m.Margin)
		b.Words += ", margin " + compared.Margin(m)
	}
	return b
}

// ChangedFirst are all classes, those a reader must look at first.
func ChangedFirst() (names []string) {
	for _, c := range append(compared.ChangedClasses(), flake.StableFail, flake.StablePass) {
		names = append(names, string(c))
	}
	return names
}

// taskOf is a task with the pair it belongs to.
type taskOf struct {
	*compare.Task
	pair *compare.Pair
}

// byClass are the tasks of all pairs, those a reader must look at first; within a
// class those known to be flaky come last.
func byClass(c compare.Comparison) (list []taskOf) {
	for i := range c.Pairs {
		for k := range c.Pairs[i].Tasks {
			list = append(list, taskOf{&c.Pairs[i].Tasks[k], &c.Pairs[i]})
		}
	}
	order := ChangedFirst()
	slices.SortStableFunc(list, func(a, b taskOf) int {
		if d := slices.Index(order, string(a.Class)) - slices.Index(order, string(b.Class)); d != 0 {
			return d
		}
		switch known, also := compared.Excused(*a.Task), compared.Excused(*b.Task); {
		case known == also:
			return 0
		case also:
			return -1
		}
		return 1
	})
	return list
}

// tasks fills in the table of tasks; anchors say where a task is shown side by side.
func (v *comparePage) tasks(c compare.Comparison, anchors map[*compare.Task]string) {
	all := byClass(c)
	var changed []compare.Task
	size := 0
	for _, t := range all {
		if slices.Contains(compared.ChangedClasses(), t.Class) {
			changed = append(changed, *t.Task)
		}
		pair := ""
		if len(c.Pairs) > 1 {
			pair = words.Brief(compared.PairName(*t.pair), 80)
		}
		if row := comparedTaskOf(t, pair, anchors[t.Task]); len(v.Tasks) < maxCompareTasks && size < maxTaskBytes {
			v.Tasks = append(v.Tasks, row)
			size += row.size()
		}
	}
	v.Changed, v.ByChance = fmt.Sprintf("%s of %s", words.Thousands(int64(len(changed))), words.Plural(len(all), "task")), compared.ByChance(changed)
	if more := len(all) - len(v.Tasks); more > 0 {
		v.NoTasks = fmt.Sprintf("To keep this page small, %s are left out, those that did not change first; the JSON has them.", words.Plural(more, "task"))
	}
}

func comparedTaskOf(t taskOf, pair, href string) comparedTask {
	v := comparedTask{
		ID: words.Brief(t.ID, 60), Title: words.Brief(t.Title, 120), Pair: pair, Class: string(t.Class), Order: strconv.Itoa(slices.Index(ChangedFirst(), string(t.Class))),
		Adjusted: words.Chance(&t.Adjusted), Rank: strconv.FormatFloat(t.Adjusted, 'g', 6, 64), Baseline: shareCell(t.Baseline), New: shareCell(t.New), Href: href,
	}
	v.Sign, v.Colour = classSign(t.Class)
	if slices.Contains(compared.ChangedClasses(), t.Class) {
		v.Outcome = "changed"
	}
	if t.Known != nil {
		v.Known, v.Outcome = compared.KnownWords(*t.Known), words.Join(" ", v.Outcome, "known")
	}
	return v
}

// size is about what a row takes as HTML.
func (v comparedTask) size() int {
	n := 500
	for _, s := range []string{v.ID, v.ID, v.Title, v.Pair, v.Known} {
		n += len(words.HTML(s))
	}
	return n
}

// classSign is how a class is marked: with a sign, and in the colour of a verdict.
func classSign(c flake.Stability) (sign, colour string) {
	switch c {
	case flake.NewlyBroken:
		return "✗", "fail"
	case flake.NewlyFixed:
		return "✓", "pass"
	case flake.Unclear, flake.Flaky:
		return "?", "inconclusive"
	}
	return "", ""
}

func shareCell(t stat.Trials) sharedCell {
	if t.N <= 0 {
		return sharedCell{"h-", "", "–"}
	}
	return sharedCell{heat(t.Passed, t.N), strconv.Itoa(100 * t.Passed / t.N), compared.Trials(t)}
}

// compareFacts are the rules in force.
func compareFacts(c compare.Comparison) (facts []view.Fact) {
	r := c.Rules
	bounds := []string{"solved tasks " + words.Trimmed(100*r.MaxDrop, 2) + " points", "contract-valid outputs " + words.Trimmed(100*r.MaxInvalid, 2) + " points"}
	for _, b := range []struct {
		name string
		max  float64
	}{{"steps", r.MaxSteps}, {"cost", r.MaxCost}, {"time", r.MaxLatency}} {
		if b.max > 0 {
			bounds = append(bounds, b.name+" "+words.Setting(b.max))
		}
	}
	for _, f := range []view.Fact{
		{Name: "False alarms", Value: fmt.Sprintf("at most %s over all gating metrics and pairs together, one-sided", words.Setting(r.Alpha))},
		{Name: "Margins", Value: "largest tolerated loss: " + strings.Join(bounds, ", ")},
		{Name: "No significant regression", Value: fmt.Sprintf("needs data that would detect a loss of %s points with 80%% power; a gate takes it as %s", words.Trimmed(100*r.Detectable, 2), r.Gate(stat.NoRegression))},
		{Name: "Changed tasks", Value: string(r.Changed)},
		{Name: "Known-flaky list", Value: words.Plural(len(r.Flaky), "task")},
	} {
		if f.Value != "" {
			facts = append(facts, view.Fact{Name: f.Name, Value: words.Clip(f.Value, 300)})
		}
	}
	return facts
}
