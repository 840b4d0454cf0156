package goldens

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	custom "github.com/cupel-eval/cupel/goldens/scorer"
)

var scoreFields = []string{"name", "exec", "check", "with", "timeout", "at_least"}

// customChecks is the field score: one check that users bring, or a list of them.
type customChecks struct{}

func (customChecks) set(e *Expect, p yamlfile.Place, _ bool) {
	e.Scores = nil
	items := []yamlfile.Place{p}
	if !p.IsMapping() {
		items = p.Items()
	}
	seen := map[string]bool{}
	for _, item := range items {
		o := item.Object(scoreFields)
		s := readScorer(o)
		if seen[s.Name] {
			item.Failf("another check of this outcome is named %q; give it a name", s.Name)
		}
		seen[s.Name] = true
		e.Scores = append(e.Scores, s)
	}
}

func readScorer(o yamlfile.Object) (s custom.Spec) {
	p, program := o.Get("exec")
	if program {
		for _, item := range p.Items() {
			s.Exec = append(s.Exec, item.Filled())
		}
		if s.Name = "exec"; len(s.Exec) == 0 {
			p.Failf("must be a list of the program and its arguments, such as [python3, tone.py]")
		}
	}
	check, function := o.Get("check")
	if function {
		s.Check = check.Filled()
		s.Name = s.Check
	}
	if program == function {
		o.Failf("must have exec, a program, or check, the name of a Go function (cmd.App.Checks), and not both")
	}
	if p, ok := o.Get("name"); ok {
		s.Name = p.Filled()
		p.CheckName(yamlfile.ToolName, s.Name)
	} else if function {
		check.CheckName(yamlfile.ToolName, s.Name)
	}
	yamlfile.Read(o, "with", &s.With, yamlfile.Place.JSON)
	if p, ok := o.Get("timeout"); ok {
		if s.Timeout = p.Duration(); !program || s.Timeout > 10*time.Minute {
			p.Failf("must be at most 10m, and belongs to exec")
		}
	}
	yamlfile.Read(o, "at_least", &s.AtLeast, atLeast)
	return s
}

// atLeast reads the least score that passes.
func atLeast(p yamlfile.Place) *float64 {
	text, _, _ := p.Scalar()
	least, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(least) || math.IsInf(least, 0) {
		p.Failf("must be a number")
	}
	return &least
}

func (customChecks) takeAway(e *Expect) bool { e.Scores = nil; return true }

func (customChecks) write(is, was *Expect) *yaml.Node {
	return changed(is.Scores, was.Scores, is.Scores == nil, func(list []custom.Spec) *yaml.Node {
		out := yamlfile.Sequence(0)
		for _, s := range list {
			item := yamlfile.Fields(yaml.FlowStyle, "name", yamlfile.Name(s.Name))
			switch {
			case s.Exec != nil:
				yamlfile.Add(item, "exec", yamlfile.Node(s.Exec), "")
			default:
				yamlfile.Add(item, "check", yamlfile.Word(s.Check), "")
			}
			if s.Timeout > 0 {
				yamlfile.Add(item, "timeout", yamlfile.Word(s.Timeout.String()), "")
			}
			addScorer(item, s.With, s.AtLeast)
			out.Content = append(out.Content, item)
		}
		return out
	})
}

// addScorer writes what scorers and judges have in common.
func addScorer(item *yaml.Node, with json.RawMessage, least *float64) {
	if with != nil {
		yamlfile.Add(item, "with", yamlfile.JSONNode(with), "")
	}
	if least != nil {
		yamlfile.Add(item, "at_least", yamlfile.Plain(strconv.FormatFloat(*least, 'g', -1, 64)), "")
	}
}

func (customChecks) parts(key string, e *Expect) []Part {
	if len(e.Scores) == 0 {
		return nil
	}
	return []Part{whole(key, func(to *Expect) { to.Scores = e.Scores })}
}

// scores checks what the scorers of users found. A scorer without a result fails: absent data
// never passes.
func (s *scorer) scores(e *Expect) {
	for _, spec := range e.Scores {
		s.scored("score."+spec.Name, spec.AtLeast, spec.Passed)
	}
}

// scored is the check of a scorer or judge.
func (s *scorer) scored(name string, least *float64, passed func(custom.Result) bool) {
	result, ok := s.o.Scores[name]
	switch {
	case !ok:
		s.check(name, false, "want a result, got none")
	case least != nil && result.Score != nil:
		s.check(name, passed(result), "want a score of at least %g, got %g: %s", *least, *result.Score, quotedText(result.Reason))
	default:
		s.check(name, passed(result), "want pass, got fail: %s", quotedText(result.Reason))
	}
}
