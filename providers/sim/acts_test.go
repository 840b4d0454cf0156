package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// promptOf is a prompt with both tools on offer.
func promptOf(request string, entries ...string) prompt {
	return prompt{request: request, entries: entries, tools: map[string]bool{todayRange: true, getCounts: true}}
}

// countedLine is the line of a result of get_counts on one day.
func countedLine(label, date, value string) string {
	return `tool result: turn 1 get_counts {"start_date":"` + date + `","end_date":"` + date + `","label":"` + label + `"} -> ok <data>{"label":"` + label + `","start":"` + date + `","end":"` + date + `","value":` + value + `}</data>`
}

// TestActs: counts are asked for together, but today before what depends on it.
func TestActs(t *testing.T) {
	p, _ := profileFor("sim-strong")
	for name, c := range map[string]struct {
		prompt prompt
		want   []string
	}{
		"one":         {promptOf("angry on 2026-05-03?"), []string{"angry"}},
		"all labels":  {promptOf("angry, praise and info on 2026-05-03?"), []string{"angry", "praise", "info"}},
		"some known":  {promptOf("angry, praise and info on 2026-05-03?", countedLine("praise", "2026-05-03", "7")), []string{"angry", "info"}},
		"today first": {promptOf("angry and praise today?"), []string{todayRange}},
		"all known":   {promptOf("praise on 2026-05-03?", countedLine("praise", "2026-05-03", "7")), []string{"praise messages on 2026-05-03: 7."}},
		"a question":  {promptOf("Count the messages on 2026-05-03 please"), []string{"Which label do you mean: angry, praise or info?"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, a := range think(p, c.prompt).acts() {
				switch {
				case a.kind != useTool:
					got = append(got, a.message)
				case a.name == getCounts:
					got = append(got, a.query.label)
				default:
					got = append(got, a.name)
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

// TestRenderArguments: arguments that are given go out as they are.
func TestRenderArguments(t *testing.T) {
	a := action{kind: useTool, name: "search", args: map[string]any{"query": "north coast"}}
	require.Contains(t, a.render(50), `"next_action":{"type":"tool","name":"search","args":{"query":"north coast"}}`)
	a.args = nil
	require.Contains(t, a.render(50), `"args":{}`)
}
