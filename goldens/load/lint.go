package load

import (
	"fmt"
	"path"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/witness"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

// advice collects what Lint reports.
func (l *loader) advice(s *goldens.Suite) []*yamlfile.Problem {
	found := &yamlfile.Findings{}
	say := func(p yamlfile.Place, format string, args ...any) {
		found.List = append(found.List, &yamlfile.Problem{File: p.Src.File, Line: p.At(), Field: p.Path, Detail: fmt.Sprintf(format, args...)})
	}
	for _, spec := range s.Tools {
		at := l.tools.places[spec.Name]
		_, fixed := s.Fixed[spec.Name]
		lacks := func(t goldens.Task) bool {
			return slices.Contains(t.Tools, spec.Name) && !hasTool(t.World.Maker, spec.Name)
		}
		if i := slices.IndexFunc(s.Tasks, lacks); i >= 0 && !s.Remote(spec.Name) && !fixed {
			why := "has no kind"
			if kind := s.Tasks[i].World.Maker; kind != nil {
				why = "has: " + yamlfile.Listed(toolNames(kind))
			}
			say(at, "nothing implements tool %s of task %s: it has no http, no Go function has its name (cmd.App.Tools), and the task's world %s", spec.Name, s.Tasks[i].ID, why)
			found.List[len(found.List)-1].Tool = spec.Name
		}
		if !slices.ContainsFunc(s.Tasks, func(t goldens.Task) bool { return slices.Contains(t.Tools, spec.Name) }) {
			say(at, "no task offers tool %s", spec.Name)
		}
	}
	for _, name := range l.worldNames {
		if w := l.worlds[name]; !w.used {
			say(w.Place, "no task uses world %s", name)
		}
	}
	return found.Sorted()
}

// toolNames are the tools of a kind of worlds; none without a kind.
func toolNames(kind world.Kind) (names []string) {
	if kind == nil {
		return nil
	}
	for _, spec := range kind.Tools() {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	return names
}

// hasTool reports whether worlds of the kind may have the tool: those whose tools are
// known only once one is open may.
func hasTool(kind world.Kind, name string) bool {
	return kind != nil && kind.Tools() == nil || slices.Contains(toolNames(kind), name)
}

// crossCheck compares the fields of every task with each other: an outcome that
// no episode can reach would fail every candidate and say nothing.
func (l *loader) crossCheck(s *goldens.Suite) {
	if len(l.found.List) > 0 {
		for i, t := range s.Tasks {
			for k := range min(len(t.Expect), len(l.where[i].expect)) {
				checkPaths(l.where[i].expect[k], t, t.Expect[k], nil)
			}
		}
		return // half-read tasks would be accused of what they do not say
	}
	all, err := tool.NewSet(s.Tools)
	if err != nil {
		l.found.List = append(l.found.List, &yamlfile.Problem{File: path.Join(l.label, SuiteFile), Line: 1, Field: "tools", Detail: err.Error()})
		return
	}
	trees := map[string]tool.JSON{}
	for _, spec := range s.Tools {
		trees[spec.Name], _, _ = tool.ParseJSON(string(spec.Schema)) // as NewSet has done
	}
	l.checkSessions(s)
	asks := func(name string) bool { return s.Approval(name) == goldens.ApproveAsk }
	for _, r := range l.rules {
		r.Check(l.tools.names(), asks)
	}
	for i, t := range s.Tasks {
		if len(t.Approvals) > 0 && !slices.ContainsFunc(t.Tools, asks) {
			l.where[i].object.FieldAt("approvals").Failf("the task offers no tool whose calls need approval")
		}
		l.where[i].human.Check(t.Tools, asks)
		before := len(l.found.List)
		l.checkFunctions(s, t, l.where[i])
		for k, e := range t.Expect {
			checkNames(l.where[i].expect[k], t, e)
		}
		if len(l.found.List) == before && !l.proved {
			l.prove(s, witness.Prover{Task: t, Tools: all, Trees: trees}, l.where[i])
		}
	}
}

// checkNames reports what an outcome names that its task does not have, and a cap that
// the task's own makes void.
func checkNames(at yamlfile.Object, t goldens.Task, e goldens.Expect) {
	for i, c := range e.Trajectory.Required {
		if !slices.Contains(t.Tools, c.Tool) {
			at.FieldAt("calls").Item(i).Failf("the task offers no tool %q%s; it offers: %s", c.Tool, yamlfile.Suggest(c.Tool, t.Tools), yamlfile.Listed(t.Tools))
		}
	}
	checkPaths(at, t, e, map[string]string{"workflow": e.Workflow, "effects": e.Effects})
	if e.TableLabel != "" && len(t.Table(e.TableLabel)) == 0 {
		at.FieldAt("table_label").Failf("the state of the task's world has no date with a number of %q", e.TableLabel)
	}
	if over := t.Budgets.MaxSteps; e.MaxSteps != nil && over > 0 && *e.MaxSteps > over {
		at.FieldAt("at_most").FieldAt("steps").Failf("is %d, above the task's hard cap max_steps of %d", *e.MaxSteps, over)
	}
}

// checkPaths reports what the kind of the task's world finds wrong with the paths of an outcome, and
// with its demands.
func checkPaths(at yamlfile.Object, t goldens.Task, e goldens.Expect, demands map[string]string) {
	paths := map[string]string{}
	for i, c := range e.State {
		paths[fmt.Sprintf("state.%d.path", i)] = c.Path
	}
	for i, text := range e.Unchanged {
		paths[fmt.Sprintf("unchanged.%d", i)] = text
	}
	judge.Check(t.World, demands, paths, func(place []string, detail string) {
		at.Inside(place).Failf("%s", detail)
	})
}
