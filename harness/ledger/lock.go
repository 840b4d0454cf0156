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

// errLocked means that another process uses the run folder.
var errLocked = errors.New("in use by another cupel process")

// Lock locks a run folder, which must exist, until unlock is called or the process ends. While
// it is locked, other calls in this or another process return errLocked. unlock may be called
// more than once.
//
// It is a kernel lock on dir/.lock. That file is never removed, because one process could then
// lock the removed file while the next one creates and locks a new one.
func Lock(dir string) (unlock func(), err error) {
	f, err := regular.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("lock run folder: %w", err)
	}
	held, err := atomicfile.Lock(f)
	if err == nil && held { // perhaps briefly by isLocked
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
	return func() { _ = f.Close() }, nil // which releases the lock
}

// isLocked reports whether a process has locked the run folder. It writes nothing, but takes the
// lock briefly if it is free.
func isLocked(dir string) bool {
	f, err := regular.Open(filepath.Join(dir, ".lock"))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // releases the lock
	held, err := atomicfile.Lock(f)
	return err == nil && held
}
