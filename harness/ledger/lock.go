package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// errLocked says that a run folder is in use.
var errLocked = errors.New("in use by another cupel process")

// Lock takes the lock of a run folder, which must exist, until unlock or until
// the process dies, however it dies. Whoever comes second, in this process or
// another, gets errLocked. unlock may be called more than once.
//
// The lock is the kernel's, on dir/.lock. That file stays: were it removed, one
// process could hold the lock of the removed file while the next makes and locks
// a new one.
func Lock(dir string) (unlock func(), err error) {
	f, err := regular.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lock run folder: %w", err)
	}
	held, err := atomicfile.Lock(f)
	if err == nil && held { // perhaps by isLocked, for an instant
		time.Sleep(20 * time.Millisecond)
		held, err = atomicfile.Lock(f)
	}
	if err == nil && held {
		err = fmt.Errorf("%w: wait for it to end, or use another runs folder", errLocked)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("lock run folder %s: %w", dir, err)
	}
	return func() { _ = f.Close() }, nil // which gives the lock back
}

// isLocked reports whether a process holds the lock of a run folder. It writes nothing, and
// holds the lock for an instant.
func isLocked(dir string) bool {
	f, err := regular.Open(filepath.Join(dir, ".lock"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // it was only locked
	held, err := atomicfile.Lock(f)
	return err == nil && held
}
