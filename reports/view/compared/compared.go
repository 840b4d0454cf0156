// Package compared says what each part of a comparison shows, once for all renderers:
// names of the sides, changes with their unit, and what decided, as text without markup.
package compared

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/flake"
	"github.com/cupel-eval/cupel/reports/words"
)

// ChangedClasses are what a reader must look at, the worst first; tasks of the
// other classes are only counted.
func ChangedClasses() []flake.Stability {
	return []flake.Stability{flake.NewlyBroken, flake.NewlyFixed, flake.Unclear, flake.Flaky, flake.Unknown}
}

// PairName is what both candidates are called, or the two names.
func PairName(p compare.Pair) string {
	if p.Baseline.Name == p.New.Name {
		return p.New.Name
	}
	return p.Baseline.Name + " → " + p.New.Name
}

// SideNames are the headings of both sides: the labels of the pairs, of at most so many
// characters. If pairs differ in these, or the two look the same, they are "first" and
// "second", as a pair names its candidates.
func SideNames(c compare.Comparison, most int) compare.Names {
	names := compare.Names{Baseline: "baseline", New: "new"}
	for i, p := range c.Pairs {
		names = compare.Names{Baseline: words.Brief(p.Labels.Baseline, most), New: words.Brief(p.Labels.New, most)}
		if i > 0 && p.Labels != c.Pairs[0].Labels || names.Baseline == names.New {
			return compare.Names{Baseline: "first", New: "second"}
		}
	}
	return names
}

// Headings are sideNames for tables whose headings begin with a capital letter; the
// name of a candidate stays as it is.
func Headings(c compare.Comparison) compare.Names {
	names := SideNames(c, 40)
	if !c.OneRun || len(c.Pairs) > 1 {
		names.Baseline, names.New = words.UpperFirst(names.Baseline), words.UpperFirst(names.New)
	}
	return names
}

// RunView is a run of a comparison.
type RunView struct{ Name, Line string }

// RunsOf are the runs of a comparison: one, if all candidates are of the same. Pooled
// baseline runs are one line.
func RunsOf(c compare.Comparison) []RunView {
	if c.OneRun {
		names := ""
		if len(c.Pairs) == 1 {
			names = "candidates " + words.Brief(c.Pairs[0].Baseline.Name, 60) + " and " + words.Brief(c.Pairs[0].New.Name, 60)
		}
		return []RunView{{"Run", words.Join(" · ", names, sideLine(c.New))}}
	}
	return []RunView{{"Baseline", sideLine(Baselines(c)...)}, {"New", sideLine(c.New)}}
}

// Baselines are all baseline runs.
func Baselines(c compare.Comparison) []compare.Side {
	return append([]compare.Side{c.Baseline}, c.Pooled...)
}

// maxPooled is how many pooled runs a line names.
const maxPooled = 8

// RunIDs names runs.
func RunIDs(sides []compare.Side) string {
	var ids []string
	for _, s := range sides {
		ids = append(ids, words.Brief(s.RunID, 64))
	}
	return clip.Names(ids, maxPooled)
}

// sideLine says of a run, or of several that are pooled, what a reader of the
// comparison needs: each value of the runs once.
func sideLine(sides ...compare.Side) string {
	head := RunIDs(sides)
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
	return words.Join(" · ", head,
		values(func(s compare.Side) string { return "suite " + words.Brief(s.Suite, 60) }),
		values(func(s compare.Side) string { return words.Brief(s.Mode, 60) }),
		values(func(s compare.Side) string { return words.Plural(s.Trials, "trial") }),
		values(func(s compare.Side) string { return words.Brief(s.Status, 20) }),
		values(func(s compare.Side) string {
			if at, err := time.Parse(time.RFC3339Nano, s.Started); err == nil {
				return at.UTC().Format("2 Jan 2006, 15:04 UTC")
			}
			return words.Brief(s.Started, 40)
		}),
		values(func(s compare.Side) string {
			if s.Simulated {
				return "SIMULATED"
			}
			return ""
		}),
		values(func(s compare.Side) string { return "cupel " + words.Brief(s.CodeVersion, 40) }))
}

// DifferenceWords are what differs and how. A single pair of candidates is not named.
func DifferenceWords(c compare.Comparison, d compare.Difference) (what, how string) {
	what = d.What
	only := len(c.Pairs) == 1 && (d.Where == c.Pairs[0].New.Name || d.Where == c.Pairs[0].Baseline.Name+" and "+c.Pairs[0].New.Name)
	if d.Where != "" && !only {
		what = d.What + " of " + words.Brief(d.Where, 160)
	}
	how = words.Clip(d.Baseline, 200) + " → " + words.Clip(d.New, 200)
	if d.Misleads {
		how += " (misleads)"
	}
	return what, how
}

// GateWords are a verdict in a sentence, with the reason if only the rules keep a gate
// from accepting it.
func GateWords(rules compare.Rules, v stat.Verdict) string {
	if v == stat.NoRegression && rules.Gate(v) != stat.Pass {
		return words.Word(v) + " (on_unclear is fail)"
	}
	return words.Word(v)
}

// PairWord is the verdict of a pair in a table.
func PairWord(p compare.Pair) string {
	if p.Verdict == stat.Pass && slices.ContainsFunc(p.Metrics, func(m compare.Metric) bool { return m.Improved }) {
		return "improved"
	}
	return words.Word(p.Verdict)
}

// ByChance says what single trials cannot tell of the tasks that changed; empty if none
// changed, or if a side has more trials of one.
func ByChance(tasks []compare.Task) string {
	for _, t := range tasks {
		if t.Baseline.N > 1 || t.New.N > 1 {
			return ""
		}
	}
	if len(tasks) == 0 {
		return ""
	}
	return words.Plural(len(tasks), "task") + " changed outcome. With one trial per side this can be chance."
}

