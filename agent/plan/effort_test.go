package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// doubling returns a schema with the given number of definitions, each of which refers
// twice to the next.
func doubling(levels int) string {
	var defs []string
	for i := range levels {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{"type":"number"}}}`, strings.Join(defs, ","), levels)
}

// TestEffort checks that a plan cannot cause unbounded work.
func TestEffort(t *testing.T) {
	for _, test := range []struct{ name, schema, err string }{
		{"no reference", `{"type":"number"}`, ""},
		{"a definition", `{"type":"array","items":{"$ref":"#/$defs/n~1o p"},"$defs":{"n/o p":{"type":"number"}}}`, ""},
		{"escaped", `{"$ref":"#/$defs/a%20b","$defs":{"a b":{"type":"number"}}}`, ""},
		{"into a list", `{"anyOf":[{"type":"null"},{"$ref":"#/anyOf/0"}]}`, ""},
		{"twice the same", `{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}],"$defs":{"a":{"type":"number"}}}`, ""},
		{"a few doublings", doubling(8), ""},
		{"many doublings", doubling(40), "repeat too much"},
		{"itself", `{"$ref":"#"}`, `"#" leads back to itself`},
		{"itself, deeper", `{"type":"object","properties":{"a":{"$ref":"#"}}}`, "leads back"},
		{"one another", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`, "leads back"},
		{"an anchor", `{"$ref":"#a","$defs":{"a":{"$anchor":"a"}}}`, `"#a" is not accepted`},
		{"dynamic", `{"$dynamicRef":"#a","$defs":{"a":{"$dynamicAnchor":"a"}}}`, "$dynamicRef is not accepted"},
		{"recursive", `{"$recursiveRef":"#"}`, "$recursiveRef is not accepted"},
		{"an address", `{"$id":"http://x/","type":"number"}`, ""},
		{"an address that references begin at", `{"$id":"http://x/","$ref":"#/$defs/a","$defs":{"a":{}}}`, "$id and $ref do not go together"},
		{"properties of these names", `{"type":"object","properties":{"$ref":{"type":"string"},"$id":{"type":"string"},"id":{"type":"string"},"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{}}}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema, err := Tighten(test.schema)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			r, err := NewResult(schema)
			require.NoError(t, err)
			r.Check(json.RawMessage(`[5]`))
		})
	}
}
