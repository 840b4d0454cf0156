package judges

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
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
	Agreement *Agreement `json:"agreement"`
	// SameModel are the candidates that use the judge's model: judges tend to prefer what they
	// would have written.
	SameModel []string `json:"same_model,omitempty"`
}

// Name is that of the judge in its suite.
func (j Judge) Name() string { return strings.TrimPrefix(j.Check, manifest.JudgePrefix) }

// maxJudges is how many judges of a run can be told apart; more are taken as not calibrated.
const maxJudges = 32

// Jury are the judges of a run. It is not safe for concurrent use.
type Jury struct {
	list   []Judge
	errors []judging.Errors // as long as list
	at     map[[2]string]int
	known  []Calibration
}

// NewJury returns the judges of a run with what is known of them.
func NewJury(list []manifest.Judge, known []Calibration) *Jury {
	y := &Jury{at: map[[2]string]int{}, known: known}
	for _, j := range list {
		y.add(j)
	}
	return y
}

// List returns the judges. The caller must not modify the slice.
func (y *Jury) List() []Judge { return y.list }

// Errors returns what is known of the errors of each. The caller must not modify the slice.
func (y *Jury) Errors() []judging.Errors { return y.errors }

// add adds a judge and returns its index.
func (y *Jury) add(j manifest.Judge) int {
	key := [2]string{j.Check, j.Digest}
	if i, ok := y.at[key]; ok {
		return i
	}
	if len(y.list) == maxJudges {
		return maxJudges - 1
	}
	of, errors := Judge{Judge: j}, judging.Errors{}
	c, why, ok := Find(y.known, j)
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

// Decided says which judges decided an episode: those of its checks, if everything else passed.
func (y *Jury) Decided(row *ledger.Episode) (p judging.Pattern) {
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

// Uncalibrated are the judges without a calibration, as bits.
func (y *Jury) Uncalibrated() (set uint32) {
	for i, j := range y.list {
		if !j.Calibrated {
			set |= 1 << i
		}
	}
	return set
}

// Says is what a criterion says of the judges that decided some of it.
func (y *Jury) Says(used uint32, trusting bool) string {
	var corrected, parts []string
	for i, j := range y.list {
		switch {
		case used>>i&1 == 0:
		case j.Calibrated:
			corrected = append(corrected, fmt.Sprintf("%s (sensitivity %s, specificity %s)", words.Brief(j.Name(), 40), Text(j.Agreement.Sensitivity), Text(j.Agreement.Specificity)))
		case trusting:
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

// Text is "90.2% (85.0–94.1%)"; a dash without data.
func Text(r judging.Rate) string {
	switch {
	case r.Value == nil:
		return "–"
	case r.Interval == nil:
		return words.Percent(*r.Value)
	}
	return fmt.Sprintf("%s (%s–%s%%)", words.Percent(*r.Value), words.Bound(r.Interval.Low, 0), words.Bound(r.Interval.High, 0))
}

// Refusal says which judges are not calibrated, and what to do; empty if all are.
func (y *Jury) Refusal() string {
	var why []string
	for _, j := range y.list {
		if !j.Calibrated {
			why = append(why, words.Brief(j.Why, 160))
		}
	}
	if why == nil {
		return ""
	}
	return fmt.Sprintf(" %s. Compare it with labels of people: cupel judge calibrate LABELS.", words.UpperFirst(words.And(why)))
}

// Uncorrected says which figures take verdicts of judges as they are; empty without judges.
func Uncorrected(list []manifest.Judge, figures string) []string {
	var names []string
	for _, j := range list {
		if n := words.Brief(Judge{Judge: j}.Name(), 40); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if names == nil {
		return nil
	}
	return []string{fmt.Sprintf("Not corrected for the errors of %s: %s (docs/scorers.md says why).", words.And(names), figures)}
}
