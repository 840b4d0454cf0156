package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/cupel-eval/cupel/harness/cassettes"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/parallel"
	"github.com/cupel-eval/cupel/recorder"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// lockCassettes locks the folder that a recording writes to against other recorders.
func lockCassettes(o Options) (unlock func(), err error) {
	if o.Mode != recorder.Record || !o.Records() {
		return func() {}, nil
	}
	return o.store().Lock()
}

// Records reports whether there is a place that record mode could write to.
func (o Recording) Records() bool { return o.Store != nil || o.CassetteDir != "" }

// store is the place that record mode writes to.
func (o Recording) store() recorder.Store {
	if o.Store != nil {
		return o.Store
	}
	return recorder.Dir(o.CassetteDir)
}

// discardJournal removes the journal of an episode whose rows are stored, because the run
// does not need its exchanges again.
func (r *runner) discardJournal(path string) error {
	if r.Mode != recorder.Record || path == "" {
		return nil
	}
	return recorder.Discard(recorder.Options{Store: r.store(), Path: path, Run: r.id})
}

// discardJournals removes the journals of episodes whose rows a killed process had already
// stored.
func discardJournals(r *runner, s *store) error {
	var errs []error
	for i, todo := range s.todo {
		if !todo {
			path, _ := r.plan.cassette(i)
			errs = append(errs, r.discardJournal(path))
		}
	}
	return errors.Join(errs...)
}

// hasJournal reports whether the recording of the i-th episode left a journal.
func hasJournal(r *runner, i int32) bool {
	path, _ := r.plan.cassette(int(i))
	return path != "" && recorder.Unfinished(recorder.Options{Store: r.store(), Path: path})
}

// cassettesDigest returns the digest of every cassette that a replay will read, and finds
// the missing ones. It includes those that a later round may need; if one of these is
// missing, the replay fails when its round begins. Each file is read twice because a replay
// must not start without all of its cassettes; this first pass uses all processors.
func cassettesDigest(r *runner) (string, error) {
	if r.Mode != recorder.Replay {
		return "", nil
	}
	var missing []error
	h := sha256.New()
	const block = 256 // cassettes at a time, which bounds the memory for their digests
	digests, errs := make([]string, block), make([]error, block)
	for from := 0; from < r.plan.len(); from += block {
		n := min(block, r.plan.len()-from)
		parallel.Each(n, func(i int) { digests[i], errs[i] = cassetteDigest(r, from+i) })
		for i := range n {
			var absent *cassette.MissingError
			switch err := errs[i]; {
			case errors.As(err, &absent):
				if !r.Records() {
					absent.Command = "" // record mode could not write it
				}
				if r.certain(int(r.plan.cells[from+i].Trial)) {
					missing = append(missing, absent)
					continue
				}
				absentLater(r, from+i, absent)
				h.Write([]byte("absent"))
			case err != nil:
				return "", err
			default:
				h.Write([]byte(digests[i]))
			}
		}
	}
	if len(missing) > 0 {
		return "", missingCassettes(r, missing)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// cassetteDigest is the digest of the i-th episode's cassette; empty if the episode does
// not need one. A scripted episode needs one only if its script calls an HTTP tool.
func cassetteDigest(r *runner, i int) (string, error) {
	path, scripted := r.plan.cassette(i)
	if path == "" {
		return "", nil
	}
	digest, err := cassette.FileDigest(r.Cassettes, path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && scripted:
		return "", nil
	case errors.Is(err, fs.ErrNotExist):
		return "", &cassette.MissingError{Path: path, Command: r.command(r.plan.at(i))}
	case err != nil:
		return "", fmt.Errorf("read cassette %s: %w", path, err)
	}
	return digest, nil
}

// recordingDays are the days of the cassettes that a replay opened. It is safe for
// concurrent use.
type recordingDays struct {
	mu   sync.Mutex
	days manifest.Days
}

// add adds a day; a cassette that does not state its day has an empty one, which is
// ignored.
func (d *recordingDays) add(day string) {
	if day != "" {
		d.addAll(manifest.Days{First: day, Last: day})
	}
}

func (d *recordingDays) addAll(days manifest.Days) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.days = d.days.With(days)
}

func (d *recordingDays) all() manifest.Days {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.days
}

// loadDays adds the days of the episodes that an interrupted replay had finished, so that
// the resumed run states what an uninterrupted one does.
func loadDays(r *runner, s *store) error {
	for i, todo := range s.todo {
		path, _ := r.plan.cassette(i)
		if todo || path == "" {
			continue
		}
		data, err := cassette.Load(cassette.File{FS: r.Cassettes, Path: path, AllowUnsealed: true})
		var missing *cassette.MissingError
		switch {
		case errors.As(err, &missing): // of a script that calls no HTTP tool
		case err != nil:
			return err
		default:
			r.days.add(data.Header.Recorded)
		}
	}
	return nil
}

// openCassettes opens the suite's own cassettes if the run reads cassettes and
// Options.Cassettes is nil. Test leaves them open, because its subtests may run after it
// has returned.
func openCassettes(r *runner) (err error) {
	r.closeCassettes = func() {}
	if r.Cassettes == nil && (r.Mode == recorder.Replay || r.Fork != nil || r.Stale || r.resumed != nil) {
		r.Cassettes, r.closeCassettes, err = cassettes.Open(r.Suite)
	}
	return err
}
