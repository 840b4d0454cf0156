package load

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/helper"
	"github.com/cupel-eval/cupel/goldens/internal/settings"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/rubric"
)

// helperFields are the settings of a helper's model.
var helperFields = settings.Names(reflect.TypeFor[helper.Model]())

// maxRubric bounds a rubric, in bytes: every prompt of its judge has it.
const maxRubric = 64 << 10

// readHelper reads the model of a helper, whose object may have other fields, too. name is its
// name if the object has none.
func readHelper(o yamlfile.Object, name string) (m helper.Model) {
	before := len(o.Src.Found.List)
	settings.Read[helper.Model](o, helperFields)(&m)
	m.Name = cmp.Or(m.Name, name)
	if len(o.Src.Found.List) == before {
		goldens.Candidate{Name: m.Name}.Asking(m).Faults(faultsAt(o))
	}
	return m
}

// readJudges reads the judges of a suite.
func (l *loader) readJudges(list yamlfile.Place) (out []helper.Jury) {
	for _, item := range list.Items() {
		o := item.Object(append([]string{"rubric", "rubric_file", "sees"}, helperFields...))
		j := helper.Jury{Rubric: l.readRubric(o), Sees: []string{rubric.Calls}, Model: readHelper(o, "")}
		if slices.ContainsFunc(out, func(other helper.Jury) bool { return other.Model.Name == j.Model.Name }) {
			o.FieldAt("name").Failf("judge %s is defined already", j.Model.Name)
		}
		if p, ok := o.Get("sees"); ok {
			j.Sees = nil
			for _, part := range p.Items() {
				j.Sees = append(j.Sees, part.Choice(rubric.Parts...))
			}
		}
		out = append(out, j)
	}
	return out
}

// warnOfOwnModels says which judges use the model of a candidate of the suite.
func (l *loader) warnOfOwnModels(s *goldens.Suite, list yamlfile.Place) {
	for i, j := range s.Judges {
		for _, c := range s.Candidates {
			if j.Model.Model != "" && slices.ContainsFunc([]string{c.Model, c.Rescue, c.Fallback, c.Plan.ReasoningModel}, func(m string) bool { return strings.EqualFold(m, j.Model.Model) }) {
				at := list.Item(i)
				l.warned.List = append(l.warned.List, &yamlfile.Problem{File: at.Src.File, Line: at.At(), Field: at.Path, Detail: fmt.Sprintf("judge %s uses %s, the model of candidate %s: a judge tends to prefer what its own model writes", j.Model.Name, j.Model.Model, c.Name)})
			}
		}
	}
}

// readRubric reads the rubric of a judge, from the suite's file or one beside it.
func (l *loader) readRubric(o yamlfile.Object) (text string) {
	p, written := o.Get("rubric")
	file, named := o.Get("rubric_file")
	switch {
	case written == named:
		o.Failf("must have rubric, a text, or rubric_file, a file of the suite, and not both")
		return ""
	case written:
		text = p.Filled()
	default:
		p = file
		data, err := ReadFile(l.fsys, p.Filled())
		if text = string(data); err != nil {
			p.Failf("%v", err)
		}
	}
	if len(text) > maxRubric {
		p.Failf("must have at most %d KiB", maxRubric>>10)
	}
	return text
}

// findJudges says which judges the checks of a task name.
func (l *loader) findJudges(s *goldens.Suite, t *goldens.Task, places []yamlfile.Object) {
	for i := range t.Expect {
		t.Expect[i].Judges = slices.Clone(t.Expect[i].Judges) // outcomes inherit them
		for k := range t.Expect[i].Judges {
			c := &t.Expect[i].Judges[k]
			at := slices.IndexFunc(s.Judges, func(j helper.Jury) bool { return j.Model.Name == c.Name })
			if at < 0 {
				var names []string
				for _, j := range s.Judges {
					names = append(names, j.Model.Name)
				}
				places[i].FieldAt("judge").Failf("the suite has no judge %q; it has: %s", c.Name, yamlfile.Listed(names))
				continue
			}
			c.Judge, c.Digest = &s.Judges[at], s.Judges[at].Digest()
			for _, before := range t.Expect[:i] {
				if slices.ContainsFunc(before.Judges, func(b helper.Check) bool {
					return b.Name == c.Name && (string(b.With) != string(c.With) || b.Bound() != c.Bound())
				}) {
					places[i].FieldAt("judge").Failf("another outcome of the task gives judge %s another with or at_least; a judge is asked once for an episode", c.Name)
				}
			}
		}
	}
}
