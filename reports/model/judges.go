package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/judges"
	"github.com/cupel-eval/cupel/reports/stat"
	"github.com/cupel-eval/cupel/reports/stat/judging"
	"github.com/cupel-eval/cupel/reports/words"
)

// Judge is a judge of the run's tasks, with what its calibration says.
type Judge struct {
	manifest.Judge
	// Calibrated means that the labels of people hold for this rubric, model and prompt. Why says
	// why not; empty if they do.
	Calibrated bool   `json:"calibrated"`
	Why        string `json:"why,omitempty"`
	// Labels were compared, in Tasks tasks.
	Labels int `json:"labels"`
	Tasks  int `json:"tasks"`
	// Agreement is that with people; null if the judge is not calibrated.
	Agreement *judges.Agreement `json:"agreement"`
	// SameModel are the candidates that use the judge's model: judges tend to prefer what they
	// would have written.
	SameModel []string `json:"same_model,omitempty"`
}

// Name is that of the judge in its suite.
func (j Judge) Name() string { return strings.TrimPrefix(j.Check, manifest.JudgePrefix) }

// maxJudges is how many judges of a run can be told apart; more are taken as not calibrated.
const maxJudges = 32

// jury are the judges of a run. It is shared by the pools of all candidates.
type jury struct {
	list   []Judge
	errors []judging.Errors // as long as list
	at     map[[2]string]int
	known  []judges.Calibration
	// trusting means that verdicts of judges without a calibration are taken as they are.
	trusting bool
}

// SetJudges says what is known of the errors of judges. It is called before the first Add.
func (b *Builder) SetJudges(list []judges.Calibration) {
	b.jury = &jury{at: map[[2]string]int{}, known: list, trusting: b.r.Run.Acceptance.Judges == manifest.JudgesAny}
	for _, j := range b.r.Run.Judges {
		b.jury.add(j)
	}
}

// add adds a judge and returns its index.
func (y *jury) add(j manifest.Judge) int {
	key := [2]string{j.Check, j.Digest}
	if i, ok := y.at[key]; ok {
		return i
	}
	if len(y.list) == maxJudges {
		return maxJudges - 1
	}
	of, errors := Judge{Judge: j}, judging.Errors{}
	c, why, ok := judges.Find(y.known, j)
	if len(y.list) == maxJudges-1 {
		ok, why = false, "a run has more judges than can be told apart"
	}
	if of.Calibrated, of.Why = ok, why; ok {
		agreement := c.Agreement()
		of.Labels, of.Tasks, of.Agreement, errors = c.Labels, c.Tasks, &agreement, judging.ErrorsOf(c.Tables())
	}
	y.at[key] = len(y.list)
	y.list, y.errors = append(y.list, of), append(y.errors, errors)
	return len(y.list) - 1
}

// decided says which judges decided an episode: those of its checks, if everything else passed.
func (y *jury) decided(row *ledger.Episode) (p judging.Pattern) {
	for _, c := range row.Checks {
		if !strings.HasPrefix(c.Name, manifest.JudgePrefix) {
			if !c.Passed {
				return judging.Pattern{}
			}
			continue
		}
		j := manifest.Judge{Check: c.Name}
		for _, s := range row.Scores {
			if s.Name == c.Name {
				j.Digest = strings.Clone(s.Digest)
			}
		}
		j.Check = strings.Clone(j.Check)
		i := y.add(j)
		p.Judges |= 1 << i
		if c.Passed {
			p.Passed |= 1 << i
		}
	}
	return p
}

// ratings counts episodes by the judges that decided them.
type ratings map[judging.Pattern]int32

func (r ratings) plus(o ratings) ratings {
	if len(o) == 0 {
		return r
	}
	r = maps.Clone(r)
	if r == nil {
		r = ratings{}
	}
	for p, n := range o {
		r[p] += n
	}
	return r
}

