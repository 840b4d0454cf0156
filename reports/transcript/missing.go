package transcript

import (
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/reports/words"
)

// MissingSaid counts the episodes of which nothing is shown of what was said, by
// reason, in the order of first occurrence.
type MissingSaid []missingReason

// missingReason is a reason and how many episodes it holds for.
type missingReason struct {
	why string
	n   int
}

// maxReasons is how many are told.
const maxReasons = 3

// Add counts an episode of which nothing is shown, by the reason; "" counts nothing.
func (m *MissingSaid) Add(why string) {
	if why != "" {
		m.Count(missingReason{why, 1})
	}
}

// Count adds the episodes of a reason.
func (m *MissingSaid) Count(more missingReason) {
	i := slices.IndexFunc(*m, func(t missingReason) bool { return t.why == more.why })
	if i < 0 {
		i, *m = len(*m), append(*m, missingReason{why: more.why})
	}
	(*m)[i].n += more.n
}

// Words are a line for each reason.
func (m MissingSaid) Words() (lines []string) {
	for i, t := range m {
		if i == maxReasons {
			return append(lines, "Prompts and outputs are left out for other reasons, too: cupel show says which.")
		}
		lines = append(lines, fmt.Sprintf("Prompts and outputs are left out for %s: %s.", words.Plural(t.n, "episode"), words.Clip(t.why, 300)))
	}
	return lines
}
