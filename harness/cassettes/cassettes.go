// Package cassettes says where a suite's cassettes are and what a replay can expect of them.
package cassettes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/recorder/packs"
)

// State says what a replay can expect of a cassette.
type State string

// The states of a cassette.
const (
	// Fresh was recorded with what a run would use today.
	Fresh State = "fresh"
	// Stale was recorded with something else.
	Stale State = "stale"
	// Missing is planned and not there.
	Missing State = "missing"
	// Orphan is there and no run of the suite would ask for it;
	// CassetteUnused is asked for by runs of more trials, or of a fork.
	Orphan State = "orphan"
	Unused State = "unused"
	// Corrupt cannot be trusted: cut, edited, or no cassette at all.
	Corrupt State = "corrupt"
)

// Status is one cassette, planned or found.
type Status struct {
	// Path is slash-separated, below the cassettes folder.
	Path  string `json:"path"`
	State State  `json:"state"`
	// Why says what changed, what is wrong, or why nothing asks for it. It may
	// quote the file, which is untrusted.
	Why []string `json:"why,omitempty"`
}

// Path is the path of an episode's cassette below the suite's cassettes folder.
func Path(task, candidate string, trial int) string {
	return candidate + "/" + task + "/" + strconv.Itoa(trial) + ".yaml"
}

// PackName is the pack in a suite folder that replaces its cassettes folder: a file, or a folder
// of segments and packs.
const PackName = "cassettes.pack"

// Open returns where a suite's cassettes are read from: its folder
// cassettes or, in a suite without one, its pack. A pack that cannot be
// trusted is a *cassette.CorruptError. Call closeAll in the end; it is never nil.
func Open(s *goldens.Suite) (files fs.FS, closeAll func(), err error) {
	closeAll = func() {}
	if s.FS == nil {
		return nil, closeAll, nil
	}
	if _, err := fs.Stat(s.FS, "cassettes"); errors.Is(err, fs.ErrNotExist) {
		pack, err := packs.Open(s.FS, PackName)
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

// MissingError says that a replay cannot start.
type MissingError struct {
	// Missing holds one *cassette.MissingError per episode.
	Missing []error
	Planned int
	// All is the command that records every one of them; empty where none could.
	All string
	// Suite is that of a run which has no folder to record into, such as a built-in one.
	Suite string
}

// Error shows the first one and how many there are.
func (e *MissingError) Error() string {
	text := e.Missing[0].Error()
	if len(e.Missing) > 1 {
		text += fmt.Sprintf("\n%d of %d planned episodes have no cassette", len(e.Missing), e.Planned)
		if e.All != "" {
			text += "; record all with: " + e.All
		}
	}
	if e.Suite != "" {
		text += fmt.Sprintf("\nsuite %s has recordings of its own candidates, and nothing more can be recorded into it: ask others with --mode live, or run it where no cupel.yaml names others", e.Suite)
	}
	return text
}

// Unwrap returns the missing ones.
func (e *MissingError) Unwrap() []error { return e.Missing }

// Folder opens the pack that recordings of the suite in a folder go to: its folder PackName, if it
// has no folder of YAML files. It is nil if recordings go to YAML files. The caller must close
// it.
func Folder(suite string) (*packs.Folder, error) {
	path := filepath.Join(suite, PackName)
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, nil //nolint:nilnil // most suites have none
	}
	if _, err := os.Stat(filepath.Join(suite, "cassettes")); !errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // with both, the folder of YAML files is read
	}
	return packs.OpenDir(path)
}
