// Package counts is the built-in golden suite about message counts: nothing goes
// in; its YAML files and the recordings of its simulated models come out, ready
// for load.Suite.
package counts

import "embed"

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and cassettes. It is read-only and
// safe for concurrent use.
//
//go:embed suite.yaml playbook.yaml tasks cassettes
var FS embed.FS
