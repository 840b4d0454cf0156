// Package research is the built-in golden suite about the records of lighthouses: its YAML
// files and the recordings of its simulated models, ready for load.Suite, and the kind of
// world that it runs in.
package research

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and, once they are recorded,
// cassettes.pack; cassettes.md says how. It is read-only and safe for concurrent
// use.
//
//go:embed suite.yaml playbook.yaml tasks cassettes.*
var FS embed.FS

// Worlds are the kinds of worlds that the suite needs: documents, a library. Its state has
// documents, which maps ids to documents of title, date, text and fields.
func Worlds() map[string]world.Kind { return map[string]world.Kind{"documents": kind{}} }

// kind makes libraries. With one that is read, all worlds are this one.
type kind struct{ read *library }

// tools are those of every library. A suite says more of its own: which fields there are.
var tools = []tool.Spec{
	{Name: "search", Description: "Finds the documents that contain every word of the query in their title, text or fields. Returns ids, titles and dates, and the total found.",
		Schema: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","minLength":1,"maxLength":200},"limit":{"type":"integer","minimum":1,"maximum":20}},"required":["query"],"additionalProperties":false}`)},
	{Name: "open", Description: "Returns the text of one document by its id.",
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"],"additionalProperties":false}`)},
	{Name: "extract", Description: "Returns one recorded field of one document. The value is null where it is not recorded.",
		Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"field":{"type":"string"}},"required":["id","field"],"additionalProperties":false}`)},
	{Name: "compare", Description: "Puts 2 to 20 numbers in order and returns the best, the ranking of their ids, and those that tie for the first place.",
		Schema: json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","minItems":2,"maxItems":20,"items":{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":64},"value":{"type":"number"}},"required":["id","value"],"additionalProperties":false}},"order":{"type":"string","enum":["highest","lowest"]}},"required":["items","order"],"additionalProperties":false}`)},
}

// Tools implements world.Kind.
func (k kind) Tools() []tool.Spec { return tools }

// Bind implements world.Binder.
func (k kind) Bind(raw json.RawMessage) (world.Kind, error) {
	l, err := readState(raw)
	return kind{&l}, err
}

// Open implements world.Kind.
func (k kind) Open(_ context.Context, s world.Start) (world.World, error) {
	if k.read != nil {
		return *k.read, nil
	}
	return readState(s.State)
}
