// Package instance is the built-in golden suite of a simulated automation instance: its YAML files
// and the recordings of its simulated models, ready for load.Suite with flowsim.Worlds.
package instance

import "embed"

// FS is the suite's folder: suite.yaml, playbook.yaml, tasks and cassettes.pack. It is read-only and safe for concurrent use. To record again after a change:
//
//	cupel run --mode record --suite goldens/instance
//	cupel cassette pack --suite goldens/instance
//	rm -r goldens/instance/cassettes
//
//go:embed suite.yaml playbook.yaml tasks cassettes.pack
var FS embed.FS
