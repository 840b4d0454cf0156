// Package desk is the built-in golden suite of a support desk whose world its tools change:
// its YAML files and the recordings of its simulated models, ready for load.Suite.
package desk

import "embed"

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and cassettes.pack. It is
// read-only and safe for concurrent use. To record again after a change:
//
//	cupel run --mode record --suite goldens/desk
//	cupel cassette pack --suite goldens/desk
//	rm -r goldens/desk/cassettes
//
//go:embed suite.yaml playbook.yaml tasks cassettes.pack
var FS embed.FS
