package goldens

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

var (
	expectFields = []string{"status", "stop_reason", "numbers", "not_numbers", "only_numbers", "near", "contains_any", "contains_all", "not_contains", "matches", "not_matches", "order", "calls", "forbidden", "at_most", "signals", "table_label", "note"}
	atMostFields = []string{"clarifies", "steps", "tool_calls"}
)

// The words an expectation may use, as package agent and the ledger spell them.
// A failed or cancelled episode is nobody's expectation.
var (
	expectStatuses = []string{"answered", "answered_after_clarify", "respond_error", "clarify", "cannot_proceed", "stopped"}
	stopReasons    = []string{"max_steps", "max_seconds", "max_tool_calls", "thrash", "stall", "contract_violation", "max_tokens", "max_cost", "max_iterations", "final_schema", "invalid_plan", "failed_step"}
	orders         = []string{string(Strict), string(InOrder), string(AnyOrder), string(Subset)}
)

var (
	plainNumber = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)
	maxCap      = int64(10_000)
)

// expectations reads expect and also_accept. Every entry of also_accept starts
// as a copy of expect without its stop_reason and note; a field it has replaces
// the copy's, at_most, near and signals key by key, and an empty value takes the
// copy's away.
func expectations(main, also place) ([]Expect, []object) {
	o := main.object(expectFields)
	intended := (&expectation{object: o}).read()
	all, places := []Expect{intended}, []object{o}
	if also.node == nil {
		return all, places
	}
	items := also.items()
	if len(items) == 0 && also.kind() == "a list" {
		also.failf("must hold at least one outcome; leave it out if there is none")
	}
	for _, item := range items {
		o := item.object(expectFields)
		base := intended
		base.StopReason, base.Note = "", ""
		all = append(all, (&expectation{object: o, out: base, inherits: true}).read())
		places = append(places, o)
	}
	return all, places
}

// expectation reads one accepted outcome.
type expectation struct {
	object
	out      Expect
	inherits bool
}

// field calls read with a field that is there, or clear with one that is there
// and empty in an outcome that inherits.
func (x *expectation) field(name string, clear func(), read func(place)) {
	switch p, ok := x.get(name); {
	case ok && x.inherits && p.null():
		clear()
	case ok:
		read(p)
	}
}

func (x *expectation) texts(name string, to *[]string) {
	x.field(name, func() { *to = nil }, func(p place) { *to = p.words() })
}

// expressions reads a list of expressions of RE2.
func (x *expectation) expressions(name string, to *[]string) {
	x.field(name, func() { *to = nil }, func(p place) {
		*to = p.words()
		for i, item := range p.items() {
			_, err := compileAll("", (*to)[i:i+1])
			item.faulty(err, "[0]: ")
		}
	})
}

// near reads numbers by name over the inherited ones.
func (x *expectation) near(p place) {
	out := maps.Clone(x.out.Near)
	if out == nil {
		out = map[string]string{}
	}
	for _, e := range p.entries() {
		if x.inherits && e.value.null() {
			delete(out, e.key)
		} else if n, ok := e.value.decimal(); ok {
			out[e.key] = n
		}
	}
	if p.faulty(checkNear(out), "near: "); len(out) == 0 {
		out = nil
	}
	x.out.Near = out
}

func (x *expectation) read() Expect {
	e := &x.out
	if !x.inherits {
		x.need("status")
	}
	if p, ok := x.get("status"); ok {
		e.Status = p.choice(expectStatuses...)
	}
	if p, ok := x.get("stop_reason"); ok {
		e.StopReason = p.choice(stopReasons...)
	}
	x.field("numbers", func() { e.Numbers = nil }, func(p place) { e.Numbers = numbers(p) })
	x.field("not_numbers", func() { e.NotNumbers = nil }, func(p place) { e.NotNumbers = numbers(p) })
	x.field("only_numbers", func() { e.OnlyNumbers = nil }, func(p place) {
		e.OnlyNumbers = append([]string{}, numbers(p)...) // an empty list allows none
	})
	x.field("near", func() { e.Near = nil }, x.near)
	x.texts("contains_any", &e.ContainsAny)
	x.texts("contains_all", &e.ContainsAll)
	x.texts("not_contains", &e.NotContains)
	x.expressions("matches", &e.Matches)
	x.expressions("not_matches", &e.NotMatches)
	x.field("order", func() { e.Trajectory.Order = "" }, func(p place) { e.Trajectory.Order = Order(p.choice(orders...)) })
	x.field("calls", func() { e.Trajectory.Required = nil }, func(p place) { e.Trajectory.Required = calls(p, false) })
	x.field("forbidden", func() { e.Trajectory.Forbidden = nil }, func(p place) { e.Trajectory.Forbidden = calls(p, true) })
	x.field("at_most", func() { e.MaxClarifies, e.MaxSteps, e.MaxToolCalls = nil, nil, nil }, x.caps)
	x.field("signals", func() { e.Signals = nil }, x.signals)
	x.field("table_label", func() { e.TableLabel = "" }, func(p place) { e.TableLabel = p.filled() })
	if p, ok := x.get("note"); ok {
		e.Note = p.filled()
	}
	return *e
}

// caps reads at_most; an empty cap takes the inherited one away.
func (x *expectation) caps(p place) {
	o := p.object(atMostFields)
	for i, to := range []**int{&x.out.MaxClarifies, &x.out.MaxSteps, &x.out.MaxToolCalls} {
		switch p, ok := o.get(atMostFields[i]); {
		case ok && x.inherits && p.null():
			*to = nil
		case ok:
			n := int(p.integer(0, maxCap))
			*to = &n
		}
	}
}

// signals reads conditions by signal name over the inherited ones.
func (x *expectation) signals(p place) {
	out := map[string]string{}
	for name, condition := range x.out.Signals {
		out[name] = condition
	}
	for _, e := range p.entries() {
		if x.inherits && e.value.null() {
			delete(out, e.key)
			continue
		}
		condition, tag, ok := e.value.scalar()
		if !ok || !slices.Contains([]string{"!!str", "!!bool", "!!int", "!!float"}, tag) {
			e.value.wants("a condition")
			continue
		}
		if known := signalNames(); !slices.Contains(known, e.key) {
			e.keyAt.failf("unknown signal%s; allowed: %s", suggest(e.key, known), listed(known))
			continue
		}
		condition = strings.ReplaceAll(condition, " ", "")
		if _, err := parseCondition(e.key, condition); err != nil {
			e.value.failf("%s", strings.TrimPrefix(err.Error(), "signals."+e.key+": "))
			continue
		}
		out[e.key] = condition
	}
	x.out.Signals = out
}

// numbers reads numbers as they are written: 449, 25.0.
func numbers(p place) []string {
	var out []string
	for _, item := range p.items() {
		if n, ok := item.decimal(); ok {
			out = append(out, n)
		}
	}
	return out
}

// decimal reads a number as it is written.
func (p place) decimal() (string, bool) {
	s, tag, ok := p.scalar()
	switch {
	case !ok || tag != "!!int" && tag != "!!float" && tag != "!!str":
		p.wants("a number")
	case !plainNumber.MatchString(s):
		p.failf("must be a number written in plain digits, such as 1234567 or 25.5, but is %q", s)
	default:
		return s, true
	}
	return "", false
}
