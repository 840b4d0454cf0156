package reports

import (
	"fmt"
	"slices"
)

// missingSaid counts the episodes of which nothing is shown of what was said, by
// reason, in the order of first occurrence.
type missingSaid []missingReason

// missingReason is a reason and how many episodes it holds for.
type missingReason struct {
	why string
	n   int
}

// maxReasons is how many are told.
const maxReasons = 3

func (m *missingSaid) add(why string) {
	if why != "" {
		m.count(missingReason{why, 1})
	}
}

func (m *missingSaid) count(more missingReason) {
	i := slices.IndexFunc(*m, func(t missingReason) bool { return t.why == more.why })
	if i < 0 {
		i, *m = len(*m), append(*m, missingReason{why: more.why})
	}
	(*m)[i].n += more.n
}

// words are a line for each reason.
func (m missingSaid) words() (lines []string) {
	for i, t := range m {
		if i == maxReasons {
			return append(lines, "Prompts and outputs are left out for other reasons, too: cupel show says which.")
		}
		lines = append(lines, fmt.Sprintf("Prompts and outputs are left out for %s: %s.", plural(t.n, "episode"), clip(t.why, 300)))
	}
	return lines
}
