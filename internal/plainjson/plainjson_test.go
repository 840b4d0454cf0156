package plainjson

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestText(t *testing.T) {
	for want, v := range map[string]any{
		`"<a & \"b\">\n\u2028"`:   "<a & \"b\">\n\u2028",
		`{"a":[1,null],"b":"\n"}`: map[string]any{"b": "\n", "a": []any{1, nil}},
		`null`:                    math.NaN(),
	} {
		require.Equal(t, want, Text(v))
	}
	_, err := Marshal(math.NaN())
	require.Error(t, err)
}

func TestMerge(t *testing.T) {
	base := map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": []any{1}}
	require.Equal(t, map[string]any{"a": map[string]any{"b": 3}, "d": "x"}, Merge(base, map[string]any{"a": map[string]any{"b": 3, "c": nil}, "d": "x", "e": nil}))
	require.Equal(t, map[string]any{"a": map[string]any{"b": 1, "c": 2}, "d": []any{1}}, base, "changed")
	require.Nil(t, Merge(base, nil))
	require.Equal(t, map[string]any{"a": map[string]any{}}, Merge([]any{1}, map[string]any{"a": map[string]any{"b": nil}}))
}
