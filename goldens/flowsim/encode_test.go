package flowsim

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/cupel-eval/cupel/goldens/flowsim/graph"
)

// Values are written as encoding/json writes them.
func TestEncode(t *testing.T) {
	same := func(t require.TestingT, v any) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		err := enc.Encode(v)
		got, gotErr := encode(v)
		require.Equal(t, err == nil, gotErr == nil)
		if err == nil {
			require.Equal(t, want.String(), string(got)+"\n")
		}
	}
	for _, v := range []any{
		nil, true, 0, -7, 0.0, math.Copysign(0, -1), 1.5, 1e21, 1e-7, 9007199254740993.0, math.Inf(1), "", "<a&b>", "ä\u2028\xff\"\\\n\x7f", []any(nil), []any{},
		map[string]any(nil), map[string]any{"b": []any{1.0, nil, "x"}, "a\"": map[string]any{}, "ä": struct{ A, B any }{1, math.NaN()}}, []string{"a"}, resource{"1", "<"}, json.RawMessage(nil), map[string][][]graph.Target{}, map[string][][]graph.Target{"b": nil, "a<": {nil, {}, {{Node: "N", Input: 1}, {Node: "M"}}}}, json.RawMessage(`{"a":1}`), []graph.Node(nil), []graph.Node{},
		[]graph.Node{{Name: "A"}, {Name: "B<", Type: "set", Version: 2, Parameters: map[string]any{"x": 1.5}, Credentials: map[string]string{"b": "2", "a": "1"}, Disabled: true, OnError: "stop"}},
	} {
		same(t, v)
	}
	rapid.Check(t, func(t *rapid.T) {
		leaf := rapid.OneOf(rapid.Float64().AsAny(), rapid.Int().AsAny(), rapid.String().AsAny(), rapid.Bool().AsAny())
		same(t, rapid.MapOf(rapid.String(), leaf).Draw(t, "object"))
	})
}
