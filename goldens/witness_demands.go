package goldens

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/agent/guard"
)

// demandList collects demands in the order in which a conflict names them.
type demandList []*demand

func (l *demandList) add(field string, at func() place, add func(*goal)) {
	*l = append(*l, &demand{field, at, add})
}

// addEach adds a demand for every item of a field that is a list.
func addEach[T any](l *demandList, o object, field string, items []T, add func(*goal, T)) {
	for i, item := range items {
		l.add(field, func() place { return o.fieldAt(field).item(i) }, func(g *goal) { add(g, item) })
	}
}

// addNamed adds a demand for every entry of a field that is a mapping.
func addNamed(l *demandList, o object, field string, entries map[string]string, of func(*goal) *map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		l.add(field, func() place { return o.fieldAt(field).fieldAt(name) }, func(g *goal) {
			to := of(g)
			if *to == nil {
				*to = map[string]string{}
			}
			(*to)[name] = entries[name]
		})
	}
}

// demandsOf lists what an accepted outcome asks. An order stands for the whole
// trajectory, so that demands never become easier to meet by adding one.
func demandsOf(o object, e Expect) demandList {
	var l demandList
	top := func(field string, add func(*goal)) {
		l.add(field, func() place { return o.fieldAt(field) }, add)
	}
	top("status", func(g *goal) { g.expect.Status = e.Status })
	if e.StopReason != "" {
		top("stop_reason", func(g *goal) { g.expect.StopReason = e.StopReason })
	}
	addEach(&l, o, "numbers", e.Numbers, func(g *goal, n string) { g.expect.Numbers = append(g.expect.Numbers, n) })
	addEach(&l, o, "not_numbers", e.NotNumbers, func(g *goal, n string) { g.expect.NotNumbers = append(g.expect.NotNumbers, n) })
	if e.OnlyNumbers != nil {
		top("only_numbers", func(g *goal) { g.expect.OnlyNumbers = e.OnlyNumbers })
	}
	addNamed(&l, o, "near", e.Near, func(g *goal) *map[string]string { return &g.expect.Near })
	if len(e.ContainsAny) > 0 {
		top("contains_any", func(g *goal) { g.expect.ContainsAny = e.ContainsAny })
	}
	addEach(&l, o, "contains_all", e.ContainsAll, func(g *goal, s string) { g.expect.ContainsAll = append(g.expect.ContainsAll, s) })
	addEach(&l, o, "not_contains", e.NotContains, func(g *goal, s string) { g.expect.NotContains = append(g.expect.NotContains, s) })
	addEach(&l, o, "matches", e.Matches, func(g *goal, s string) { g.expect.Matches = append(g.expect.Matches, s) })
	addEach(&l, o, "not_matches", e.NotMatches, func(g *goal, s string) { g.expect.NotMatches = append(g.expect.NotMatches, s) })
	addEach(&l, o, "calls", e.Trajectory.Required, func(g *goal, m CallMatch) {
		if g.expect.Trajectory.Order == "" && e.Trajectory.Order != Subset {
			g.expect.Trajectory.Required = append(g.expect.Trajectory.Required, m)
		}
	})
	if e.Trajectory.Order != "" {
		top("order", func(g *goal) {
			g.expect.Trajectory.Order, g.expect.Trajectory.Required = e.Trajectory.Order, e.Trajectory.Required
		})
	}
	addEach(&l, o, "forbidden", e.Trajectory.Forbidden, func(g *goal, m CallMatch) {
		g.expect.Trajectory.Forbidden = append(g.expect.Trajectory.Forbidden, m)
	})
	for i, limit := range []*int{e.MaxClarifies, e.MaxSteps, e.MaxToolCalls} {
		if limit != nil {
			l.add("at_most", func() place { return o.fieldAt("at_most").fieldAt(atMostFields[i]) }, func(g *goal) {
				*[]**int{&g.expect.MaxClarifies, &g.expect.MaxSteps, &g.expect.MaxToolCalls}[i] = limit
			})
		}
	}
	addNamed(&l, o, "signals", e.Signals, func(g *goal) *map[string]string { return &g.expect.Signals })
	if e.TableLabel != "" {
		top("table_label", func(g *goal) { g.expect.TableLabel = e.TableLabel })
	}
	return l
}

