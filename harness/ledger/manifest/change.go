package manifest

import (
	"fmt"
	"strings"
)

// ThresholdChange is a threshold whose recorded value was replaced for a verdict.
type ThresholdChange struct {
	// Name is the name in cupel.yaml, such as min_solved.
	Name string `json:"name"`
	// Recorded is the value in run.json, Used the replacement.
	Recorded Threshold `json:"recorded"`
	Used     Threshold `json:"used"`
}

// String returns the change in words.
func (c ThresholdChange) String() string {
	return fmt.Sprintf("%s %s → %s", c.Name, c.Recorded, c.Used)
}

// ChangesTo returns the thresholds that differ in b, both with their defaults. It ignores custom
// criteria.
func (a Acceptance) ChangesTo(b Acceptance) (list []ThresholdChange) {
	a, b = a.Resolved(), b.Resolved()
	is := b.thresholds()
	for i, t := range a.thresholds() {
		if *t.value != *is[i].value {
			list = append(list, ThresholdChange{t.name, Threshold(*t.value), Threshold(*is[i].value)})
		}
	}
	return list
}

// With returns a with the thresholds of texts such as min_solved=0.9. An error joins the problems
// of all texts.
func (a Acceptance) With(texts []string) (Acceptance, error) {
	list := a.thresholds()
	var names, problems []string
	for _, t := range list {
		names = append(names, t.name)
	}
	names = append(names, "judges")
	for _, text := range texts {
		name, number, _ := strings.Cut(text, "=")
		if name == "judges" {
			a.Judges = number // Validate says what is wrong with it
			continue
		}
		value, err := ParseThreshold(number)
		found := false
		for _, t := range list {
			if t.name != name {
				continue
			}
			found = true
			switch {
			case err != nil, value < 0 && (number != off || !t.off):
				problems = append(problems, fmt.Sprintf("%.60q: the value must be a number from 0 up, or off for min_solved, max_harm and max_attack_success", text))
			case value == 0 && t.fallback != 0:
				problems = append(problems, fmt.Sprintf("%.60q: 0 stands for the default %v; give that or a number above 0", text, t.fallback))
			}
			*t.value = float64(value)
		}
		if !found {
			problems = append(problems, fmt.Sprintf("%.60q: must be NAME=VALUE with one of the names %s", text, strings.Join(names, ", ")))
		}
	}
	if problems != nil {
		return a, fmt.Errorf("threshold %s", strings.Join(problems, "\n"))
	}
	if err := a.Validate(); err != nil {
		return a, fmt.Errorf("threshold: %w", err)
	}
	return a, nil
}
