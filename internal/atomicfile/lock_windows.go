package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the kernel's lock of an open file until the file is closed or the
// process ends. It does not wait: held reports that another open file has the lock.
func Lock(f *os.File) (held bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY,
		0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}
