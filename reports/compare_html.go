package reports

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
)

// Bounds of the page of a comparison.
const (
	maxCompareTasks   = 1000      // rows, of all pairs
	maxTaskBytes      = 600 << 10 // and what these take; about half of that is markup
	maxKnownRows      = 100
	maxSides          = 40        // tasks shown side by side
	maxSidesBytes     = 900 << 10 // and what these take
	maxSaidOfSides    = 600 << 10 // texts in them; the rest is what the ledger knows
	maxPromptsOfSides = 64 << 10  // system prompts, each once
)

// CompareHTML writes a comparison as one self-contained page: no network, no other
// file, light and dark, fit for a phone and for paper. Tasks that changed are shown
// side by side, those that broke first, within a budget; sides says how their
// episodes went, and may be nil.
func CompareHTML(w io.Writer, c compare.Comparison, sides SidesOf) error {
	v := comparePage{
		CSS: template.CSS(pageStyle), Script: template.JS(pageScript), ScriptHash: scriptHash(),
		Verdict: chipOf(c.Verdict), Headline: clip(c.Headline, 400),
		Heads: headings(c), OneRun: c.OneRun,
		Simulated: c.New.Simulated || slices.ContainsFunc(baselines(c), func(s compare.Side) bool { return s.Simulated }), Facts: compareFacts(c), Classes: changedFirst(),
	}
	for _, r := range runsOf(c) {
		v.Runs = append(v.Runs, runView{r.Name, clip(r.Line, 1200)})
	}
	for _, d := range c.Differences[:min(len(c.Differences), maxKnownRows)] {
		what, _ := differenceWords(d)
		v.Differences = append(v.Differences, differenceView{clip(what, 300), clip(d.Baseline, 200), clip(d.New, 200), d.Misleads})
	}
	for _, n := range c.Notes[:min(len(c.Notes), maxKnownRows)] {
		v.Notes = append(v.Notes, clip(n, 400))
	}
	for _, p := range c.Pairs {
		v.Pairs = append(v.Pairs, pairViewOf(p))
	}
	b, err := sidesOf(c, sides)
	if err != nil {
		return err
	}
	v.Sides, v.Systems, v.NoSides = b.blocks, b.systems.views, b.left
	v.tasks(c, b.anchors)
	return execute(w, "compare.html.tmpl", v)
}

// comparePage is what the template shows: strings, and coordinates of small
// drawings.
type comparePage struct {
	CSS                template.CSS
	Script             template.JS
	ScriptHash         string
	Verdict            chip
	Headline           string
	Heads              compare.Names // of both sides
	OneRun             bool
	Runs               []runView
	Simulated          bool
	Pairs              []pairView
	Differences        []differenceView
	Notes              []string
	Classes            []string
	Tasks              []comparedTask
	Changed, MoreTasks string
	Known              []knownView
	Sides              []template.HTML
	NoSides            string
	Systems            []systemView
	Facts              []fact
}

type differenceView struct {
	What, Baseline, New string
	Misleads            bool
}

type pairView struct {
	Name, Sentence, Meta, Counts, Episodes string
	Verdict                                chip
	Simulated                              bool
	Metrics                                []metricView
	Drift                                  []driftView
}

type metricView struct {
	Title, Note, Power, Baseline, New, Effect, Interval, P, Adjusted, Margin, Test, N string
	Verdict                                                                           chip
	Gates                                                                             bool
	Bar                                                                               *effectBar
}

// effectBar is a change against none and against the tolerated loss: x
// coordinates in a box 136 wide. What is better lies to the right.
type effectBar struct{ Class, Zero, Margin, Low, High, Value, Words string }

type driftView struct {
	Kind, Baseline, New, P, Adjusted string
	Moved                            bool
}

type comparedTask struct {
	ID, Title, Pair, Class, Outcome, Order, Rank, Sign, Colour, Evidence, P, Adjusted, Known, Href string
	Baseline, New                                                                                  sharedCell
}

// sharedCell is a share of trials, coloured as in the heat map of a report.
type sharedCell struct{ Class, Rate, Text string }

type knownView struct {
	Task, Pair, Was, Class, Owner, Expires, Reason string
	Expired                                        bool
}

func pairViewOf(p compare.Pair) pairView {
	v := pairView{
		Name: brief(pairName(p), 160), Sentence: clip(p.Sentence, 600), Verdict: chipOf(p.Verdict), Counts: classCounts(p.Tasks),
		Episodes: pairCounts(p), Simulated: p.Baseline.Simulated || p.New.Simulated,
		Meta: brief(join(" · ", p.New.Agent, join("/", p.New.Provider, p.New.Model), p.New.OutputMode, p.New.PromptProfile), 200),
	}
	for _, m := range p.Metrics {
		v.Metrics = append(v.Metrics, metricViewOf(m))
	}
	for _, d := range drifts(p.Drift) {
		v.Drift = append(v.Drift, driftView{
			Kind: brief(string(d.Kind), 40), Baseline: ofEpisodes(d.Baseline, d.BaselineOf), New: ofEpisodes(d.New, d.NewOf),
			P: chance(d.P), Adjusted: chance(d.Adjusted), Moved: d.Moved,
		})
	}
	return v
}

func ofEpisodes(k, n int) string { return thousands(int64(k)) + " of " + thousands(int64(n)) }

