// Package testkit has what the tests of several packages need: networks that are not
// there, files beside the repository, pages and golden files, and how long random tests
// run. It is imported by tests only.
package testkit

import "os"

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
