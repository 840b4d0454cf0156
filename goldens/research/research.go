// Package research is the built-in golden suite about the records of lighthouses:
// nothing goes in; its YAML files and the recordings of its simulated models come
// out, ready for load.Suite.
package research

import "embed"

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and, once they are recorded,
// cassettes.pack; cassettes.md says how. It is read-only and safe for concurrent
// use.
//
//go:embed suite.yaml playbook.yaml tasks cassettes.*
var FS embed.FS