// givenDemands lists what the task itself asks of an episode, whatever its outcome.
func (l *loader) givenDemands(s *Suite, t Task, o object) demandList {
	var out demandList
	top := func(field string, add func(*goal)) {
		out.add("", func() place { return o.fieldAt(field) }, add)
	}
	if t.AnswerSchema != nil {
		top("answer_schema", func(g *goal) { g.task.AnswerSchema = t.AnswerSchema })
	}
	if len(t.Replies) == 0 {
		top("replies", func(g *goal) { g.silent = true })
	}
	for name, value := range budgetsByName(t.Budgets) {
		out.add("", func() place { return o.fieldAt("budgets").fieldAt(name) }, func(g *goal) { g.budgets[name] = value })
	}
	top("tools", func(g *goal) { g.offered = append([]string{}, t.Tools...) })
	for _, name := range t.Tools {
		at, defined := l.tools.places[name]
		if !defined {
			continue
		}
		out.add("", func() place { return at.fieldAt("schema") }, func(g *goal) { g.schemas[name] = true })
		if s.Approval(name) == ApproveNever {
			out.add("", func() place { return at.fieldAt("approve") }, func(g *goal) { g.refused[name] = true })
		}
	}
	return out
}

// budgetsByName yields the caps under the names that suites give them, in their order.
func budgetsByName(b guard.Budgets) func(yield func(string, int64) bool) {
	return func(yield func(string, int64) bool) {
		for i, value := range []int64{int64(b.MaxSteps), int64(b.MaxToolCalls), int64(b.MaxTime), b.MaxTokens, b.MaxCostNanoUSD} {
			if !yield(budgetFields[i], value) {
				return
			}
		}
	}
}

// prove builds a witness of every outcome that the task accepts. Demands that no
// episode meets together are problems, reported where expect has them; an outcome
// that an empty answer meets, and a condition that every episode meets, are warnings.
func (l *loader) prove(s *Suite, p prover, where taskPlaces) {
	t := p.task
	given := l.givenDemands(s, t, where.object)
	for i, e := range t.Expect {
		at := where.expect[i]
		demands := slices.Concat(demandsOf(at, e), given)
		if len(demands) > maxDemands || len(e.Trajectory.Required) > maxProved || len(l.found.list) > maxProblems {
			continue
		}
		own := func(d *demand) bool { return d.field != "" && at.has(d.field) }
		for range maxConflicts {
			core, why := p.conflict(demands)
			if core == nil {
				break
			}
			if i == 0 || slices.ContainsFunc(core, own) {
				report(core, why)
			}
			last := core[len(core)-1]
			demands = slices.DeleteFunc(demands, func(d *demand) bool { return d == last })
		}
		if !t.Scripted {
			l.warn(at, p.goal(demands))
		}
	}
}

// warn records what an outcome lets pass.
func (l *loader) warn(at object, g *goal) {
	warnings := &source{file: at.src.file, found: &l.warned}
	warnf := func(p place, format string, args ...any) { p.src = warnings; p.failf(format, args...) }
	if o, _ := g.witness(); g.empty(o) {
		warnf(at.place, "an empty answer passes, without any tool call; add a check of the answer, such as numbers, contains_any or matches, or of calls")
	}
	for i, m := range g.expect.Trajectory.Forbidden {
		if like := suggest(m.Tool, l.tools.names()); like != "" && !slices.Contains(l.tools.names(), m.Tool) {
			warnf(at.fieldAt("forbidden").item(i), "the suite has no tool %q%s", m.Tool, like)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(g.expect.Signals)) {
		if low, high := signalRange(name, g.expect.Signals[name]); !isFlag(name) && low <= 0 && high == math.MaxInt64 {
			warnf(at.fieldAt("signals").fieldAt(name), "every episode meets this, since no count is below 0; remove it or choose a condition that can fail")
		}
	}
}

// The bounds of a proof. An outcome that says more than this is not proved.
const (
	maxDemands   = 300
	maxProved    = 100 // required calls
	maxConflicts = 5   // of one outcome
	maxProblems  = 100 // of a suite: the rest is not looked for
)

// report records a conflict at its first demand.
func report(core []*demand, why string) {
	others := make([]string, len(core)-1)
	for i, d := range core[1:] {
		at := d.at()
		others[i] = fmt.Sprintf("%s (%s:%d)", at.path, at.src.file, at.at())
	}
	at := core[0].at()
	switch len(others) {
	case 0:
		at.failf("no episode can meet this: %s", why)
	case 1:
		at.failf("no episode can meet this and %s: %s; change one of the two", others[0], why)
	default:
		at.failf("no episode can meet this, %s and %s: %s; change one of them", strings.Join(others[:len(others)-1], ", "), others[len(others)-1], why)
	}
}
