package anthropic

import (
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// A request that writes itself has the bytes of encoding/json, for every field that is
// set. A new field is checked, too.
func TestAppendJSONIsEncodingJSON(t *testing.T) {
	temperature := 0.2
	plain := request{Model: "m\"1", MaxTokens: 7, System: "s\n", Temperature: &temperature, Messages: []message{{Role: "user", Content: "ü\u2028<b>"}, {Role: "assistant", Content: ""}}}
	bare := plain
	bare.Temperature = nil
	tiny, small := plain, 1e-9
	tiny.Temperature = &small
	cases := map[string]request{"plain": plain, "bare": bare, "tiny": tiny, "empty": {}}
	for name, base := range map[string]request{"with ": plain, "only ": {}} {
		for field, r := range testkit.EachField(base) {
			cases[name+field] = r
		}
	}
	parts := plain
	parts.Messages = []message{{Role: "user", Content: []any{part{Type: "text", Text: "x"}}}}
	cases["parts"] = parts
	for name, r := range cases {
		testkit.AppendsJSON(t, name, r, name == "plain" || name == "bare")
	}
}
