package episode

import (
	"fmt"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// maxStateValue bounds a value of a state that is shown, in bytes.
const maxStateValue = 1000

// StateChanges says what an episode changed in the state of its world, one line a change
// as in `orders.O7.status: "open" → "refunded"`, the first of most. It returns nothing if
// nothing changed; ok is false if the world has no state that can change. Control
// characters are made visible, and credentials in known forms are redacted.
func StateChanges(o goldens.Outcome, most int) (lines []string, ok bool) {
	changes := world.Diff(o.StateBefore, o.StateAfter)
	for i, c := range changes {
		if i == most {
			lines = append(lines, fmt.Sprintf("… %d more changes", len(changes)-most))
			break
		}
		line := fmt.Sprintf("%s: %s → %s", clip.Bytes(c.Path, maxStateValue), stateValue(c.From), stateValue(c.To))
		lines = append(lines, (*secrets.Finder)(nil).Redact("state", Visible(line)))
	}
	return lines, o.StateBefore != nil
}

// stateValue is a value of a state, or that there is none.
func stateValue(value []byte) string {
	if value == nil {
		return "nothing"
	}
	return clip.Bytes(string(value), maxStateValue)
}
