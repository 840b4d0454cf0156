// Package research is the built-in golden suite about the records of lighthouses:
// nothing goes in; its YAML files come out, ready for goldens.Load.
package research

import "embed"

// FS is the suite's folder: suite.yaml and tasks. It is read-only and safe for
// concurrent use.
//
//go:embed suite.yaml tasks
var FS embed.FS
