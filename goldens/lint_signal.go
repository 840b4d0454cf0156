package goldens

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
)

// signalIsFlag lists the signals a task may set conditions on, and whether a
// signal is true or false rather than a number.
var signalIsFlag = map[string]bool{
	"all_turns_valid_json": true,
	"dedupe_hits":          false,
	"elapsed_seconds":      false,
	"model_calls":          false,
	"reflect_turns":        false,
	"repaired":             false,
	"rescue_turns":         false,
	"stall":                true,
	"thrash":               true,
	"tool_executions":      false,
	"valid_raw":            false,
	"violations":           false,
}

func knownSignals() []string { return slices.Sorted(maps.Keys(signalIsFlag)) }

var (
	flagCondition   = regexp.MustCompile(`^(true|false)$`)
	numberCondition = regexp.MustCompile(`^(>=|<=|>|<)?[0-9]+(\.[0-9]+)?$`)
)

// lintCondition says what is wrong with a condition on a known signal.
func lintCondition(signal, condition string) error {
	switch {
	case signalIsFlag[signal] && !flagCondition.MatchString(condition):
		return fmt.Errorf("must be true or false, but is %q", condition)
	case !signalIsFlag[signal] && !numberCondition.MatchString(condition):
		return fmt.Errorf("must be a number, alone or after >=, <=, > or <, but is %q", condition)
	}
	return nil
}
