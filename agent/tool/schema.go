package tool

import (
	"errors"
	"fmt"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaURL names a tool's schema to the compiler; nothing is ever loaded from it.
const schemaURL = "tool:///args.json"

// compile reads one tool's schema.
func compile(text string) (*jsonschema.Schema, JSON, error) {
	tree, shape, ok := ParseJSON(text)
	switch {
	case !ok:
		return nil, tree, errors.New("not JSON")
	case tree.Kind != '{':
		return nil, tree, errors.New("not a JSON object")
	case shape.TooLarge() || shape.TooDeep():
		return nil, tree, fmt.Errorf("larger than %d bytes, %d values or %d levels", maxBytes, maxValues, maxDepth)
	case len(tree.Duplicates(1)) > 0:
		return nil, tree, fmt.Errorf("name used twice: %s", tree.Duplicates(1)[0].Path)
	case hasHugeNumber(tree):
		return nil, tree, errors.New("number with a huge exponent")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, tree.Decoded()); err != nil {
		return nil, tree, fmt.Errorf("add: %w", err)
	}
	schema, err := c.Compile(schemaURL)
	if err != nil {
		return nil, tree, fmt.Errorf("compile: %w", err)
	}
	if found := contradictions(schema); len(found) > 0 {
		return nil, tree, fmt.Errorf("contradicts itself: %w", found)
	}
	return schema, tree, nil
}

// noLoader refuses references to other documents: the compiler's default would
// read files.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to another document %q is not allowed", url)
}
