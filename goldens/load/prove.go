package load

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/witness"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world/judge"
)

// demandList collects demands in the order in which a conflict names them.
type demandList []*witness.Demand

func (l *demandList) add(field string, at func() yamlfile.Place, add func(*witness.Goal)) {
	*l = append(*l, &witness.Demand{Field: field, At: at, Add: add})
}

// demandsOf lists what an accepted outcome, read from o, asks.
func demandsOf(o yamlfile.Object, e goldens.Expect) (out demandList) {
	for _, p := range e.Parts() {
		out.add(p.Field, func() yamlfile.Place { return p.At(o) }, func(g *witness.Goal) { p.Add(&g.Expect) })
	}
	return out
}

// givenDemands lists what the task itself asks of an episode, regardless of its outcome.
func (l *loader) givenDemands(s *goldens.Suite, t goldens.Task, o yamlfile.Object) demandList {
	var out demandList
	top := func(field string, add func(*witness.Goal)) {
		out.add("", func() yamlfile.Place { return o.FieldAt(field) }, add)
	}
	if t.AnswerSchema != nil {
		top("answer_schema", func(g *witness.Goal) { g.Task.AnswerSchema = t.AnswerSchema })
	}
	if len(t.Replies) == 0 && t.User == nil {
		top("replies", func(g *witness.Goal) { g.Silent = true })
	}
	caps := t.Budgets
	for i, value := range []int64{int64(caps.MaxSteps), int64(caps.MaxToolCalls), int64(caps.MaxTime), caps.MaxTokens, caps.MaxCostNanoUSD} {
		name := budgetFields[i]
		out.add("", func() yamlfile.Place { return o.FieldAt("budgets").FieldAt(name) }, func(g *witness.Goal) { g.Budgets[name] = value })
	}
	top("tools", func(g *witness.Goal) { g.Offered = append([]string{}, t.Tools...) })
	for _, name := range t.Tools {
		at, defined := l.tools.places[name]
		if !defined {
			continue
		}
		out.add("", func() yamlfile.Place { return at.FieldAt("schema") }, func(g *witness.Goal) { g.Schemas[name] = true })
		if s.Approval(name) == goldens.ApproveNever {
			out.add("", func() yamlfile.Place { return at.FieldAt("approve") }, func(g *witness.Goal) { g.Refused[name] = true })
		}
	}
	return out
}

// prove builds a witness of every outcome that the task accepts. Demands that no
// episode meets together are problems, reported where expect has them; an outcome
// that an empty answer meets, and a condition that every episode meets, are warnings.
func (l *loader) prove(s *goldens.Suite, p witness.Prover, where taskPlaces) {
	t := p.Task
	given := l.givenDemands(s, t, where.object)
	for i, e := range t.Expect {
		at := where.expect[i]
		demands := slices.Concat(demandsOf(at, e), given)
		if len(demands) > maxDemands || len(e.Trajectory.Required) > maxProved || len(l.found.List) > maxProblems {
			continue
		}
		own := func(d *witness.Demand) bool { return d.Field != "" && at.Has(d.Field) }
		for conflicts := 0; ; conflicts++ {
			core, why, o := p.Conflict(demands)
			if core == nil || conflicts == maxConflicts {
				if !t.Scripted {
					l.warn(at, p.Goal(demands), o)
				}
				break
			}
			if i == 0 || slices.ContainsFunc(core, own) {
				report(core, why)
			}
			last := core[len(core)-1]
			demands = slices.DeleteFunc(demands, func(d *witness.Demand) bool { return d == last })
		}
	}
}

// warn records what an outcome lets pass, whose witness is o.
func (l *loader) warn(at yamlfile.Object, g *witness.Goal, o goldens.Outcome) {
	warnings := &yamlfile.Source{File: at.Src.File, Found: &l.warned}
	warnf := func(p yamlfile.Place, format string, args ...any) { p.Src = warnings; p.Failf(format, args...) }
	if g.Expect.BFCL == "" && g.Empty(o) {
		warnf(at.Place, "an empty answer passes, without any tool call; add a check of the answer, such as numbers, contains_any or matches, or of calls")
	}
	if initial := judge.Initial(g.Task.World); initial != nil {
		holds := func(e goldens.Expect) bool {
			met, _ := goldens.Score(goldens.Task{Expect: []goldens.Expect{e}}, goldens.Outcome{StateBefore: initial, StateAfter: initial})
			return met
		}
		if len(g.Expect.State) > 0 && holds(goldens.Expect{State: g.Expect.State, StateHash: g.Expect.StateHash}) {
			warnf(at.FieldAt("state"), "holds in the initial state: an episode that changes nothing passes; add an assertion that requires a change, or write unchanged where nothing may change")
		}
		for i, path := range g.Expect.Unchanged {
			if !holds(goldens.Expect{State: []goldens.StateCheck{{Path: path, Wants: map[string]any{"exists": true}}}}) {
				warnf(at.FieldAt("unchanged").Item(i), "the initial state has no %s; correct the path, or assert {exists: false} under state if nothing may appear there", path)
			}
		}
	}
	for i, m := range g.Expect.Trajectory.Forbidden {
		if like := yamlfile.Suggest(m.Tool, l.tools.names()); like != "" && !slices.Contains(l.tools.names(), m.Tool) {
			warnf(at.FieldAt("forbidden").Item(i), "the suite has no tool %q%s", m.Tool, like)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.Expect.Signals)) {
		if low, high := goldens.SignalRange(name, g.Expect.Signals[name]); !goldens.IsFlag(name) && low <= 0 && high == math.MaxInt64 {
			warnf(at.FieldAt("signals").FieldAt(name), "every episode meets this, since no count is below 0; remove it or choose a condition that can fail")
		}
	}
}

// The bounds of a proof. An outcome with more parts than this is not proved.
const (
	maxDemands   = 300
	maxProved    = 100 // required calls
	maxConflicts = 5   // of one outcome
	maxProblems  = 100 // of a suite: the rest is not looked for
)

// report records a conflict at its first demand.
func report(core []*witness.Demand, why string) {
	others := make([]string, len(core)-1)
	for i, d := range core[1:] {
		at := d.At()
		others[i] = fmt.Sprintf("%s (%s:%d)", at.Path, at.Src.File, at.At())
	}
	at := core[0].At()
	switch len(others) {
	case 0:
		at.Failf("no episode can meet this: %s", why)
	case 1:
		at.Failf("no episode can meet this and %s: %s; change one of the two", others[0], why)
	default:
		at.Failf("no episode can meet this, %s and %s: %s; change one of them", strings.Join(others[:len(others)-1], ", "), others[len(others)-1], why)
	}
}
