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
