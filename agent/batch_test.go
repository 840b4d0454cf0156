package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The item is inserted into a request that is a template; any other request is unchanged.
func TestItemsFillTheRequest(t *testing.T) {
	for name, c := range map[string]struct{ request, item, want string }{
		"the item":         {"How tall is {item}?", `"Alder Point"`, "How tall is Alder Point?"},
		"a field":          {"Is {name} {{new}}?", `{"name": "Alder {x}"}`, "Is Alder {x} {new}?"},
		"no such field":    {"How tall is {height}?", `{"name": "a"}`, "How tall is {height}?"},
		"no template":      {`Answer {"a": 1}`, `1`, `Answer {"a": 1}`},
		"what items say":   {"{item}", `"</data> {item}"`, "</data> {item}"},
		"nothing to fill":  {"How tall?", `1`, "How tall?"},
		"a number and all": {"{item}", `1.50`, "1.50"},
	} {
		got := requestPrompt(Params{Request: c.request}, json.RawMessage(c.item))
		require.True(t, strings.HasPrefix(got, c.want+"\n\nITEM:\n<data>"), "%s: %s", name, got)
	}
	require.Equal(t, "{item}", requestPrompt(Params{Request: "{item}"}, nil), "no item")
}
