package goldens

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/cupel-eval/cupel/goldens/internal/decimal"
)

// signalOf reads the signals of an outcome that are numbers.
var signalOf = map[string]func(Outcome) decimal.Decimal{
	"budget_refusals": func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.BudgetRefusals), 0) },
	"circuit_open":    func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.CircuitOpen), 0) },
	"dedupe_hits":     func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.DedupeHits), 0) },
	"duration_spikes": func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.DurationSpikes), 0) },
	"elapsed_seconds": func(o Outcome) decimal.Decimal { return decimal.Int(o.Elapsed.Nanoseconds(), -9) },
	"model_calls":     func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.ModelCalls), 0) },
	"rejected_calls":  func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.RejectedCalls), 0) },
	"reflect_turns":   func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.ReflectTurns), 0) },
	"repaired":        func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.Repaired), 0) },
	"rescue_turns":    func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.RescueTurns), 0) },
	"tool_executions": func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.Executions()), 0) },
	"valid_raw":       func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.ValidRaw), 0) },
	"violations":      func(o Outcome) decimal.Decimal { return decimal.Int(int64(o.Violations), 0) },
}

// flagOf reads the signals of an outcome that are true or false.
var flagOf = map[string]func(Outcome) bool{
	"all_turns_valid_json": func(o Outcome) bool { return o.AllTurnsValidJSON },
	"cycle_pattern":        func(o Outcome) bool { return o.CycleEvents > 0 },
	"stall":                func(o Outcome) bool { return o.StallEvents > 0 },
	"thrash":               func(o Outcome) bool { return o.ThrashEvents > 0 },
}

// signalNames are all signals a condition may be put on, sorted.
func signalNames() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(signalOf)), maps.Keys(flagOf))
	slices.Sort(names)
	return names
}

// IsFlag reports whether a signal is true or false, not a number.
func IsFlag(name string) bool { _, ok := flagOf[name]; return ok }

// condition reports whether a signal of an outcome is as wanted, and its value
// in words.
type condition func(Outcome) (holds bool, found string)

// parseCondition reads a condition on the named signal: true or false for a
// flag; N, ==N, >=N, <=N, >N or <N, N in decimal, for a number.
func parseCondition(signal, text string) (condition, error) {
	text = strings.TrimSpace(text)
	if flag, ok := flagOf[signal]; ok {
		if text != "true" && text != "false" {
			return nil, fmt.Errorf("signals.%s: must be true or false, but is %q", signal, text)
		}
		return func(o Outcome) (bool, string) {
			found := strconv.FormatBool(flag(o))
			return found == text, found
		}, nil
	}
	value, ok := signalOf[signal]
	if !ok {
		return nil, fmt.Errorf("signals.%s: unknown signal; allowed: %s", signal, strings.Join(signalNames(), ", "))
	}
	holds, bound := cutComparison(text)
	want, ok := decimal.Parse(strings.TrimSpace(bound))
	if !ok {
		return nil, fmt.Errorf("signals.%s: must be a number, alone or after ==, >=, <=, > or <, but is %q", signal, text)
	}
	return func(o Outcome) (bool, string) {
		found := value(o)
		return holds(found.Compare(want)), found.String()
	}, nil
}

// cutComparison splits a condition into what must hold of the comparison of a
// value with the bound, and the bound.
func cutComparison(text string) (holds func(int) bool, bound string) {
	for _, op := range []struct {
		sign  string
		holds func(int) bool
	}{
		{"==", func(c int) bool { return c == 0 }},
		{">=", func(c int) bool { return c >= 0 }},
		{"<=", func(c int) bool { return c <= 0 }},
		{">", func(c int) bool { return c > 0 }},
		{"<", func(c int) bool { return c < 0 }},
		{"", func(c int) bool { return c == 0 }},
	} {
		if rest, ok := strings.CutPrefix(text, op.sign); ok {
			return op.holds, rest
		}
	}
	return nil, "" // unreachable: every text begins with ""
}

// ElapsedSignal is the signal whose range is in nanoseconds.
const ElapsedSignal = "elapsed_seconds"

// SignalRange returns the lowest and the highest whole number that a condition on a
// signal allows, both included; of elapsed_seconds in nanoseconds. Of a flag they are
// those of the count of events it represents; all_turns_valid_json has none and is
// not bounded.
func SignalRange(name, text string) (low, high int64) {
	text = strings.TrimSpace(text)
	if _, flag := flagOf[name]; flag {
		switch {
		case name == "all_turns_valid_json":
			return 0, math.MaxInt64
		case text == "true":
			return 1, math.MaxInt64
		}
		return 0, 0
	}
	holds, bound := cutComparison(text)
	d, ok := decimal.Parse(strings.TrimSpace(bound))
	if !ok {
		return 0, math.MaxInt64
	}
	if name == ElapsedSignal {
		d = d.Shift(9)
	}
	floor, ceil := d.Floor(), d.Floor()
	if whole := decimal.Int(floor, 0); whole != d {
		ceil++
	}
	low, high = math.MinInt64, math.MaxInt64
	switch {
	case holds(-1):
	case holds(0):
		low = ceil
	default:
		low = floor + 1
	}
	switch {
	case holds(1):
	case holds(0):
		high = floor
	default:
		high = ceil - 1
	}
	return low, high
}
