// Package desk is the built-in golden suite of a support desk whose world its tools change:
// nothing goes in; its YAML files come out, ready for load.Suite.
package desk

import "embed"

// FS is the suite's folder: suite.yaml, playbook.yaml and tasks. It is read-only and safe
// for concurrent use.
//
//go:embed suite.yaml playbook.yaml tasks
var FS embed.FS
