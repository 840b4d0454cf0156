// Package testkit has what the tests of several packages need: networks that are not
// there, files beside the repository, pages and golden files, and how long random tests
// run. It is imported by tests only.
package testkit

import (
	"os"
	"testing"
)

// Long returns sample, or full where CUPEL_LONG is set to anything, as `make long` does.
// The sample is what every `make test` can afford; the full number is what found the
// rarest failures so far.
func Long(sample, full int) int {
	if os.Getenv("CUPEL_LONG") != "" {
		return full
	}
	return sample
}

// Evidence says whether CUPEL_EVIDENCE is set to anything: simulations then draw as
// often as the tables of the docs say.
func Evidence() bool { return os.Getenv("CUPEL_EVIDENCE") != "" }

// Slow skips a test, or a part of one, that takes longer than `make test` can afford, unless
// CUPEL_SLOW is set to anything. CI sets it and so runs all tests at full length; `make slow`
// sets it and runs only the callers, which it finds by this name. The targets for
// people that take longer still run it, too. Each has a
// sample beside it that `make test` runs: fewer parts, or a smaller test of the same behaviour.
func Slow(t *testing.T) {
	t.Helper()
	if SlowN(0, 1) == 0 {
		t.Skip("takes long: run by make slow")
	}
}

// SlowN returns full where Slow goes on, and sample where it skips: the number of times that a
// test repeats what takes long.
func SlowN(sample, full int) int {
	if os.Getenv("CUPEL_SLOW")+os.Getenv("CUPEL_LONG")+os.Getenv("CUPEL_EVIDENCE")+os.Getenv("CUPEL_SCALE") != "" {
		return full
	}
	return sample
}
