package suiteimport

import "errors"

const tauHelp = `Reads a domain of tau-bench.`

func readTau(from source) (*suite, error) {
	return nil, errors.New("not yet")
}
