package admission

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// ErrDamaged means that a spend log was changed or cut off.
var ErrDamaged = errors.New("the spending of the run is unknown")

// mark is the first line of a log, with its size on disk: a shorter log was cut off. It is
// always overwritten in place.
func mark(synced int64) []byte { return appendFrame(nil, fmt.Appendf(nil, "m %019d", synced)) }

// openLogFile opens or creates a log. No other process can see it empty.
func openLogFile(path string) (*os.File, error) {
	f, err := regular.OpenFile(path, os.O_RDWR, 0)
	if !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	first := mark(int64(len(mark(0))))
	f, err = regular.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(first)
	if err = errors.Join(err, f.Sync()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil {
		err = atomicfile.SyncDir(filepath.Dir(path))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	_, err = f.Seek(0, 0)
	return f, err
}

// Sync returns once all earlier writes are on disk. One sync serves all callers that wait.
func (l *SpendLog) Sync() error {
	written := l.written()
	l.disk.Lock()
	defer l.disk.Unlock()
	if l.synced >= written {
		return nil
	}
	written = l.written() // including writes since the call
	if err := l.file.Sync(); err != nil {
		return fmt.Errorf("sync spend log %s: %w", l.path, err)
	}
	if _, err := l.file.WriteAt(mark(written), 0); err != nil {
		return fmt.Errorf("mark spend log %s: %w", l.path, err)
	}
	l.synced = written
	return nil
}

func (l *SpendLog) written() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size
}

// torn reports whether a broken line at the end is due to a crash: beyond the synced size,
// and without its newline or, after a power failure, without a page of its text. Anything
// else is damage.
func (l *SpendLog) torn(line []byte) bool {
	if l.size < l.synced || l.size == 0 {
		return false
	}
	if !bytes.HasSuffix(line, []byte("\n")) {
		whole := append(bytes.Clone(line[:max(len(line)-1, 0)]), '\n')
		_, _, ok := frameOf(whole)
		return !ok // else only its newline is wrong
	}
	return bytes.Contains(line, []byte{0, 0})
}

// AtLeast raises a provider's spending to an amount known from elsewhere, if the log has
// lost records.
func (l *SpendLog) AtLeast(provider string, known Spend) error {
	missing := known.minus(l.Spent()[provider])
	missing = Spend{max(0, missing.CostNanoUSD), max(0, missing.Tokens), max(0, missing.Requests)}
	if missing == (Spend{}) {
		return nil
	}
	number, err := l.reserve(provider, "", missing)
	if err == nil {
		l.settle(number, missing)
	}
	return err
}
