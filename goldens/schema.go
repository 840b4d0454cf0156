package goldens

import (
	_ "embed"
	"slices"
)

//go:embed schema/suite.schema.json
var schemaText []byte

// Schema returns the JSON Schema (2020-12) of suite.yaml and of task files, for
// completion in editors. Package load checks more than a schema can say. The caller
// owns the slice.
func Schema() []byte { return slices.Clone(schemaText) }
