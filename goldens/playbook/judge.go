package playbook

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/cupel-eval/cupel/goldens/internal/expression"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/rubric"
)

// Judge is a judge of the suite. Simulated means that a simulated model plays it, so that it needs
// a rule.
type Judge struct {
	Name, Rubric string
	Simulated    bool
}

// Rates are the chances that a judge passes what meets its rubric, and fails what does not.
type Rates struct{ Sensitivity, Specificity float64 }

// judge is how simulated models judge by a rubric.
type judge struct {
	name, rubric             string
	pass, score              *expression.Program // score is nil without
	sensitivity, specificity *float64            // nil without
	positionBias             float64
}

// judged are the names that rules may use: what a judge can see.
var judged = []string{"request", "status", "answer", "calls", "state_before", "state_after", "with"}

// readJudges reads the rules of judges.
func (r *reader) readJudges(o yamlfile.Object) {
	if p, ok := o.Get("judges"); ok {
		for _, e := range p.Entries() {
			r.readJudge(e)
		}
	}
	for _, j := range r.judges {
		if j.Simulated && !r.book.Judges(j.Name) {
			r.src.Failf(1, "judges", "a simulated model plays judge %s, and no rule says how; add its rule, such as %s: {pass: 'answer contains \"sorry\"'}", j.Name, j.Name)
		}
	}
}

func (r *reader) readJudge(e yamlfile.Entry) {
	var names []string
	for _, j := range r.judges {
		names = append(names, j.Name)
	}
	at := slices.Index(names, e.Key)
	if at < 0 {
		e.KeyAt.Failf("the suite has no judge %q%s", e.Key, yamlfile.Suggest(e.Key, names))
		return
	}
	o := e.Value.Object([]string{"pass", "score", "sensitivity", "specificity", "position_bias"})
	j := judge{name: e.Key, rubric: r.judges[at].Rubric}
	if p, ok := o.Need("pass"); ok {
		j.pass = expression.Read(p, judged)
	}
	yamlfile.Read(o, "score", &j.score, func(p yamlfile.Place) *expression.Program { return expression.Read(p, judged) })
	rate := func(p yamlfile.Place) *float64 { return new(p.Number(1)) }
	yamlfile.Read(o, "sensitivity", &j.sensitivity, rate)
	yamlfile.Read(o, "specificity", &j.specificity, rate)
	yamlfile.Read(o, "position_bias", &j.positionBias, func(p yamlfile.Place) float64 { return p.Number(1) })
	r.book.judges = append(r.book.judges, j)
}

// Judges reports whether the book has a rule for a judge.
func (b *Book) Judges(name string) bool {
	return b != nil && slices.ContainsFunc(b.judges, func(j judge) bool { return j.name == name })
}

// Verdict is what a simulated model replies as a judge, by its prompt alone: the verdict of the
// rule, or with the chance of an error the other one. Of two works it prefers the one with the
// better verdict, or, as often as position_bias of the rule says, the one that it saw first. u is
// drawn uniformly from [0, 1). rates are the model's, unless the rule has others. ok is false if
// the prompt is not that of a judge of the book. A text that is not a verdict says what is wrong
// with the rule.
func (b *Book) Verdict(system, message string, rates Rates, u float64) (said string, ok bool) {
	if b == nil {
		return "", false
	}
	for _, j := range b.judges {
		if with, document, ok := rubric.Read(j.rubric, system, message); ok {
			return j.verdict(document, with, rates, u), true
		}
		if with, document, ok := rubric.ReadPair(j.rubric, system, message); ok {
			return j.preference(document, with, rates, u), true
		}
	}
	return "", false
}

const simulatedReason = "Simulated: by the rule of " + File + " and the model's error rates."

// verdict is the reply of Book.Verdict about one work.
func (j judge) verdict(document, with []byte, rates Rates, u float64) string {
	seen, err := expression.Decode(document)
	if err != nil {
		return j.failed(err)
	}
	pass, score, err := j.judge(seen, with, rates, u)
	if err != nil {
		return j.failed(err)
	}
	out, _ := json.Marshal(map[string]any{"reason": simulatedReason, "score": score, "pass": pass}) // such values encode
	return string(out)
}

// preference is the reply of Book.Verdict about two works.
func (j judge) preference(document, with []byte, rates Rates, u float64) string {
	draw := rand.New(rand.NewPCG(math.Float64bits(u), 0))
	biased := draw.Float64() < j.positionBias
	seen, err := expression.Decode(document)
	if err != nil {
		return j.failed(err)
	}
	both, _ := seen.(map[string]any)
	var worth [2]float64
	for i, side := range []rubric.Better{rubric.First, rubric.Second} {
		work, _ := both[string(side)].(map[string]any)
		if work != nil {
			work["request"] = both["request"]
		}
		pass, score, err := j.judge(work, with, rates, draw.Float64())
		if err != nil {
			return j.failed(err)
		}
		if worth[i] = score; pass {
			worth[i] += 2 // whatever the scores are
		}
	}
	p := rubric.Preference{Reason: simulatedReason, Better: rubric.Tie}
	switch {
	case biased || worth[0] > worth[1]:
		p.Better = rubric.First
	case worth[0] < worth[1]:
		p.Better = rubric.Second
	}
	out, _ := json.Marshal(p) // it encodes
	return string(out)
}

func (j judge) failed(err error) string {
	return fmt.Sprintf("The rule of judge %s in %s failed: %v", j.name, File, err)
}

// judge applies the rule to a work, and errs with the chance that the rates leave.
func (j judge) judge(seen any, with []byte, rates Rates, u float64) (pass bool, score float64, err error) {
	good, score, err := j.apply(seen, with)
	if err != nil {
		return false, 0, err
	}
	if j.sensitivity != nil {
		rates.Sensitivity = *j.sensitivity
	}
	if j.specificity != nil {
		rates.Specificity = *j.specificity
	}
	if good && u >= rates.Sensitivity || !good && u >= rates.Specificity {
		return !good, 1 - score, nil
	}
	return good, score, nil
}

// apply applies the rule to what the judge sees of a work.
func (j judge) apply(value any, with []byte) (good bool, score float64, err error) {
	env := map[string]any{}
	seen, _ := value.(map[string]any)
	for _, name := range judged {
		env[name] = seen[name]
	}
	if env["with"] = nil; with != nil {
		if env["with"], err = expression.Decode(with); err != nil {
			return false, 0, err
		}
	}
	if env["calls"] == nil {
		env["calls"] = []any{}
	}
	if good, err = j.pass.Holds(env); err != nil {
		return false, 0, err
	}
	if good {
		score = 1
	}
	if j.score != nil {
		v, err := j.score.Eval(env)
		if err != nil {
			return false, 0, err
		}
		switch n := v.(type) {
		case int:
			score = float64(n)
		case float64:
			score = n
		default:
			return false, 0, fmt.Errorf("score must be a number, but is %s", expression.Kind(v))
		}
		if !(score >= 0 && score <= 1) {
			return false, 0, fmt.Errorf("score must be from 0 to 1, but is %g", score)
		}
	}
	return good, score, nil
}
