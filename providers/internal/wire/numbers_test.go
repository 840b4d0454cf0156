package wire

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
)

func TestNumbers(t *testing.T) {
	var u providers.Usage
	n := ReadNumbers([]byte(`{"a":3,"b":{"c":4,"d":1.5,"e":"7","f":-2},"a":5,"tools":{"x":1,"y":0,"z":2}}`), NewFields())
	require.Equal(t, Count(5), n.Count(&u, "a"))
	require.Equal(t, Count(0), n.Count(&u, "b.e"))
	require.True(t, n.Has("b.d") && !n.Has("b.e") && !n.Has("b"))
	require.Equal(t, Count(9), n.Sum(&u, "a", "b.c", "none"))
	require.Equal(t, Count(5), n.Largest(&u, "none", "a"))
	require.Empty(t, u.NotUnderstood)
	require.Equal(t, Count(5), n.Largest(&u, "b.c", "a"))
	require.Equal(t, Count(0), n.Sum(&u, "b.d", "b.f"))
	require.Equal(t, map[string]int64{"x": 1, "z": 2}, n.Under(&u, "tools"))
	require.Equal(t, []string{"a: differs from another count of the same tokens", "b.d: is not a count", "b.f: is not a count"}, u.NotUnderstood)
}

func TestServerToolUses(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      map[string]int64
		doubts    []string
	}{
		{"none", `{"num_server_side_tools_used":0,"num_sources_used":0}`, nil, nil},
		{"details", `{"num_server_side_tools_used":4,"server_side_tool_usage_details":{"web_search_calls":3,"x_search_calls":1,"mcp_calls":0,"x_posts_fetched":20}}`, map[string]int64{"web_search": 3, "x_search": 1, "x_posts_fetched": 20}, nil},
		{"no details", `{"num_server_side_tools_used":4}`, map[string]int64{"other": 4}, nil},
		{"other details", `{"num_server_side_tools_used":4,"server_side_tool_usage_details":{"web_search_calls":3}}`, map[string]int64{"web_search": 3}, []string{"num_server_side_tools_used: is not the sum of its details"}},
		{"sources", `{"num_sources_used":9}`, map[string]int64{"live_search": 9}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var u providers.Usage
			AddServerTools(&u, ReadNumbers([]byte(c.raw), NewFields()).ServerToolUses(&u))
			require.Equal(t, c.want, u.ServerTools)
			require.Equal(t, c.doubts, u.NotUnderstood)
		})
	}
}
