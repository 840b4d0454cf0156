package harness

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/recorder"
)

// Sharing leases parts of Bounds.Caps and Bounds.Limits from what several processes
// share. It serves one run.
type Sharing interface {
	// Wanted is admission.Options.Wanted.
	Wanted()
	// Join calls Allot of a new control, now and later, until leave returns what is left.
	// folder is where the spending log of the run is; empty if there is none.
	Join(c *admission.Control, folder string) (leave func() error, err error)
}

// newControl makes the admission control of a recording or live run; a replay has none.
func newControl(r *runner, s *store) (err error) {
	if r.Mode == recorder.Replay {
		return nil
	}
	if r.Watch != nil {
		r.changes = make(chan admission.Change, maxChanges)
	}
	o := admission.Options{
		Caps: r.Caps, Providers: batchedLimits(&r.Options), Concurrency: cmp.Or(r.LaneConcurrency, max(DefaultConcurrency, r.Concurrency)), Log: s.spending,
		Changed: func(c admission.Change) { s.keepLimit(c); r.onLimitChange(c) },
	}
	if r.Sharing == nil {
		r.control = admission.New(o)
		return nil
	}
	o.Shared, o.Wanted = true, r.Sharing.Wanted
	r.control = admission.New(o)
	folder := ""
	if s.dir != "" {
		folder = filepath.Join(s.dir, filepath.Dir(spendFile))
	}
	s.leave, err = r.Sharing.Join(r.control, folder)
	return err
}

// keepLimit appends to the history of limits in the run folder. Only one goroutine at a
// time calls it.
func (s *store) keepLimit(c admission.Change) {
	if s.limits == nil {
		return
	}
	line, err := json.Marshal(limitLine{c.At.UTC(), c.Provider, c.Lane, c.Limit, c.Why, c.Until.UTC(), c.Gap.Microseconds()})
	if err == nil {
		_, _ = s.limits.Write(append(line, '\n')) // the history does not affect the result
	}
}

// limitLine is a line of limits.jsonl; see admission.Change.
type limitLine struct {
	At       time.Time     `json:"at"`
	Provider string        `json:"provider"`
	Lane     int           `json:"lane"`
	Limit    int           `json:"limit"`
	Why      admission.Why `json:"why"`
	Until    time.Time     `json:"until,omitzero"`
	GapUs    int64         `json:"gap_us,omitempty"`
}
