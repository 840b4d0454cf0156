package reports

import (
	"fmt"
	"slices"
)

// missingSaid counts the episodes of which nothing is shown of what was said, by
// reason, in the order of first occurrence.
type missingSaid []Tally

// maxReasons is how many are told.
const maxReasons = 3

func (m *missingSaid) add(why string) {
	if why != "" {
		m.count(Tally{why, 1})
	}
}

func (m *missingSaid) count(more Tally) {
	i := slices.IndexFunc(*m, func(t Tally) bool { return t.Name == more.Name })
	if i < 0 {
		i, *m = len(*m), append(*m, Tally{Name: more.Name})
	}
	(*m)[i].N += more.N
}

// words are a line for each reason.
func (m missingSaid) words() (lines []string) {
	for i, t := range m {
		if i == maxReasons {
			return append(lines, "Prompts and outputs are left out for other reasons, too: cupel show says which.")
		}
		lines = append(lines, fmt.Sprintf("Prompts and outputs are left out for %s: %s.", plural(t.N, "episode"), clip(t.Name, 300)))
	}
	return lines
}