// Trials is "2/3".
func Trials(t stat.Trials) string { return fmt.Sprintf("%d/%d", t.Passed, t.N) }

// ClassCounts says how many tasks are in each class, in the order of the classes.
func ClassCounts(tasks []compare.Task) string {
	n, worse := map[flake.Stability]int{}, 0
	for _, t := range tasks {
		if n[t.Class]++; t.Class == flake.Unclear && rise(t) < 0 {
			worse++
		}
	}
	var parts []string
	for _, c := range append([]flake.Stability{flake.StablePass, flake.StableFail}, ChangedClasses()...) {
		switch {
		case n[c] == 0:
		case c == flake.Unclear:
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

// ChangedTasks are those of the classes a reader must look at, in their order, those
// that went worse first, without those known to be flaky.
func ChangedTasks(tasks []compare.Task) (list []compare.Task) {
	order := ChangedClasses()
	for _, t := range tasks {
		if slices.Contains(order, t.Class) && !Excused(t) {
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

// TaskWords are what speaks for a task's class.
func TaskWords(t compare.Task) string {
	return cmp.Or(words.Clip(t.Evidence, 300), Trials(t.Baseline)+" → "+Trials(t.New))
}

// TaskCounts are a task's solved trials on both sides.
func TaskCounts(p compare.Pair, t compare.Task) string {
	return fmt.Sprintf("%s %s, %s %s", words.Brief(p.Labels.Baseline, 40), Trials(t.Baseline), words.Brief(p.Labels.New, 40), Trials(t.New))
}

// TaskLine says in a line how a task changed: its trials, p where there are several, and the
// first difference.
func TaskLine(p compare.Pair, t compare.Task) string {
	text := TaskCounts(p, t)
	if t.Baseline.N > 1 && t.New.N > 1 {
		text += ", adjusted p " + words.Chance(&t.Adjusted)
	}
	if len(t.Episodes) > 0 {
		if d := FirstDifference(t.Episodes[0]); d != "" {
			text += fmt.Sprintf(". Trial %d: %s", t.Episodes[0].Trial, words.LowerFirst(d))
		}
	}
	return text
}

// Excused says that a task is on the known-flaky list and does not gate.
func Excused(t compare.Task) bool { return t.Known != nil && !t.Known.Expired }

// OnList are the tasks on the known-flaky list, also those that have expired.
func OnList(tasks []compare.Task) (list []compare.Task) {
	for _, t := range tasks {
		if t.Known != nil {
			list = append(list, t)
		}
	}
	return list
}

// KnownWords are a task's entry on the known-flaky list.
func KnownWords(k compare.KnownFlaky) string {
	until := "until " + words.Brief(k.Expires, 20)
	if k.Expired {
		until = "expired " + words.Brief(k.Expires, 20) + ", so it gates again"
	}
	return words.Join(": ", fmt.Sprintf("%s, %s", words.Brief(k.Owner, 80), until), words.Clip(k.Reason, 200))
}

// EpisodeWords say how a trial ended on both sides, and where they diverge.
func EpisodeWords(e compare.EpisodePair) string {
	side := func(id, ended string) string {
		if id == "" {
			return "none"
		}
		return words.Brief(ended, 60)
	}
	text := fmt.Sprintf("trial %d: %s → %s", e.Trial, side(e.BaselineID, e.BaselineEnded), side(e.NewID, e.NewEnded))
	if d := FirstDifference(e); d != "" {
		text += "; " + words.LowerFirst(d)
	}
	return text
}

// FirstDifference is the first turn at which two episodes differ, and in what.
func FirstDifference(e compare.EpisodePair) string {
	if e.Turn == 0 {
		return words.UpperFirst(words.Clip(e.What, 200))
	}
	return fmt.Sprintf("First difference at turn %d: %s", e.Turn, words.Clip(e.What, 200))
}

// FailureChanges are the kinds of failure that there were any of, those that changed first.
func FailureChanges(list []compare.FailureChange) []compare.FailureChange {
	list = slices.DeleteFunc(slices.Clone(list), func(d compare.FailureChange) bool { return d.Baseline == 0 && d.New == 0 })
	slices.SortStableFunc(list, func(a, b compare.FailureChange) int {
		switch {
		case a.Changed == b.Changed:
			return 0
		case a.Changed:
			return -1
		}
		return 1
	})
	return list
}

// FailureChangeWords say how often a kind of failure occurred on both sides.
func FailureChangeWords(d compare.FailureChange) string {
	text := fmt.Sprintf("%s %d of %d → %d of %d", d.Kind, d.Baseline, d.BaselineOf, d.New, d.NewOf)
	if d.P != nil {
		text += fmt.Sprintf(", p %s, adjusted %s", words.Chance(d.P), words.Chance(d.Adjusted))
	}
	if d.Changed {
		text += ": changed"
	}
	return text
}

// PairCounts say which episodes the numbers rest on.
func PairCounts(p compare.Pair) string {
	parts := []string{words.Plural(p.Episodes, "pair") + " of episodes"}
	for _, c := range []struct {
		n    int
		what string
	}{
		{p.BaselineOnly, "only in " + words.Brief(p.Labels.Baseline, 60)}, {p.NewOnly, "only in " + words.Brief(p.Labels.New, 60)},
		{p.WithoutResult, "left out for lack of a result"}, {p.Known, "known to be flaky and left out of gating metrics"},
	} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", words.Thousands(int64(c.n)), c.what))
		}
	}
	return strings.Join(parts, ", ")
}
