package playbook

import (
	"encoding/json"
	"fmt"
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
	o := e.Value.Object([]string{"pass", "score", "sensitivity", "specificity"})
	j := judge{name: e.Key, rubric: r.judges[at].Rubric}
	if p, ok := o.Need("pass"); ok {
		j.pass = expression.Read(p, judged)
	}
	yamlfile.Read(o, "score", &j.score, func(p yamlfile.Place) *expression.Program { return expression.Read(p, judged) })
	rate := func(p yamlfile.Place) *float64 { return new(p.Number(1)) }
	yamlfile.Read(o, "sensitivity", &j.sensitivity, rate)
	yamlfile.Read(o, "specificity", &j.specificity, rate)
	r.book.judges = append(r.book.judges, j)
}

// Judges reports whether the book has a rule for a judge.
func (b *Book) Judges(name string) bool {
	return b != nil && slices.ContainsFunc(b.judges, func(j judge) bool { return j.name == name })
}

// Verdict is what a simulated model replies as a judge, by its prompt alone: the verdict of the
// rule, or with the chance of an error the other one. u is drawn uniformly from [0, 1). rates are
// the model's, unless the rule has others. ok is false if the prompt is not that of a judge of the
// book. A text that is not a verdict says what is wrong with the rule.
func (b *Book) Verdict(system, message string, rates Rates, u float64) (said string, ok bool) {
	if b == nil {
		return "", false
	}
	for _, j := range b.judges {
		if with, document, ok := rubric.Read(j.rubric, system, message); ok {
			return j.verdict(document, with, rates, u), true
		}
	}
	return "", false
}

// verdict is the reply of Book.Verdict.
func (j judge) verdict(document, with []byte, rates Rates, u float64) string {
	good, score, err := j.apply(document, with)
	if err != nil {
		return fmt.Sprintf("The rule of judge %s in %s failed: %v", j.name, File, err)
	}
	if j.sensitivity != nil {
		rates.Sensitivity = *j.sensitivity
	}
	if j.specificity != nil {
		rates.Specificity = *j.specificity
	}
	pass := good
	if good && u >= rates.Sensitivity || !good && u >= rates.Specificity {
		pass, score = !good, 1-score
	}
	out, _ := json.Marshal(map[string]any{"reason": "Simulated: by the rule of " + File + " and the model's error rates.", "score": score, "pass": pass}) // such values encode
	return string(out)
}

// apply applies the rule to what the judge sees.
func (j judge) apply(document, with []byte) (good bool, score float64, err error) {
	value, err := expression.Decode(document)
	if err != nil {
		return false, 0, err
	}
	env := expression.Env{}
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
