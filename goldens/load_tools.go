package goldens

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
)

// LoadTools reads tools alone from the file name of fsys: YAML or JSON, either
// a list of tools as a suite has them, or a suite.yaml, of which nothing else is
// read. path is what people call the folder. The error joins every problem
// found, each a *Problem.
func LoadTools(fsys fs.FS, name, path string) ([]tool.Spec, error) {
	l := &loader{fsys: fsys, label: path, found: &findings{}, tools: &offer{places: map[string]place{}}}
	if root, ok := l.open(name); ok {
		if root.isMapping() {
			root, ok = root.object(suiteFields).need("tools")
		}
		if ok {
			l.readTools(&Suite{}, root)
		}
	}
	if err := l.found.join(); err != nil {
		return nil, err
	}
	return l.tools.specs, nil
}

// checkSchema records why the schema at p cannot be a tool's: a contradiction at
// its own place, anything else at the schema's.
func (p place) checkSchema(schema json.RawMessage) {
	set, err := tool.NewSet([]tool.Spec{{Name: "tool", Schema: schema}})
	var found tool.Contradictions
	switch {
	case err == nil && slices.Contains(set.Validate(tool.Call{Name: "tool"}), "args:type"):
		p.failf("no call could satisfy this: its type must be object, as arguments always are")
	case errors.As(err, &found):
		for _, c := range found {
			p.inside(c.Path).failf("no call could satisfy this: %s", c.Detail)
		}
	case err != nil:
		p.failf("not a valid JSON Schema: %s", schemaFault(err))
	}
}
