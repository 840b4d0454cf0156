package harness

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/recorder"
)

// PackName is the file in a suite folder that replaces its cassettes folder.
const PackName = "cassettes.pack"

// OpenCassettes returns where a suite's cassettes are read from: its folder
// cassettes or, in a suite without one, its pack. A pack that cannot be
// trusted is a *recorder.CorruptError. Call closeAll in the end; it is never nil.
func OpenCassettes(s *goldens.Suite) (files fs.FS, closeAll func(), err error) {
	closeAll = func() {}
	if s.FS == nil {
		return nil, closeAll, nil
	}
	if _, err := fs.Stat(s.FS, "cassettes"); errors.Is(err, fs.ErrNotExist) {
		pack, err := recorder.OpenPack(s.FS, PackName)
		if err == nil {
			return pack, func() { _ = pack.Close() }, nil // only read: nothing can be lost
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, closeAll, fmt.Errorf("suite %s: %w", s.Name, err)
		}
	}
	files, err = fs.Sub(s.FS, "cassettes")
	return files, closeAll, err
}

// openCassettes finds the suite's own cassettes for a run that reads some and was
// given none. Test leaves them open: its subtests may run after it has returned.
func (r *runner) openCassettes() (err error) {
	r.closeCassettes = func() {}
	if r.Cassettes == nil && (r.Mode == recorder.Replay || r.Fork != nil || r.Stale || r.resumed != nil) {
		r.Cassettes, r.closeCassettes, err = OpenCassettes(r.Suite)
	}
	return err
}
