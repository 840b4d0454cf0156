package witness

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/match"
	"github.com/cupel-eval/cupel/internal/plainjson"
)

// maxExtraCalls bounds the calls that a signal alone asks for.
const maxExtraCalls = 1_000

// caller builds the calls of a witness.
type caller struct {
	*Goal
	forbidden []match.Call
	calls     []goldens.Called
}

// calls builds calls that the trajectory, the table and the limits of the counts
// allow, as few as possible.
func (g *Goal) calls(c counters) ([]goldens.Called, *Obstacle) {
	b := caller{Goal: g}
	for _, m := range g.Expect.Trajectory.Forbidden {
		p, err := match.NewCall(m.Tool, m.Args)
		if err != nil {
			return nil, &Obstacle{reason: err.Error()}
		}
		b.forbidden = append(b.forbidden, p)
	}
	steps := []func(counters) *Obstacle{b.required, b.repeat, b.more}
	if g.Expect.Trajectory.Order == goldens.Subset {
		steps = []func(counters) *Obstacle{b.subset}
	}
	for _, step := range steps {
		if bad := step(c); bad != nil {
			return b.calls, bad
		}
	}
	return b.calls, nil
}

// required makes a call for every required one. Matchers take a call that is there
// already, where it fits: it may then be answered from the result of the other.
func (b *caller) required(counters) *Obstacle {
	t := b.Expect.Trajectory
	wanted := t.Required
	calls := make([]tool.Call, len(wanted))
	var made []tool.Call
	for _, literal := range []bool{true, false} {
		for i, m := range wanted {
			if (m.Args != nil && !match.HasMatcher(m.Args)) != literal {
				continue
			}
			var bad *Obstacle
			if calls[i], bad = b.call(m, made); bad != nil {
				return bad
			}
			made = append(made, calls[i])
		}
	}
	for _, call := range calls {
		b.add(call, false)
	}
	if b.Expect.TableLabel == "" || len(calls) > 0 {
		return nil
	}
	if t.Order == goldens.Strict {
		return &Obstacle{"the table needs a call that returns its date, which order strict does not allow", true}
	}
	call, bad := b.extra(false)
	if bad == nil {
		b.add(call, false)
	}
	return bad
}

// subset makes as many of the calls that order subset allows as the limits and the
// table ask for.
func (b *caller) subset(c counters) *Obstacle {
	allowed := slices.Clone(b.Expect.Trajectory.Required)
	runs, hits := c.of("tool_executions"), c.of("dedupe_hits")
	if int64(len(allowed))-hits.low < runs.low {
		return &Obstacle{fmt.Sprintf("order subset allows %d calls, and tool_executions must be at least %d (%s)", len(allowed), runs.low, runs.reason), true}
	}
	if b.Expect.TableLabel != "" && runs.low == 0 {
		if runs.low = 1; len(allowed) == 0 {
			return &Obstacle{"the table needs a call that returns its date, which order subset does not allow", true}
		}
	}
	var made []tool.Call
	ran, hit, sure := int64(0), int64(0), true
	for _, m := range allowed {
		call, bad := b.call(m, made)
		switch {
		case bad != nil:
			sure = sure && bad.Sure
		case hit < hits.low && b.cacheable(call.Name) && slices.ContainsFunc(made, func(c tool.Call) bool { return sameCall(c, call) }):
			b.add(call, true)
			hit++
		case ran < runs.low:
			b.add(call, false)
			made = append(made, call)
			ran++
		}
	}
	if ran < runs.low || hit < hits.low || ran > runs.high {
		return &Obstacle{fmt.Sprintf("order subset allows no %d executed calls", runs.low), sure && hits.low == 0 && ran < runs.low}
	}
	return nil
}

// add adds a call, which returns what the table needs.
func (b *caller) add(call tool.Call, deduped bool) {
	made := goldens.Called{Call: call, Outcome: tool.OK, Deduped: deduped}
	if b.Expect.TableLabel != "" {
		day := b.tableDay()
		made.Result, _ = json.Marshal(map[string]string{"start_date": day, "end_date": day})
	}
	b.calls = append(b.calls, made)
}

// tableDay is a day that the world has the label of the table for: the world's own
// day if it can be.
func (g *Goal) tableDay() string {
	day, found := g.Task.World.Now.Format(time.DateOnly), ""
	for date := range g.Task.Table(g.Expect.TableLabel) {
		if date == day || found != day && date > found {
			found = date
		}
	}
	return found
}

// cacheable reports whether a repeated call may be answered from an earlier result.
func (g *Goal) cacheable(name string) bool {
	spec, ok := g.Tools.Spec(name)
	return !ok || !spec.Repeatable && !spec.Uncacheable
}

// repeat answers as many calls from earlier results as the limits want.
func (b *caller) repeat(c counters) *Obstacle {
	runs, hits := c.of("tool_executions"), c.of("dedupe_hits")
	n := int64(len(b.calls))
	if b.Expect.Trajectory.Order == goldens.Strict {
		if n > runs.high || n < runs.low {
			return &Obstacle{fmt.Sprintf("order strict takes exactly %d executed calls, and tool_executions must be at least %d (%s) and at most %d", n, runs.low, runs.reason, runs.high), true}
		}
		return nil
	}
	seen := map[string]bool{}
	least := map[string]int64{} // executions that each tool needs for certain
	var repeats []int
	for i, made := range b.calls {
		name := made.Call.Name
		key, _, _ := tool.Key(made.Call)
		switch {
		case !b.cacheable(name):
			least[name]++
		case seen[key]:
			repeats = append(repeats, i)
		default:
			seen[key] = true
			if least[name] == 0 || b.literal(made.Call) {
				least[name]++
			}
		}
	}
	sure := int64(0)
	for _, n := range least {
		sure += n
	}
	if wanted := n - runs.high; wanted > int64(len(repeats)) {
		return &Obstacle{fmt.Sprintf("the required calls take %d executions, and tool_executions must be at most %d", n-int64(len(repeats)), runs.high), sure > runs.high}
	}
	count := min(max(n-runs.high, hits.low), int64(len(repeats)))
	for _, i := range repeats[int64(len(repeats))-count:] {
		b.calls[i].Deduped = true
	}
	if count > hits.high {
		return &Obstacle{reason: fmt.Sprintf("%d calls must be answered from earlier results, and dedupe_hits must be at most %d", count, hits.high)}
	}
	return nil
}

