package compare

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/reports/words"
)

// CheckPool says why runs are not of one unchanged configuration and so no one
// baseline: a run given twice, replays of one recording, another candidate, task or
// policy. It joins every problem. candidates are the names that are
// compared. A single run is always one baseline.
func CheckPool(baselines []manifest.Manifest, candidates []string) error {
	var errs []error
	for i, m := range baselines[min(1, len(baselines)):] {
		first := baselines[0]
		bad := func(format string, args ...any) {
			errs = append(errs, fmt.Errorf("baseline %s and %s: "+format, append([]any{first.RunID, m.RunID}, args...)...))
		}
		for _, other := range baselines[:i+1] {
			switch {
			case other.RunID == m.RunID:
				bad("the same run twice; name each run once")
			case other.LedgerDigest == m.LedgerDigest && m.LedgerDigest != "":
				bad("both are replays of one recording, which counts once; name one of them")
			}
		}
		for _, name := range candidates {
			was, is := candidate(first, name), candidate(m, name)
			switch {
			case !slices.ContainsFunc(m.Candidates, func(c manifest.Candidate) bool { return c.Name == name }):
				bad("the latter has no candidate %s; leave the run out", name)
			case was.Digest == "" || is.Digest == "":
				bad("candidate %s has no digest in one of them, which an older cupel made: that it is unchanged cannot be proved; leave the run out", name)
			case was.Digest != is.Digest:
				bad("candidate %s was changed between them; pool only runs of one configuration", name)
			}
		}
		if parts := changed(first, m); len(parts) > 0 {
			bad("%s changed between them; pool only runs of one suite", words.Plural(len(parts), "task"))
		}
		if sameCandidates(first, m) && first.Seed == m.Seed && first.ConfigDigest != m.ConfigDigest {
			bad("the policy was changed between them; pool only runs of one configuration")
		}
	}
	return errors.Join(errs...)
}
