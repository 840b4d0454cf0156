// Package testlength says how long tests over many random cases run. It is imported by
// tests only.
package testlength

import "os"

// Of returns sample, or full where CUPEL_LONG is set to anything, as `make long` does.
// The sample is what every `make test` can afford; the full number is what found the
// rarest failures so far.
func Of(sample, full int) int {
	if os.Getenv("CUPEL_LONG") != "" {
		return full
	}
	return sample
}
