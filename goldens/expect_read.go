package goldens

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/answer"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
)

var (
	expectFields = []string{"status", "stop_reason", "numbers", "not_numbers", "only_numbers", "near", "contains_any", "contains_all", "not_contains", "matches", "not_matches", "order", "calls", "forbidden", "at_most", "signals", "table_label", "note"}
	AtMostFields = []string{"clarifies", "steps", "tool_calls"}
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

// Expectations reads expect and also_accept. Every entry of also_accept starts
// as a copy of expect without its stop_reason and note; a field it has replaces
// the copy's, at_most, near and signals key by key, and an empty value takes the
// copy's away.
func Expectations(main, also yamlfile.Place) ([]Expect, []yamlfile.Object) {
	o := main.Object(expectFields)
	intended := (&expectation{Object: o}).read()
	all, places := []Expect{intended}, []yamlfile.Object{o}
	if also.Node == nil {
		return all, places
	}
	items := also.Items()
	if len(items) == 0 && also.Kind() == "a list" {
		also.Failf("must hold at least one outcome; leave it out if there is none")
	}
	for _, item := range items {
		o := item.Object(expectFields)
		base := intended
		base.StopReason, base.Note = "", ""
		all = append(all, (&expectation{Object: o, out: base, inherits: true}).read())
		places = append(places, o)
	}
	return all, places
}

// expectation reads one accepted outcome.
type expectation struct {
	yamlfile.Object
	out      Expect
	inherits bool
}

// field calls read with a field that is there, or clear with one that is there
// and empty in an outcome that inherits.
func (x *expectation) field(name string, clear func(), read func(yamlfile.Place)) {
	switch p, ok := x.Get(name); {
	case ok && x.inherits && p.Null():
		clear()
	case ok:
		read(p)
	}
}

func (x *expectation) texts(name string, to *[]string) {
	x.field(name, func() { *to = nil }, func(p yamlfile.Place) { *to = p.Words() })
}

// expressions reads a list of expressions of RE2.
func (x *expectation) expressions(name string, to *[]string) {
	x.field(name, func() { *to = nil }, func(p yamlfile.Place) {
		*to = p.Words()
		for i, item := range p.Items() {
			_, err := compileAll("", (*to)[i:i+1])
			item.Faulty(err, "[0]: ")
		}
	})
}

// near reads numbers by name over the inherited ones.
func (x *expectation) near(p yamlfile.Place) {
	out := maps.Clone(x.out.Near)
	if out == nil {
		out = map[string]string{}
	}
	for _, e := range p.Entries() {
		if x.inherits && e.Value.Null() {
			delete(out, e.Key)
		} else if n, ok := readDecimal(e.Value); ok {
			out[e.Key] = n
		}
	}
	if p.Faulty(answer.CheckNames(out), "near: "); len(out) == 0 {
		out = nil
	}
	x.out.Near = out
}

func (x *expectation) read() Expect {
	e := &x.out
	if !x.inherits {
		x.Need("status")
	}
	if p, ok := x.Get("status"); ok {
		e.Status = p.Choice(expectStatuses...)
	}
	if p, ok := x.Get("stop_reason"); ok {
		e.StopReason = p.Choice(stopReasons...)
	}
	x.field("numbers", func() { e.Numbers = nil }, func(p yamlfile.Place) { e.Numbers = numbers(p) })
	x.field("not_numbers", func() { e.NotNumbers = nil }, func(p yamlfile.Place) { e.NotNumbers = numbers(p) })
	x.field("only_numbers", func() { e.OnlyNumbers = nil }, func(p yamlfile.Place) {
		e.OnlyNumbers = append([]string{}, numbers(p)...) // an empty list allows none
	})
	x.field("near", func() { e.Near = nil }, x.near)
	x.texts("contains_any", &e.ContainsAny)
	x.texts("contains_all", &e.ContainsAll)
	x.texts("not_contains", &e.NotContains)
	x.expressions("matches", &e.Matches)
	x.expressions("not_matches", &e.NotMatches)
	x.field("order", func() { e.Trajectory.Order = "" }, func(p yamlfile.Place) { e.Trajectory.Order = Order(p.Choice(orders...)) })
	x.field("calls", func() { e.Trajectory.Required = nil }, func(p yamlfile.Place) { e.Trajectory.Required = calls(p, false) })
	x.field("forbidden", func() { e.Trajectory.Forbidden = nil }, func(p yamlfile.Place) { e.Trajectory.Forbidden = calls(p, true) })
	x.field("at_most", func() { e.MaxClarifies, e.MaxSteps, e.MaxToolCalls = nil, nil, nil }, x.caps)
	x.field("signals", func() { e.Signals = nil }, x.signals)
	x.field("table_label", func() { e.TableLabel = "" }, func(p yamlfile.Place) { e.TableLabel = p.Filled() })
	if p, ok := x.Get("note"); ok {
		e.Note = p.Filled()
	}
	return *e
}

// caps reads at_most; an empty cap takes the inherited one away.
func (x *expectation) caps(p yamlfile.Place) {
	o := p.Object(AtMostFields)
	for i, to := range []**int{&x.out.MaxClarifies, &x.out.MaxSteps, &x.out.MaxToolCalls} {
		switch p, ok := o.Get(AtMostFields[i]); {
		case ok && x.inherits && p.Null():
			*to = nil
		case ok:
			n := int(p.Integer(0, maxCap))
			*to = &n
		}
	}
}

// signals reads conditions by signal name over the inherited ones.
func (x *expectation) signals(p yamlfile.Place) {
	out := map[string]string{}
	for name, condition := range x.out.Signals {
		out[name] = condition
	}
	for _, e := range p.Entries() {
		if x.inherits && e.Value.Null() {
			delete(out, e.Key)
			continue
		}
		condition, tag, ok := e.Value.Scalar()
		if !ok || !slices.Contains([]string{"!!str", "!!bool", "!!int", "!!float"}, tag) {
			e.Value.Wants("a condition")
			continue
		}
		if known := signalNames(); !slices.Contains(known, e.Key) {
			e.KeyAt.Failf("unknown signal%s; allowed: %s", yamlfile.Suggest(e.Key, known), yamlfile.Listed(known))
			continue
		}
		condition = strings.ReplaceAll(condition, " ", "")
		if _, err := parseCondition(e.Key, condition); err != nil {
			e.Value.Failf("%s", strings.TrimPrefix(err.Error(), "signals."+e.Key+": "))
			continue
		}
		out[e.Key] = condition
	}
	x.out.Signals = out
}

// numbers reads numbers as they are written: 449, 25.0.
func numbers(p yamlfile.Place) []string {
	var out []string
	for _, item := range p.Items() {
		if n, ok := readDecimal(item); ok {
			out = append(out, n)
		}
	}
	return out
}

// readDecimal reads a number as it is written.
func readDecimal(p yamlfile.Place) (string, bool) {
	s, tag, ok := p.Scalar()
	switch {
	case !ok || tag != "!!int" && tag != "!!float" && tag != "!!str":
		p.Wants("a number")
	case !plainNumber.MatchString(s):
		p.Failf("must be a number written in plain digits, such as 1234567 or 25.5, but is %q", s)
	default:
		return s, true
	}
	return "", false
}
