package load

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

// A change of a task changes the digests of the changed parts and no others.
func TestTaskParts(t *testing.T) {
	const text = suitetest.Head + "tasks:\n  - {id: A, title: T, tags: [x], request: Hi, tools: [today_range], expect: {status: answered, numbers: [1], note: n}}\n  - {id: B, request: Other, expect: {status: answered}}\n"
	of := func(text string) goldens.TaskParts {
		s, err := Suite(suitetest.Folder(text), "s", suitetest.Worlds())
		require.NoError(t, err)
		return s.TaskParts(s.Tasks[0])
	}
	base := of(text)
	require.Len(t, base.Request, 16)
	for name, c := range map[string]struct{ from, to, changed string }{
		"suite's name":         {"name: demo", "name: demo2", ""},
		"title, tags and note": {"title: T, tags: [x], request: Hi, tools: [today_range], expect: {status: answered, numbers: [1], note: n}", "title: U, tags: [y], request: Hi, tools: [today_range], expect: {status: answered, numbers: [1], note: m}", ""},
		"another task":         {"request: Other", "request: Another", ""},
		"another task's tool":  {"description: Counts.", "description: Counts!", ""},
		"request":              {"request: Hi", "request: Ho", "request"},
		"constraints":          {"request: Hi", "request: Hi, constraints: Be brief.", "request"},
		"count":                {"{angry: 1}", "{angry: 2}", "world"},
		"same instant":         {"2026-05-13T12:00:00-04:00", "2026-05-13T16:00:00Z", ""},
		"budget":               {"max_steps: 10", "max_steps: 11", "world"},
		"replies":              {"request: Hi", "request: Hi, replies: [May]", "world"},
		"fault":                {"request: Hi", "request: Hi, faults: [{tool: today_range, kind: latency, after: 1s}]", "world"},
		"its tool":             {"description: Today.", "description: Today!", "tools"},
		"tools on offer":       {"tools: [today_range]", "tools: [today_range, get_counts]", "tools"},
		"approval":             {"description: Today.", "description: Today.\n    approve: ask", "tools"},
		"checks":               {"numbers: [1]", "numbers: [2]", "checks"},
		"another outcome":      {"note: n}", "note: n}, also_accept: [{status: clarify}]", "checks"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, text, c.from)
			is := of(strings.Replace(text, c.from, c.to, 1))
			var changed []string
			for part, same := range map[string]bool{
				"request": is.Request == base.Request, "world": is.World == base.World, "tools": is.Tools == base.Tools, "checks": is.Checks == base.Checks,
			} {
				if !same {
					changed = append(changed, part)
				}
			}
			require.Equal(t, c.changed, strings.Join(changed, " "))
		})
	}
}
