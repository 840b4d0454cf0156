package compare

import (
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
)

// Which episodes and turns count is defined as in package reports; a test there
// holds the two together.

// excluded says why an episode says nothing about the model; empty when it does.
func excluded(e *ledger.Episode) string {
	switch {
	case e.Status == ledger.StatusBudgetStop:
		return "budget stop"
	case e.Status == ledger.StatusHarnessError:
		return "harness error"
	case e.InfraError || e.Status == ledger.StatusInfraError:
		return "infrastructure error"
	case e.Status == "cancelled":
		return "interrupted"
	}
	return ""
}

// solved says that a scored episode was: a guard's stop is never a success,
// whatever the checks say.
func solved(e *ledger.Episode) bool { return e.Solved && e.Status != "stopped" }

// judged says that a turn of a scored episode counts: main-loop turns with a reply.
func judged(t *ledger.Turn) bool { return t.Role == "main" && t.ErrorKind == "" }

// valid says that a judged turn kept the contract. One that the token cap cut off
// did not, whatever could be read of it.
func valid(t *ledger.Turn) bool {
	return t.ContractValid && t.FinishReason != "length" && !slices.Contains(t.Violations, "truncated")
}
