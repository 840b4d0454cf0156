package goldens

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/tool"
)

// Lint reports what does not keep a suite from running but is likely a
// mistake: a tool no built-in world implements, a tool or world no task uses.
// Like Load's, the error joins a *Problem for each. Tools that the program itself
// implements, as Go functions, need no world: goTools are their names.
func (s *Suite) Lint(goTools ...string) error {
	list := slices.DeleteFunc(slices.Clone(s.advice), func(p *Problem) bool { return p.tool != "" && slices.Contains(goTools, p.tool) })
	return (&findings{list: list}).join()
}

// Warnings are what a task lets pass that it probably should not, in the order of the
// files: an outcome that an empty answer meets, a condition that every episode meets, a
// forbidden tool whose name is almost that of a tool. A suite with warnings is usable.
func (s *Suite) Warnings() []*Problem { return s.warnings }

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
			found.list[len(found.list)-1].tool = spec.Name
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
	return found.list
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

// hasMatcher reports whether an expected value leaves anything open.
func hasMatcher(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for key, member := range v {
			if strings.HasPrefix(key, "$") || hasMatcher(member) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasMatcher)
	}
	return false
}

func hasLabel(counts map[string]map[string]int64, label string) bool {
	for _, day := range counts {
		if _, ok := day[label]; ok {
			return true
		}
	}
	return false
}
