package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
)

// changedClasses are what a reader must look at, the worst first; tasks of the
// other classes are only counted.
func changedClasses() []stat.Stability {
	return []stat.Stability{stat.NewlyBroken, stat.NewlyFixed, stat.Unclear, stat.Flaky, stat.Unknown}
}

// pairName is what both candidates are called, or the two names.
func pairName(p compare.Pair) string {
	if p.Baseline.Name == p.New.Name {
		return p.New.Name
	}
	return p.Baseline.Name + " → " + p.New.Name
}

// sideNames are the headings of both sides: the labels of the pairs, of at most so many
// characters. If pairs differ in these, or the two look the same, they are "first" and
// "second", as a pair names its candidates.
func sideNames(c compare.Comparison, most int) compare.Names {
	names := compare.Names{Baseline: "baseline", New: "new"}
	for i, p := range c.Pairs {
		names = compare.Names{Baseline: brief(p.Labels.Baseline, most), New: brief(p.Labels.New, most)}
		if i > 0 && p.Labels != c.Pairs[0].Labels || names.Baseline == names.New {
			return compare.Names{Baseline: "first", New: "second"}
		}
	}
	return names
}

// headings are sideNames for tables whose headings begin with a capital letter; the
// name of a candidate stays as it is.
func headings(c compare.Comparison) compare.Names {
	names := sideNames(c, 40)
	if !c.OneRun || len(c.Pairs) > 1 {
		names.Baseline, names.New = upperFirst(names.Baseline), upperFirst(names.New)
	}
	return names
}

// runView is a run of a comparison.
type runView struct{ Name, Line string }

// runsOf are the runs of a comparison: one, if all candidates are of the same. Pooled
// baseline runs are one line.
func runsOf(c compare.Comparison) []runView {
	if c.OneRun {
		return []runView{{"Run", sideLine(c.New)}}
	}
	return []runView{{"Baseline", sideLine(baselines(c)...)}, {"New", sideLine(c.New)}}
}

// baselines are all baseline runs.
func baselines(c compare.Comparison) []compare.Side {
	return append([]compare.Side{c.Baseline}, c.Pooled...)
}

// maxPooled is how many pooled runs a line names.
const maxPooled = 8

// runIDs names runs.
func runIDs(sides []compare.Side) string {
	var ids []string
	for _, s := range sides[:min(len(sides), maxPooled)] {
		ids = append(ids, brief(s.RunID, 64))
	}
	text := strings.Join(ids, ", ")
	if more := len(sides) - maxPooled; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// sideLine says of a run, or of several that are pooled, what a reader of the
// comparison needs: each value of the runs once.
func sideLine(sides ...compare.Side) string {
	head := runIDs(sides)
	if len(sides) > 1 {
		head = fmt.Sprintf("%d runs pooled (%s)", len(sides), head)
	}
	values := func(of func(compare.Side) string) string {
		var list []string
		for _, s := range sides {
			if v := of(s); v != "" && !slices.Contains(list, v) {
				list = append(list, v)
			}
		}
		if len(list) > maxPooled {
			list = append(list[:maxPooled], "…")
		}
		return strings.Join(list, ", ")
	}
	return join(" · ", head,
		values(func(s compare.Side) string { return "suite " + brief(s.Suite, 60) }),
		values(func(s compare.Side) string { return brief(s.Mode, 60) }),
		values(func(s compare.Side) string { return plural(s.Trials, "trial") }),
		values(func(s compare.Side) string { return brief(s.Status, 20) }),
		values(func(s compare.Side) string { return brief(s.Started, 40) }),
		values(func(s compare.Side) string {
			if s.Simulated {
				return "SIMULATED"
			}
			return ""
		}),
		values(func(s compare.Side) string { return "cupel " + brief(s.CodeVersion, 40) }))
}

// differenceWords are what differs and how.
func differenceWords(d compare.Difference) (what, how string) {
	what = d.What
	if d.Where != "" {
		what = d.What + " of " + brief(d.Where, 160)
	}
	how = clip(d.Baseline, 200) + " → " + clip(d.New, 200)
	if d.Misleads {
		how += " (misleads)"
	}
	return what, how
}

// change is a metric's, with its unit: "-15.6 pts".
func change(m compare.Metric) string { return signed(m.Unit, m.Effect) + points(m.Unit, m.Effect) }

// margin is the tolerated loss of a metric.
func margin(m compare.Metric) string {
	return strings.TrimPrefix(signed(m.Unit, m.Margin), "+") + points(m.Unit, m.Margin)
}

// changeInterval is the interval of a change: "-22.1 to +1".
func changeInterval(m compare.Metric) string {
	if m.Interval == nil {
		return "–"
	}
	return signed(m.Unit, &m.Interval.Low) + " to " + signed(m.Unit, &m.Interval.High)
}

// metricWhy says in one line what decided a gating metric.
func metricWhy(m compare.Metric) string {
	parts := []string{fmt.Sprintf("%s %s → %s, %s (%s)", metricTitle(m), inUnit(m.Unit, m.Baseline), inUnit(m.Unit, m.New), change(m), changeInterval(m))}
	if m.P != nil {
		parts = append(parts, fmt.Sprintf("p %s, adjusted %s", chance(m.P), chance(m.Adjusted)))
	}
	if m.Margin != nil {
		parts = append(parts, "margin "+margin(m))
	}
	parts = append(parts, fmt.Sprintf("%s pairs of %s", thousands(int64(m.N)), plural(m.Clusters, "task")))
	return join(" ", strings.Join(parts, "; ")+".", m.Note, m.Power)
}

// metricTitle is a metric's name within a line.
func metricTitle(m compare.Metric) string { return lowerFirst(cmp.Or(m.Title, m.Name, "metric")) }

// verdictIn is a metric's verdict within its pair: where too much was lost to judge
// the pair, no metric fails.
func verdictIn(p compare.Pair, m compare.Metric) stat.Verdict {
	if m.Verdict == Fail && p.Verdict != Fail {
		return Inconclusive
	}
	return m.Verdict
}

// gateWords are a verdict in a sentence, with the reason if only the rules keep a gate
// from accepting it.
func gateWords(rules compare.Rules, v Verdict) string {
	if v == NoRegression && rules.Gate(v) != Pass {
		return word(v) + " (on_unclear is fail)"
	}
	return word(v)
}

// trials is "2/3".
func trials(t stat.Trials) string { return fmt.Sprintf("%d/%d", t.Passed, t.N) }

// classCounts says how many tasks are in each class, in the order of the classes.
func classCounts(tasks []compare.Task) string {
	n, worse := map[stat.Stability]int{}, 0
	for _, t := range tasks {
		if n[t.Class]++; t.Class == stat.Unclear && rise(t) < 0 {
			worse++
		}
	}
	var parts []string
	for _, c := range append([]stat.Stability{stat.StablePass, stat.StableFail}, changedClasses()...) {
		switch {
		case n[c] == 0:
		case c == stat.Unclear:
			parts = append(parts, fmt.Sprintf("%d %s (%d for the worse)", n[c], c, worse))
		default:
			parts = append(parts, fmt.Sprintf("%d %s", n[c], c))
		}
	}
	if parts == nil {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// changedTasks are those of the classes a reader must look at, in their order, those
// that went worse first, without those known to be flaky.
func changedTasks(tasks []compare.Task) (list []compare.Task) {
	order := changedClasses()
	for _, t := range tasks {
		if slices.Contains(order, t.Class) && !known(t) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b compare.Task) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Class), slices.Index(order, b.Class)), cmp.Compare(rise(a), rise(b)))
	})
	return list
}

