package graph

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// rows is the table of node types in docs/flowsim.md.
func rows() string {
	var out strings.Builder
	for _, typ := range Types() {
		var params []string
		for _, p := range typ.Params {
			name := "`" + p.Name + "`"
			if p.Required && p.When == nil {
				name = "**" + name + "**"
			}
			if !slices.Contains(params, name) {
				params = append(params, name)
			}
		}
		outputs := strings.Join(typ.Outputs, ", ")
		if typ.Name == "switch" {
			outputs = "one for each rule"
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", typ.Name, typ.Kind, typ.Description, strings.Join(params, ", "), outputs)
	}
	return out.String()
}

// The page for authors of tasks describes every node type and every fault, and its example
// is a graph without a fault.
func TestPage(t *testing.T) {
	page := testkit.Doc(t, "flowsim.md")
	require.Contains(t, page, rows(), "the table of node types must be:\n%s", rows())
	for _, code := range []string{
		"connection.cycle", "connection.port", "connection.unknown_node", "credential.missing", "credential.type", "expression.syntax", "graph.json", "graph.limit", "node.name_duplicate",
		"node.type_unknown", "node.unreachable", "node.version", "param.enum", "param.required", "param.type", "param.unknown", "subnode.missing", "trigger.many", "trigger.none",
	} {
		require.Contains(t, page, "`"+code+"`")
	}
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	require.NotEmpty(t, blocks)
	g := read(t, blocks[0][1])
	require.Empty(t, Check(g, around))
}
