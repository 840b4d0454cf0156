package harness

import (
	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/recorder"
)

// openCassettes finds the suite's own cassettes for a run that reads some and was
// given none. Test leaves them open: its subtests may run after it has returned.
func (r *runner) openCassettes() (err error) {
	r.closeCassettes = func() {}
	if r.Cassettes == nil && (r.Mode == recorder.Replay || r.Fork != nil || r.Stale || r.resumed != nil) {
		r.Cassettes, r.closeCassettes, err = cassettes.Open(r.Suite)
	}
	return err
}