// rise is the change of a task's share of passes, 0 where a side has no trial.
func rise(t compare.Task) float64 {
	if t.Baseline.N == 0 || t.New.N == 0 {
		return 0
	}
	return float64(t.New.Passed)/float64(t.New.N) - float64(t.Baseline.Passed)/float64(t.Baseline.N)
}

// taskWords are what speaks for a task's class.
func taskWords(t compare.Task) string {
	return cmp.Or(clip(t.Evidence, 300), trials(t.Baseline)+" → "+trials(t.New))
}

// known says that a task is on the known-flaky list and does not gate.
func known(t compare.Task) bool { return t.Known != nil && !t.Known.Expired }

// onList are the tasks on the known-flaky list, also those that have expired.
func onList(tasks []compare.Task) (list []compare.Task) {
	for _, t := range tasks {
		if t.Known != nil {
			list = append(list, t)
		}
	}
	return list
}

// knownWords are a task's entry on the known-flaky list.
func knownWords(k compare.KnownFlaky) string {
	until := "until " + brief(k.Expires, 20)
	if k.Expired {
		until = "expired " + brief(k.Expires, 20) + ", so it gates again"
	}
	return join(": ", fmt.Sprintf("%s, %s", brief(k.Owner, 80), until), clip(k.Reason, 200))
}

// episodeWords say how a trial ended on both sides, and where they diverge.
func episodeWords(e compare.EpisodePair) string {
	side := func(id, ended string) string {
		if id == "" {
			return "none"
		}
		return brief(ended, 60)
	}
	text := fmt.Sprintf("trial %d: %s → %s", e.Trial, side(e.BaselineID, e.BaselineEnded), side(e.NewID, e.NewEnded))
	if e.Turn > 0 {
		text += fmt.Sprintf(", first differs at turn %d: %s", e.Turn, clip(e.What, 200))
	}
	return text
}

// drifts are the kinds of failure that there were any of, those that changed first.
func drifts(list []compare.Drift) []compare.Drift {
	list = slices.DeleteFunc(slices.Clone(list), func(d compare.Drift) bool { return d.Baseline == 0 && d.New == 0 })
	slices.SortStableFunc(list, func(a, b compare.Drift) int {
		switch {
		case a.Moved == b.Moved:
			return 0
		case a.Moved:
			return -1
		}
		return 1
	})
	return list
}

func driftWords(d compare.Drift) string {
	text := fmt.Sprintf("%s %d of %d → %d of %d", d.Kind, d.Baseline, d.BaselineOf, d.New, d.NewOf)
	if d.P != nil {
		text += fmt.Sprintf(", p %s, adjusted %s", chance(d.P), chance(d.Adjusted))
	}
	if d.Moved {
		text += ": changed"
	}
	return text
}

// pairCounts say which episodes the numbers rest on.
func pairCounts(p compare.Pair) string {
	parts := []string{plural(p.Episodes, "pair") + " of episodes"}
	for _, c := range []struct {
		n    int
		what string
	}{
		{p.BaselineOnly, "only in " + brief(p.Labels.Baseline, 60)}, {p.NewOnly, "only in " + brief(p.Labels.New, 60)},
		{p.WithoutResult, "left out for lack of a result"}, {p.Known, "known to be flaky and left out of gating metrics"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", thousands(int64(c.n)), c.what))
		}
	}
	return strings.Join(parts, ", ")
}
