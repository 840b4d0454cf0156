//go:build unix

package cassette

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// openLocked locks a folder. current says that it is still the one that the path
// names. On a network file system that locks only what is open for writing the lock is
// that of a file .lock in the folder, which stays.
func openLocked(dir string) (release func(), current bool, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, false, err
	}
	held, err := atomicfile.Lock(f)
	if errors.Is(err, unix.EBADF) {
		_ = f.Close() // only opened
		if f, err = regular.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666); err != nil {
			return nil, false, err
		}
		held, err = atomicfile.Lock(f)
		dir = f.Name()
	}
	if held {
		err = ErrLocked
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	locked, err := f.Stat()
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	now, err := os.Stat(dir)
	return func() { _ = f.Close() }, err == nil && os.SameFile(locked, now), nil
}
