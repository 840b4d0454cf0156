package judges

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/cmd/internal/console"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/rubric"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/pairwise"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/reports/preference"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/words"
)

// confidence is that of the intervals.
const confidence = 0.95

// compared is one side of a comparison.
type compared struct {
	Run       string `json:"run"`
	Candidate string `json:"candidate"`
	Provider  string `json:"provider"`
	Model     string `json:"model"`
}

func (c compared) String() string { return c.Candidate + " of " + c.Run }

// report is what a judge says of two candidates, in the form of --json.
type report struct {
	Judge      string   `json:"judge"`
	Provider   string   `json:"provider"`
	Model      string   `json:"model"`
	Simulated  bool     `json:"simulated"`
	Digest     string   `json:"digest"`
	Prompt     string   `json:"prompt"`
	Mode       string   `json:"mode"`
	Baseline   compared `json:"baseline"`
	New        compared `json:"new"`
	Confidence float64  `json:"confidence"`
	preference.Summary
	// SameModel are the candidates that use the judge's model.
	SameModel []string `json:"same_model,omitempty"`
	// AnswersOnly are the pairs of which the judge did not see what it should besides answers, for
	// the reason Why.
	AnswersOnly int    `json:"answers_only,omitempty"`
	Why         string `json:"answers_only_because,omitempty"`
	// LeftOut counts episodes that are in no pair, and Failed pairs without a preference, by reason.
	LeftOut map[string]int `json:"left_out,omitempty"`
	Failed  map[string]int `json:"without_preference,omitempty"`
	// Calls, tokens and cost are those of the judge alone, of recorded answers, too.
	Calls       int       `json:"judge_calls"`
	TokensIn    *int64    `json:"judge_tokens_in"`
	TokensOut   *int64    `json:"judge_tokens_out"`
	CostNanoUSD *int64    `json:"judge_cost_nanousd"`
	List        []verdict `json:"list"`

	clusters map[string]string // of tasks
}

// verdict is what a judge says of a pair.
type verdict struct {
	Task          string             `json:"task"`
	Trial         int                `json:"trial"`
	Outcome       preference.Outcome `json:"outcome,omitempty"`
	BaselineFirst *rubric.Preference `json:"baseline_first,omitempty"`
	NewFirst      *rubric.Preference `json:"new_first,omitempty"`
	Failure       string             `json:"failure,omitempty"`
}

func newReport(b, n side, jury helper.Jury, mode recorder.Mode) *report {
	of := func(s side) compared { return compared{s.Manifest.RunID, s.Name, s.Provider, s.Model} }
	r := &report{
		Judge: jury.Model.Name, Provider: jury.Model.Provider, Model: jury.Model.Model, Simulated: strings.HasPrefix(jury.Model.Provider, "sim-"),
		Digest: jury.Digest(), Prompt: rubric.PairVersion(), Baseline: of(b), New: of(n), Mode: string(mode), Confidence: confidence,
		LeftOut: map[string]int{}, Failed: map[string]int{}, clusters: map[string]string{},
	}
	for _, s := range []side{b, n} {
		models := []string{s.Model, s.RescueModel, s.FallbackModel, s.PlannerModel}
		if slices.ContainsFunc(models, func(m string) bool { return strings.EqualFold(m, r.Model) }) && !slices.Contains(r.SameModel, s.Name) {
			r.SameModel = append(r.SameModel, s.Name)
		}
	}
	return r
}

// add counts what the judge says.
func (r *report) add(pairs []pairwise.Pair, asked pairwise.Asked, both [2]side) {
	var tally preference.Tally
	for i, p := range pairs {
		cluster, a := r.clusters[p.Task], asked.Answers[i]
		v := verdict{Task: p.Task, Trial: p.Trial}
		switch {
		case a.Same:
			v.Outcome = tally.Same(cluster)
		case a.Orders[0].Failure != "" || a.Orders[1].Failure != "":
			v.Failure = cmp.Or(a.Orders[0].Failure, a.Orders[1].Failure)
			r.Failed[v.Failure]++
		default:
			v.BaselineFirst, v.NewFirst = &a.Orders[0].Preference, &a.Orders[1].Preference
			v.Outcome = tally.Add(cluster, v.BaselineFirst.Better, v.NewFirst.Better)
		}
		if want, ok := r.labelled(p, both); ok && v.Failure == "" {
			tally.Label(cluster, want, v.Outcome)
		}
		r.List = append(r.List, v)
	}
	r.Summary = tally.Summary(confidence)
	r.Calls, r.TokensIn, r.TokensOut, r.CostNanoUSD = asked.Calls, asked.TokensIn, asked.TokensOut, asked.CostNanoUSD
}

