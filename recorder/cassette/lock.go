package cassette

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// ErrLocked means that another process, or another part of this one, writes to a folder of
// cassettes.
var ErrLocked = errors.New("in use by another cupel process")

// Lock takes the kernel's lock of a folder of cassettes until unlock or until the
// process dies, however it dies. Everything that writes to the folder takes it first; a
// replay needs none. The second to ask gets ErrLocked immediately. Lock makes the
// folder, which unlock removes if it is still empty, and removes the temporary files
// that killed processes left in and below it. unlock may be called more than once.
//
// The lock is that of the folder itself: it leaves no file that could be committed.
func Lock(dir string) (unlock func(), err error) {
	_, err = os.Stat(dir)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		err = os.MkdirAll(dir, 0o777)
	}
	var release func()
	if err == nil {
		release, err = lockFolder(dir)
	}
	if errors.Is(err, ErrLocked) {
		err = fmt.Errorf("%w; wait for it to end, or work on a copy of the suite", err)
	}
	if err == nil {
		err = sweep(dir)
	}
	if err != nil {
		if release != nil {
			release()
		}
		return nil, fmt.Errorf("lock cassettes folder %s: %w", dir, err)
	}
	return func() {
		if made {
			_ = os.Remove(dir) // fails unless it is empty
			made = false
		}
		release()
	}, nil
}

// lockFolder locks the folder at the path; if it is replaced in between, the new one.
func lockFolder(dir string) (release func(), err error) {
	for range 100 {
		release, current, err := openLocked(dir)
		if err != nil || current {
			return release, err
		}
		release()
	}
	return nil, ErrLocked
}

// sweep removes the temporary files that killed processes left.
func sweep(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			atomicfile.Sweep(path)
		}
		return err
	})
}