// literal reports whether one of the required calls can only be this one.
func (b *caller) literal(call tool.Call) bool {
	return slices.ContainsFunc(b.Expect.Trajectory.Required, func(m goldens.CallMatch) bool {
		if m.Tool != call.Name || m.Args == nil || match.HasMatcher(m.Args) {
			return false
		}
		p, err := match.NewCall(m.Tool, m.Args)
		args, _ := match.DecodeArgs(call.Args)
		return err == nil && p.Match(call.Name, args)
	})
}

// more adds the calls that only the limits ask for.
func (b *caller) more(c counters) *Obstacle {
	runs, hits := c.of("tool_executions"), c.of("dedupe_hits")
	ran := int64(goldens.Outcome{Calls: b.calls}.Executions())
	hit := int64(len(b.calls)) - ran
	if runs.low-ran > maxExtraCalls || hits.low-hit > maxExtraCalls {
		return &Obstacle{reason: "more calls than a witness has"}
	}
	for ; ran < runs.low; ran++ {
		call, bad := b.extra(hit < hits.low)
		if bad != nil {
			call, bad = b.extra(false)
		}
		if bad != nil {
			return bad
		}
		b.add(call, false)
	}
	for ; hit < hits.low; hit++ {
		call, bad := b.extra(true)
		if bad != nil {
			return bad
		}
		if !slices.ContainsFunc(b.calls, func(made goldens.Called) bool { return sameCall(made.Call, call) }) {
			return &Obstacle{reason: "no executed call whose result could answer another"}
		}
		b.add(call, true)
	}
	return nil
}

func sameCall(a, b tool.Call) bool { return a.Name == b.Name && string(a.Args) == string(b.Args) }

// extra is a call that nothing asks for or forbids: one made already, if there is one.
func (b *caller) extra(cacheable bool) (tool.Call, *Obstacle) {
	for _, made := range b.calls {
		if !cacheable || b.cacheable(made.Call.Name) {
			return made.Call, nil
		}
	}
	if b.Offered == nil {
		return tool.Call{Name: "some tool", Args: json.RawMessage("{}")}, nil
	}
	none := &Obstacle{"the task offers no tool that may be called", true}
	for _, name := range b.Offered {
		if cacheable && !b.cacheable(name) {
			continue
		}
		call, bad := b.call(goldens.CallMatch{Tool: name}, nil)
		if bad == nil {
			return call, nil
		}
		none.Sure = none.Sure && bad.Sure
	}
	return tool.Call{}, none
}

// call finds a call that a match accepts, the tool's schema allows and nothing
// forbids; it prefers one of those made.
func (b *caller) call(m goldens.CallMatch, made []tool.Call) (tool.Call, *Obstacle) {
	none := tool.Call{Name: m.Tool}
	if b.Refused[m.Tool] {
		return none, &Obstacle{fmt.Sprintf("every call of %s is refused", m.Tool), true}
	}
	if b.Offered != nil && !slices.Contains(b.Offered, m.Tool) {
		return none, &Obstacle{fmt.Sprintf("the task does not offer tool %s", m.Tool), true}
	}
	p, err := match.NewCall(m.Tool, m.Args)
	if err != nil {
		return none, &Obstacle{reason: err.Error()}
	}
	for _, call := range made {
		args, _ := match.DecodeArgs(call.Args)
		if p.Match(call.Name, args) {
			return call, nil
		}
	}
	var schema tool.JSON
	if b.Schemas[m.Tool] {
		schema = b.Trees[m.Tool]
	}
	want := any(anything{})
	if m.Args != nil {
		want = m.Args
	}
	s := sampler{root: schema}
	list, finite := s.values(want, schema, 0)
	why := ""
	for _, args := range list {
		text, err := plainjson.Marshal(args)
		call := tool.Call{Name: m.Tool, Args: text}
		if _, object := args.(map[string]any); err != nil || !object || !p.Match(call.Name, args) {
			continue
		}
		fault := b.fault(call, args)
		if fault == "" {
			return call, nil
		}
		why = cmp.Or(why, fault)
	}
	for _, f := range b.forbidden {
		if f.Covers(p) {
			return none, &Obstacle{fmt.Sprintf("every call %s is forbidden", p), true}
		}
	}
	return none, &Obstacle{fmt.Sprintf("call %s: %s", p, cmp.Or(why, "no arguments were found that fit")), finite}
}

// fault says why a call cannot be made, or must not; empty if it can.
func (b *caller) fault(call tool.Call, args any) string {
	if b.Schemas[call.Name] {
		if bad := b.Tools.Validate(call); len(bad) > 0 {
			return "the arguments break the tool's schema: " + strings.Join(bad, ", ")
		}
	}
	for _, f := range b.forbidden {
		if f.Match(call.Name, args) {
			return fmt.Sprintf("%s is forbidden", f)
		}
	}
	return ""
}
