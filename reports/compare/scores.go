package compare

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/clip"
)

// scoreOf is a score of an episode by the name of its check. It is not known if the check passed or
// failed without one.
type scoreOf struct {
	check string
	value float64
	known bool
}

// scores are those of an episode with a result and without attack.
func (s *side) scores(e *ledger.Episode) (list []scoreOf) {
	if e.Injection != "" || e.Excluded() != "" {
		return nil
	}
	for _, score := range e.Scores {
		name, seen := s.checks[score.Name]
		if !seen {
			name = string([]byte(score.Name)) // not the memory of the row
			s.checks[name] = name
		}
		one := scoreOf{check: name, known: score.Score != nil}
		if one.known {
			one.value = *score.Score
		}
		list = append(list, one)
	}
	return list
}

// score is the score of a check; false without one.
func (r *record) score(check string) (scoreOf, bool) {
	if i := slices.IndexFunc(r.scores, func(s scoreOf) bool { return s.check == check }); i >= 0 {
		return r.scores[i], true
	}
	return scoreOf{known: true}, false
}

// score01 makes the score of a check the more extreme of its own and of s, from 0 to 1 unless one is
// seen beyond.
func (r *record) score01(s scoreOf, more func(a, b float64) float64) {
	i := slices.IndexFunc(r.scores, func(own scoreOf) bool { return own.check == s.check })
	if i < 0 {
		i = len(r.scores)
		r.scores = append(r.scores, scoreOf{s.check, more(0, 1), true})
	}
	r.scores[i].value = more(r.scores[i].value, s.value)
}

// scoreMeasures are the mean scores that both sides have, in the order of their first episodes.
func scoreMeasures(tasks []joined) (list []measure) {
	var checks []string
	for i := range tasks {
		for _, t := range tasks[i].scored {
			for _, s := range t.new.scores {
				if _, both := t.baseline.score(s.check); both && !slices.Contains(checks, s.check) {
					checks = append(checks, s.check)
				}
			}
		}
	}
	for _, check := range checks {
		list = append(list, measure{
			name: check, title: "Score of " + clip.FirstBytes(check, maxWord), unit: unitScore, higher: true,
			of: func(r *record) (float64, float64) {
				s, ok := r.score(check)
				return s.value, one(ok)
			},
			known: func(r *record) bool { s, _ := r.score(check); return s.known }, excludeReason: "without a score",
		})
	}
	return list
}
