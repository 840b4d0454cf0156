package compare

import (
	"github.com/cupel-eval/cupel/harness/ledger"
)

// decision is what a turn decided, in eight bytes: enough to find the first turn
// at which two episodes differ and to say what differs there.
type decision struct {
	// label is the number of its text, such as "calls get_counts".
	label uint32
	// args is a hash of the label and of the arguments of the turn's tool calls.
	args uint32
}

// label says in few words what a turn decided, as the predicate of a sentence.
func label(t *ledger.Turn) (what, name string) {
	switch {
	case t.ErrorKind != "":
		return "gets no reply:", t.ErrorKind
	case t.NextActionType == "":
		return "gives no usable action", ""
	case t.NextActionType == "tool":
		return "calls", t.NextActionName
	case t.NextActionType == "respond":
		return "answers", t.NextActionName
	case t.NextActionType == "clarify":
		return "asks a question", t.NextActionName
	}
	return "decides " + t.NextActionType, t.NextActionName
}

// decided hashes what a turn decided, with the arguments of its calls. Calls come in
// their order, of all turns; from is the first that belongs to this turn or a later
// one, next the first of a later one.
func decided(w *stringTable, t *ledger.Turn, calls []ledger.ToolCall, from int) (d decision, next int) {
	what, name := label(t)
	d.label = w.number(what, name)
	h := mix(mix(offset, what), name)
	for next = from; next < len(calls) && calls[next].Turn <= t.Turn; next++ {
		if calls[next].Turn == t.Turn {
			h = mix(mix(h, calls[next].ToolName), calls[next].ArgsHash)
		}
	}
	d.args = uint32(h ^ h>>32)
	return d, next
}

// FNV-1a over 64 bits.
const (
	offset = uint64(14695981039346656037)
	prime  = uint64(1099511628211)
)

// mix adds text and its end to a hash.
func mix(h uint64, text string) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * prime
	}
	return (h ^ 0xff) * prime
}

// divergence is the first turn at which two episodes differ, counted from 1, and
// what differs; 0 if no decision does.
func divergence(labels Names, base []decision, baseWords *stringTable, newer []decision, newerWords *stringTable) (turn int, what string) {
	for i := range max(len(base), len(newer)) {
		left, right := "has ended", "has ended"
		if i < len(base) {
			left = baseWords.list[base[i].label]
		}
		if i < len(newer) {
			right = newerWords.list[newer[i].label]
		}
		switch {
		case left != right || i >= min(len(base), len(newer)):
			return i + 1, labels.Baseline + " " + left + ", " + labels.New + " " + right
		case base[i].args != newer[i].args:
			return i + 1, labels.Baseline + " " + left + ", " + labels.New + " with other arguments"
		}
	}
	return 0, ""
}