// labelled is the outcome by the labels of people, if they passed one episode of a pair and failed
// the other.
func (r *report) labelled(p pairwise.Pair, both [2]side) (want preference.Outcome, ok bool) {
	var passed [2]bool
	for i, s := range both {
		e := s.episodes[key{p.Task, p.Trial}].Episode
		if passed[i], ok = majority(e, manifest.JudgePrefix+r.Judge); !ok {
			if passed[i], ok = majority(e, ""); !ok {
				return "", false
			}
		}
	}
	if passed[0] == passed[1] {
		return "", false
	}
	return map[bool]preference.Outcome{true: preference.Win, false: preference.Loss}[passed[1]], true
}

// majority is what most people say of a check; ok is false without labels, and if they are divided evenly.
func majority(e ledger.Episode, check string) (pass, ok bool) {
	sum := 0
	for _, l := range e.Labels {
		if l.Check == check {
			sum += 2*index(l.Pass) - 1
		}
	}
	return sum > 0, sum != 0
}

// print writes the report as text.
func (r *report) print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s %s\n", name, console.Line(fmt.Sprintf(format, args...)))
	}
	simulated := ""
	if r.Simulated {
		simulated = ", simulated"
	}
	line("judge", "%s (%s · %s%s)", r.Judge, r.Provider, r.Model, simulated)
	line("baseline", "%s (%s)", r.Baseline, r.Baseline.Model)
	line("new", "%s (%s)", r.New, r.New.Model)
	line("pairs", "%d of %s: new preferred %d, tie %d, baseline preferred %d", r.Pairs, console.Count(r.Tasks, "task"), r.Wins, r.Ties, r.Losses)
	line("ties", "%d because the orders disagree (position-dependent), %d without a difference that the judge would see", r.PositionDependent, r.Same)
	line("share", "%s for the new one, a tie being half; %s", text(r.Preferred), r.conclusion())
	line("orders", "disagree in %s; %s of preferences are for what was shown first", text(r.Disagreement), text(r.First))
	line("calibration", "%s", r.calibration())
	if r.SameModel != nil {
		line("warning", "judge %s uses the model of %s (%s): a judge tends to prefer what its own model writes", r.Judge, words.And(r.SameModel), r.Model)
	}
	if r.AnswersOnly > 0 {
		line("warning", "the judge saw answers alone of %s: %s", console.Count(r.AnswersOnly, "pair"), r.Why)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.LeftOut)) {
		line("left out", "%s: %s", console.Count(r.LeftOut[reason], "episode"), reason)
	}
	for _, reason := range slices.Sorted(maps.Keys(r.Failed)) {
		line("failed", "%s without a preference: %s", console.Count(r.Failed[reason], "pair"), reason)
	}
	line("judge used", "%s, %s tokens in, %s out, %s; not part of the runs' cost", console.Count(r.Calls, "call"), words.Count(r.TokensIn), words.Count(r.TokensOut), words.Dollars(r.CostNanoUSD))
	_, err := io.WriteString(w, b.String())
	return err
}

// text is "61.3% (48.0–73.2%)"; a dash without data.
func text(s preference.Share) string {
	switch {
	case s.Value == nil:
		return "–"
	case s.Interval == nil:
		return words.Percent(*s.Value)
	}
	return fmt.Sprintf("%s (%s–%s%%)", words.Percent(*s.Value), words.Bound(s.Interval.Low, 0), words.Bound(s.Interval.High, 0))
}

// conclusion says whether the interval leaves it open which of both is preferred.
func (r *report) conclusion() string {
	iv := r.Preferred.Interval
	if iv == nil {
		iv = &stat.Interval{High: 1}
	}
	switch {
	case iv.Low > 0.5:
		return "the judge prefers the new one"
	case iv.High < 0.5:
		return "the judge prefers the baseline"
	}
	return "the interval has 50%, so neither is preferred significantly"
}

// calibration says what people say of the judge's preferences.
func (r *report) calibration() string {
	if r.Labelled == 0 {
		return "none: no label of people says how often its preferences are right, and they are not corrected"
	}
	return fmt.Sprintf("in %s people passed one and failed the other; the judge prefers the passed one in %s. Its preferences are not corrected", console.Count(r.Labelled, "pair"), text(r.Agreement))
}
