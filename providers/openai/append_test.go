package openai

import (
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// A request that writes itself has the bytes of encoding/json, for every field that is
// set. A new field is checked, too.
func TestAppendJSONIsEncodingJSON(t *testing.T) {
	temperature := 0.2
	plain := request{Model: "m\"1", MaxTokens: 7, MaxCompletionTokens: 8, Temperature: &temperature, Messages: []message{{Role: "system", Content: "s\n"}, {Role: "user", Content: "ü\u2028<b>"}}}
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
	for field, m := range testkit.EachField(message{Role: "user", Content: "x"}) {
		r := plain
		r.Messages = []message{m}
		cases["message."+field] = r
	}
	for name, r := range cases {
		testkit.AppendsJSON(t, name, r, name == "plain" || name == "bare")
	}
}