func metricViewOf(m compare.Metric) metricView {
	v := metricView{
		Title: clip(m.Title, 100), Note: clip(m.Note, 400), Power: clip(m.Power, 400), Test: clip(m.Test, 200), Gates: m.Gates,
		Baseline: inUnit(m.Unit, m.Baseline), New: inUnit(m.Unit, m.New), Effect: change(m), Interval: changeInterval(m),
		P: chance(m.P), Adjusted: chance(m.Adjusted), N: fmt.Sprintf("%s of %s", thousands(int64(m.N)), plural(m.Clusters, "task")),
		Verdict: chipOf(m.Verdict), Bar: effectBarOf(m),
	}
	if m.Margin != nil {
		v.Margin = margin(m)
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
		Words: fmt.Sprintf("change %s, interval %s", change(m), changeInterval(m)),
	}
	if m.Margin != nil {
		b.Margin = at(-*m.Margin)
		b.Words += ", margin " + margin(m)
	}
	return b
}

// changedFirst are all classes, those a reader must look at first.
func changedFirst() (names []string) {
	for _, c := range append(changedClasses(), stat.StableFail, stat.StablePass) {
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
	order := changedFirst()
	slices.SortStableFunc(list, func(a, b taskOf) int {
		if d := slices.Index(order, string(a.Class)) - slices.Index(order, string(b.Class)); d != 0 {
			return d
		}
		switch known, also := known(*a.Task), known(*b.Task); {
		case known == also:
			return 0
		case also:
			return -1
		}
		return 1
	})
	return list
}

// tasks fills in the table of tasks and the known-flaky list; anchors say where a
// task is shown side by side.
func (v *comparePage) tasks(c compare.Comparison, anchors map[*compare.Task]string) {
	all := byClass(c)
	several := len(c.Pairs) > 1
	changed, size := 0, 0
	for _, t := range all {
		if slices.Contains(changedClasses(), t.Class) {
			changed++
		}
		pair := ""
		if several {
			pair = brief(pairName(*t.pair), 80)
		}
		if t.Known != nil && len(v.Known) < maxKnownRows {
			v.Known = append(v.Known, knownView{
				Task: brief(t.ID, 60), Pair: pair, Was: trials(t.Baseline) + " → " + trials(t.New), Class: string(t.Class), Owner: brief(t.Known.Owner, 80),
				Expires: brief(t.Known.Expires, 20), Reason: clip(t.Known.Reason, 200), Expired: t.Known.Expired,
			})
		}
		if row := comparedTaskOf(t, pair, anchors[t.Task]); len(v.Tasks) < maxCompareTasks && size < maxTaskBytes {
			v.Tasks = append(v.Tasks, row)
			size += row.size()
		}
	}
	v.Changed = fmt.Sprintf("%s of %s", thousands(int64(changed)), plural(len(all), "task"))
	if more := len(all) - len(v.Tasks); more > 0 {
		v.MoreTasks = fmt.Sprintf("To keep this page small, %s are left out, those that did not change first; the JSON has them.", plural(more, "task"))
	}
}

func comparedTaskOf(t taskOf, pair, href string) comparedTask {
	v := comparedTask{
		ID: brief(t.ID, 60), Title: brief(t.Title, 120), Pair: pair, Class: string(t.Class), Order: strconv.Itoa(slices.Index(changedFirst(), string(t.Class))),
		Evidence: clip(t.Evidence, 300), P: chance(&t.P), Adjusted: chance(&t.Adjusted), Rank: strconv.FormatFloat(t.Adjusted, 'g', 6, 64),
		Baseline: shareCell(t.Baseline), New: shareCell(t.New), Href: href,
	}
	v.Sign, v.Colour = classSign(t.Class)
	if slices.Contains(changedClasses(), t.Class) {
		v.Outcome = "changed"
	}
	if t.Known != nil {
		v.Known, v.Outcome = knownWords(*t.Known), join(" ", v.Outcome, "known")
	}
	return v
}

// size is about what a row takes as HTML.
func (v comparedTask) size() int {
	n := 500
	for _, s := range []string{v.ID, v.ID, v.Title, v.Pair, v.Evidence, v.Known} {
		n += len(htmlText(s))
	}
	return n
}

// classSign is how a class is marked: with a sign, and in the colour of a verdict.
func classSign(c stat.Stability) (sign, colour string) {
	switch c {
	case stat.NewlyBroken:
		return "✗", "fail"
	case stat.NewlyFixed:
		return "✓", "pass"
	case stat.Unclear, stat.Flaky:
		return "?", "inconclusive"
	}
	return "", ""
}

func shareCell(t stat.Trials) sharedCell {
	if t.N <= 0 {
		return sharedCell{"h-", "", "–"}
	}
	return sharedCell{heat(t.Passed, t.N), strconv.Itoa(100 * t.Passed / t.N), trials(t)}
}

// compareFacts are the rules in force.
func compareFacts(c compare.Comparison) (facts []fact) {
	r := c.Rules
	bounds := []string{"solved tasks " + trimmed(100*r.MaxDrop, 2) + " pts", "contract-valid outputs " + trimmed(100*r.MaxInvalid, 2) + " pts"}
	for _, b := range []struct {
		name string
		max  float64
	}{{"steps", r.MaxSteps}, {"cost", r.MaxCost}, {"time", r.MaxLatency}} {
		if b.max > 0 {
			bounds = append(bounds, b.name+" "+percent(b.max))
		}
	}
	for _, f := range []fact{
		{"False alarms", fmt.Sprintf("at most %s over all gating metrics and pairs together, one-sided", percent(r.Alpha))},
		{"Margins", "largest tolerated loss: " + strings.Join(bounds, ", ")},
		{"No significant regression", fmt.Sprintf("needs data that would detect a loss of %s pts with 80%% power; a gate takes it as %s", trimmed(100*r.Detectable, 2), r.Gate(NoRegression))},
		{"Changed tasks", string(r.Changed)},
		{"Known-flaky list", plural(len(r.Flaky), "task")},
	} {
		if f.Value != "" {
			facts = append(facts, fact{f.Name, clip(f.Value, 300)})
		}
	}
	return facts
}
