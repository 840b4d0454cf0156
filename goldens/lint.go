package goldens

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// advice collects what Lint reports.
func (l *loader) advice(s *Suite) []*Problem {
	found := &findings{}
	say := func(p place, format string, args ...any) {
		found.list = append(found.list, &Problem{File: p.src.file, Line: p.at(), Field: p.path, Detail: fmt.Sprintf(format, args...)})
	}
	for _, spec := range s.Tools {
		at := l.tools.places[spec.Name]
		_, builtIn := implementations[spec.Name]
		if _, overHTTP := s.HTTP[spec.Name]; !builtIn && !overHTTP {
			say(at, "no world implements tool %s, and it has no http; the built-in ones are: %s", spec.Name, strings.Join(slices.Sorted(maps.Keys(implementations)), ", "))
			found.list[len(found.list)-1].Tool = spec.Name
		}
		if !slices.ContainsFunc(s.Tasks, func(t Task) bool { return slices.Contains(t.Tools, spec.Name) }) {
			say(at, "no task offers tool %s", spec.Name)
		}
	}
	for _, name := range l.worldNames {
		if w := l.worlds[name]; !w.used {
			say(w.place, "no task uses world %s", name)
		}
	}
	return found.sorted()
}

// crossCheck holds the fields of every task against each other: an outcome that
// no episode can reach would fail every candidate and say nothing.
func (l *loader) crossCheck(s *Suite) {
	if len(l.found.list) > 0 {
		return // half-read tasks would be accused of what they do not say
	}
	all, err := tool.NewSet(s.Tools)
	if err != nil {
		l.found.list = append(l.found.list, &Problem{File: path.Join(l.label, suiteFile), Line: 1, Field: "tools", Detail: err.Error()})
		return
	}
	trees := map[string]tool.JSON{}
	for _, spec := range s.Tools {
		trees[spec.Name], _, _ = tool.ParseJSON(string(spec.Schema)) // as NewSet has done
	}
	l.checkSessions(s)
	for i, t := range s.Tasks {
		asks := func(name string) bool { return s.Approval(name) == ApproveAsk }
		if len(t.Approvals) > 0 && !slices.ContainsFunc(t.Tools, asks) {
			l.where[i].object.fieldAt("approvals").failf("the task offers no tool whose calls need approval")
		}
		before := len(l.found.list)
		for k, e := range t.Expect {
			checkNames(l.where[i].expect[k], t, e)
		}
		if len(l.found.list) == before {
			l.prove(s, prover{t, all, trees}, l.where[i])
		}
	}
}

// checkNames reports what an outcome names that its task does not have, and a cap that
// the task's own makes void.
func checkNames(at object, t Task, e Expect) {
	for i, c := range e.Trajectory.Required {
		if !slices.Contains(t.Tools, c.Tool) {
			at.fieldAt("calls").item(i).failf("the task offers no tool %q%s; it offers: %s", c.Tool, suggest(c.Tool, t.Tools), listed(t.Tools))
		}
	}
	if e.TableLabel != "" && !hasLabel(t.World.Counts, e.TableLabel) {
		at.fieldAt("table_label").failf("the task's world counts no label %q", e.TableLabel)
	}
	if over := t.Budgets.MaxSteps; e.MaxSteps != nil && over > 0 && *e.MaxSteps > over {
		at.fieldAt("at_most").fieldAt("steps").failf("is %d, above the task's hard cap max_steps of %d", *e.MaxSteps, over)
	}
}
