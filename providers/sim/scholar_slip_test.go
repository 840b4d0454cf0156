package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestScholarSlipsMislead: each slip turns into a wrong or a wasted action where it
// fits, and into none where it does not.
func TestScholarSlipsMislead(t *testing.T) {
	const (
		north = "Which lighthouse on the north coast is the tallest?"
		total = "What is the total height of the lights on the north coast?"
		tall  = "How tall is Ash Point?"
	)
	checked := `tool result: turn 4 extract {"field":"region","id":"ash-point"} -> ok <data>{"field":"region","id":"ash-point","value":"north coast"}</data>`
	all := []string{foundPair, readAsh, readBell, checked}
	cases := []struct {
		name    string
		slip    decisionSlip
		request string
		entries []string
		wrong   func(a action) bool
		fits    bool
	}{
		{"another coast", wrongLabel, north, nil, func(a action) bool { return a.name == searchTool && !strings.Contains(showActs([]action{a}), "north") }, true},
		{"no other name", wrongLabel, tall, nil, func(a action) bool { return a.name == searchTool }, false},
		{"a neighbour or another field", wrongLabel, tall, []string{foundAsh}, func(a action) bool {
			shown := showActs([]action{a})
			return a.name == extractTool && (strings.Contains(shown, "bell-rock") || strings.Contains(shown, rangeField))
		}, true},
		{"nothing is confused in an answer", wrongLabel, tall, []string{foundAsh, readAsh}, func(a action) bool { return a.kind == respond }, false},
		{"one is missed", offByOne, total, all, func(a action) bool { return !strings.Contains(a.message, "74") }, true},
		{"the last one is missed", offByOne, total, []string{foundPair, readAsh}, func(a action) bool { return strings.Contains(a.message, "is 41 metres") }, true},
		{"one of one cannot be missed", offByOne, tall, []string{foundAsh, readAsh}, func(a action) bool { return a.kind == respond }, false},
		{"the same again", repeatCall, tall, []string{foundAsh, readAsh}, func(a action) bool {
			return showActs([]action{a}) == `extract {"field":"height_m","id":"ash-point"}`
		}, true},
		{"nothing to repeat", repeatCall, tall, nil, func(a action) bool { return a.name == searchTool }, false},
		{"no call is left to repeat", repeatCall, tall, []string{foundAsh, "budget: none"}, func(a action) bool { return a.stuck }, false},
		{"a needless question", needlessClarify, north, nil, func(a action) bool { return a.kind == clarify }, true},
		{"not twice", needlessClarify, north, []string{"user reply: turn 1 asked <data>x</data> answered <data>y</data>"}, func(a action) bool { return a.kind == useTool }, false},
		{"from the titles", skipToday, north, []string{foundPair}, func(a action) bool { return a.kind == respond && strings.Contains(a.message, "Ash Point") }, true},
		{"no titles yet", skipToday, north, nil, func(a action) bool { return a.name == searchTool }, false},
		{"titles do not tell a height", skipToday, tall, []string{foundAsh}, func(a action) bool { return a.name == extractTool }, false},
		{"a made-up value", inventNumber, tall, []string{foundAsh}, func(a action) bool { return a.kind == respond && strings.Contains(a.message, "metres tall") }, true},
		{"instead of the right one", inventNumber, total, all, func(a action) bool { return a.kind == respond && strings.Contains(a.message, "total height") }, true},
		{"not before the search", inventNumber, tall, nil, func(a action) bool { return a.name == searchTool }, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]bool{}
			for detail := range uint64(50) {
				detail *= 0x9e3779b97f4a7c15
				s := newScholar(careful(), prompt{request: c.request, tools: libraryTools(), entries: c.entries})
				a, fits := s.misjudge(c.slip, s.acts()[0], detail)
				require.Equal(t, c.fits, fits, "%+v", a)
				require.True(t, c.wrong(a), "%+v", a)
				if fits {
					require.NotEmpty(t, a.plan)
				}
				seen[showActs([]action{a})] = true
			}
			if c.slip == inventNumber && c.fits {
				require.Greater(t, len(seen), 20, "made-up values differ")
			}
		})
	}
}

// TestScholarSlipsCostSuccess: a model that slips more answers less of what is asked,
// by the contract and by several calls at once.
func TestScholarSlipsCostSuccess(t *testing.T) {
	trials := testkit.Long(3, 8)
	right := func(name string, width int) int {
		p, _ := profileFor(name)
		n := 0
		for i := range trials * len(questions) {
			c := questions[i%len(questions)]
			pr := prompt{request: c.request, tools: libraryTools()}
			s := newShelf()
			for turn := range 30 {
				d := drawsFor(5, name, fmt.Sprint(i, " ", turn), nil)
				acts := p.decide(pr, d, width == 1)
				if acts[0].kind != useTool {
					if says(acts[0].message, c.want, c.not) {
						n++
					}
					break
				}
				for _, a := range acts {
					args, err := json.Marshal(a.arguments())
					require.NoError(t, err)
					verdict, data := s.run(a.name, string(args))
					pr.entries = append(pr.entries, fmt.Sprintf("tool result: turn %d %s %s -> %s <data>%s</data>", turn, a.name, args, verdict, data))
				}
			}
		}
		return n
	}
	for _, width := range []int{1, 50} {
		strong, erratic, weak := right("sim-strong", width), right("sim-erratic", width), right("sim-weak", width)
		t.Logf("of %d, with at most %d calls a turn: strong %d, erratic %d, weak %d", trials*len(questions), width, strong, erratic, weak)
		require.GreaterOrEqual(t, strong, trials*len(questions)*97/100)
		require.Greater(t, strong, erratic)
		require.Greater(t, erratic, weak)
	}
}

// says reports whether an answer says what it must and nothing that it must not.
func says(got, want, not string) bool {
	missing := slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return !strings.Contains(got, w) })
	return !missing && (not == "" || !strings.Contains(got, not))
}