// rated corrects a share for the errors of the judges that decided some of it. Without such
// judges it changes nothing.
func (c *Criterion) rated(p *pool, of func(*counted) (k, n float64), by func(*counted) ratings, missing func(*counted) float64) {
	var list []judging.Cluster
	var lost []float64
	if p.jury == nil {
		return
	}
	used, all := uint32(0), p.jury.uncalibrated()
	for _, cluster := range slices.Sorted(maps.Keys(p.by)) {
		counts := p.by[cluster]
		k, n := of(counts)
		one := judging.Cluster{N: n, Sure: k, Decided: map[judging.Pattern]float64{}}
		for pattern, n := range by(counts) {
			used |= pattern.Judges
			good := pattern.Passed == pattern.Judges
			if p.jury.trusting {
				if all&^pattern.Passed&pattern.Judges != 0 {
					continue // failed by one that is taken as it is
				}
				pattern = judging.Pattern{Judges: pattern.Judges &^ all, Passed: pattern.Passed &^ all}
			}
			if pattern.Judges == 0 {
				continue
			}
			one.Decided[pattern] += float64(n)
			if good {
				one.Sure -= float64(n)
			}
		}
		list, lost = append(list, one), append(lost, missing(counts))
	}
	if used == 0 || c.N == 0 {
		return
	}
	c.Note, c.Explanation, c.Aside = "", "", ""
	raw := newShare(p.by.share(of), c.Confidence)
	c.Raw = &raw
	measure := func(c *Criterion, with float64) {
		filled := slices.Clone(list)
		for i, n := range lost {
			if with >= 0 {
				filled[i].N, filled[i].Sure = filled[i].N+n, filled[i].Sure+with*n
			}
		}
		value, iv, ok := judging.Correct(filled, p.jury.errors, c.Confidence)
		if !ok {
			return
		}
		c.Value, c.Interval = value, &iv
	}
	measure(c, -1)
	c.DesignEffect = nil
	c.Test = "share corrected for the errors of judges, melded interval clustered by task, two-sided " + words.Level(c.Confidence)
	if c.Verdict != stat.NotJudged {
		c.decide()
	}
	c.note(fmt.Sprintf("By the verdicts of judges alone: %s, interval %s.", raw.Text(), raw.IntervalText()))
	c.note(p.jury.says(used))
	if c.WorstCase != nil {
		c.bounds(func(c *Criterion, worst bool) {
			measure(c, map[bool]float64{false: 1}[worst])
			c.decide()
		})
	}
}

// uncalibrated are the judges without a calibration, as bits.
func (y *jury) uncalibrated() (set uint32) {
	for i, j := range y.list {
		if !j.Calibrated {
			set |= 1 << i
		}
	}
	return set
}

// says is what a criterion says of the judges that decided some of it.
func (y *jury) says(used uint32) string {
	var corrected, parts []string
	for i, j := range y.list {
		switch {
		case used>>i&1 == 0:
		case j.Calibrated:
			corrected = append(corrected, fmt.Sprintf("%s (sensitivity %s, specificity %s)", words.Brief(j.Name(), 40), RateText(j.Agreement.Sensitivity), RateText(j.Agreement.Specificity)))
		case y.trusting:
			parts = append(parts, words.UpperFirst(j.Why)+". Its verdicts are taken as they are, because judges is any.")
		default:
			parts = append(parts, words.UpperFirst(j.Why)+". What it decided counts as unknown.")
		}
	}
	if corrected != nil {
		parts = append([]string{"Corrected for the errors of judge " + words.And(corrected) + "."}, parts...)
	}
	return strings.Join(parts, " ")
}

// RateText is "90.2% (85.0–94.1%)"; a dash without data.
func RateText(r judging.Rate) string {
	s := Share{Value: r.Value, Interval: r.Interval}
	if r.Interval == nil {
		return s.Rate()
	}
	return fmt.Sprintf("%s (%s)", s.Rate(), s.IntervalText())
}

// refusal says which judges keep a criterion from a verdict, and what to do; empty if none does.
func (y *jury) refusal(criteria []Criterion) string {
	var why []string
	for _, j := range y.list {
		if !j.Calibrated && !y.trusting && slices.ContainsFunc(criteria, func(c Criterion) bool { return c.Raw != nil && c.Verdict == stat.Inconclusive }) {
			why = append(why, words.Brief(j.Why, 160))
		}
	}
	if why == nil {
		return ""
	}
	return fmt.Sprintf(" %s. Compare it with labels of people: cupel judge calibrate LABELS.", words.UpperFirst(words.And(why)))
}

// addSameModels says which judges judge their own model.
func (r *Report) addSameModels() {
	for i := range r.Judges {
		j := &r.Judges[i]
		for _, c := range r.Candidates {
			if j.Model != "" && slices.ContainsFunc([]string{c.Model, c.RescueModel, c.FallbackModel, c.PlannerModel}, func(m string) bool { return strings.EqualFold(m, j.Model) }) {
				j.SameModel = append(j.SameModel, c.Name)
			}
		}
		if j.SameModel != nil {
			r.Notes = append(r.Notes, fmt.Sprintf("Judge %s uses the model of %s (%s): a judge tends to prefer what its own model writes. Use another model, or check the labels of this candidate.",
				words.Brief(j.Name(), 40), briefly(j.SameModel), words.Brief(j.Model, 60)))
		}
	}
}

// briefly lists names, a few at most.
func briefly(names []string) string {
	const most = 5
	var list []string
	for _, n := range names[:min(len(names), most)] {
		list = append(list, words.Brief(n, 60))
	}
	if more := len(names) - most; more > 0 {
		list = append(list, words.Plural(more, "more candidate"))
	}
	return words.And(list)
}
