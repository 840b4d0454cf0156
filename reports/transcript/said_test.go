package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPretty(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"an object", ` {"a":[1,"x"]} `, "{\n  \"a\": [\n    1,\n    \"x\"\n  ]\n}"},
		{"text", "plain {", "plain {"},
		{"cut short", `{"a":`, `{"a":`},
		{"deep", strings.Repeat("[", 30), strings.Repeat("[", 30)},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, (&Saying{Left: 1000}).pretty(c.in, 500)) })
	}
	s := Saying{Left: 10}
	require.Equal(t, "0123456789… (5 bytes more)", s.text("0123456789abcde", 500))
	require.Equal(t, "… (3 bytes more)", s.text("abc", 500), "an episode has its bound")
}

func TestCallsOfATurnAreBounded(t *testing.T) {
	many := DetailTurn{Turn: 1}
	for range 40 {
		many.Calls = append(many.Calls, DetailCall{"a", "{}"})
		many.Steps = append(many.Steps, DetailStep{Tool: "b", Args: "{}", Result: "r"})
		many.Updates = append(many.Updates, DetailUpdate{Phase: "p", Status: "s", Content: strings.Repeat("x", 5000)})
	}
	s := Saying{Left: MaxSaid, Systems: &Systems{By: map[string]int{}}, results: map[string]bool{}}
	v := s.turn(&many, "")
	require.Equal(t, []int{maxSteps, maxSteps, maxSteps}, []int{len(v.Calls), len(v.Steps), len(v.Updates)})
	require.Contains(t, v.More, "28 more")
	require.Less(t, len(v.Updates[0]), 700)
}

func TestReasonsAreFew(t *testing.T) {
	var m MissingSaid
	for i := range 20 {
		m.Add(fmt.Sprint(i % 5))
	}
	m.Add("")
	require.Len(t, m, 5)
	lines := m.Words()
	require.Len(t, lines, 4)
	require.Contains(t, lines[0], "4 episodes: 0.")
	require.Contains(t, lines[3], "other reasons, too")
}
