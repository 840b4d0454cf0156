package load

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
)

// Tools reads tools alone from the file name of fsys: YAML or JSON, either
// a list of tools as a suite has them, or a suite.yaml, of which nothing else is
// read but which kinds its worlds have. path and kinds are those of Suite. The error joins
// every problem found, each a *Problem.
func Tools(fsys fs.FS, name, path string, kinds map[string]world.Kind) ([]tool.Spec, error) {
	l := &loader{fsys: fsys, label: path, kinds: kinds, found: &yamlfile.Findings{}, tools: newOffer()}
	if root, ok := l.open(name); ok {
		if root.IsMapping() {
			suite := root.Object(suiteFields)
			l.findKinds(suite)
			root, ok = suite.Need("tools")
		}
		if ok {
			l.readTools(&goldens.Suite{}, root)
		}
	}
	if err := l.found.Join(); err != nil {
		return nil, err
	}
	return l.tools.specs, nil
}

// checkSchema records why the schema at p cannot be a tool's: a contradiction at
// its own place, anything else at the schema's.
func checkSchema(p yamlfile.Place, schema json.RawMessage) {
	set, err := tool.NewSet([]tool.Spec{{Name: "tool", Schema: schema}})
	var found tool.Contradictions
	switch {
	case err == nil && slices.Contains(set.Validate(tool.Call{Name: "tool"}), "args:type"):
		p.Failf("no call could satisfy this: its type must be object, as arguments always are")
	case errors.As(err, &found):
		for _, c := range found {
			p.Inside(c.Path).Failf("no call could satisfy this: %s", c.Detail)
		}
	case err != nil:
		p.Failf("not a valid JSON Schema: %s", schemaFault(err))
	}
}
