package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/internal/regular"
)

// EpisodeRows are the rows of one finished episode.
type EpisodeRows struct {
	Episode   Episode
	Turns     []Turn
	ToolCalls []ToolCall
}

// Journal appends the rows of finished episodes to dir/journal/episodes.log, one
// frame each; see appendFrame. It is safe for concurrent use.
type Journal struct {
	// Sync makes Append return only when the rows are on disk; those that wait
	// share one sync. Without it they are written in blocks, and a killed process
	// loses the last of them, whole. Set it before the first Append.
	Sync bool

	file *os.File

	mu  sync.Mutex // for what is not yet written
	enc *coder
	buf []byte
	end int64 // of the file once buf is written
	err error // why nothing more is written

	disk  sync.Mutex // held while buf is written; taken before mu
	size  atomic.Int64
	spare []byte // the buffer written last

	decoders sync.Pool
}

// blockBytes is how much is written at once without Sync.
const blockBytes = 64 << 10

func journalPath(dir string) string { return filepath.Join(dir, "journal", "episodes.log") }

// OpenJournal opens the journal of a run folder for appending and makes it if
// there is none. visit, unless it is nil, gets every record that is there and its
// place for ReadAt, in the order of Append: of an episode that was run again the
// later counts. Its error ends OpenJournal.
//
// A tail cut by a crash is removed. A journal that is damaged before its end is
// refused with the offset of the damage, one of another schema version by its
// name, both as a *CorruptError; they stay as they are. One process at a time may
// have it open: see Lock.
func OpenJournal(dir string, visit func(rec EpisodeRows, at int64) error) (*Journal, error) {
	path := journalPath(dir)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	f, err := regular.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{file: f, enc: newCoder()}
	j.end, err = scanJournal(f, j.enc, visit)
	if err != nil {
		return nil, fmt.Errorf("open journal: %w", errors.Join(sealed.Damage(path, err), f.Close()))
	}
	err = errors.Join(f.Truncate(j.end), atomicfile.SyncDir(filepath.Dir(path)), atomicfile.SyncDir(dir))
	if err != nil {
		return nil, fmt.Errorf("open journal %s: %w", path, errors.Join(err, f.Close()))
	}
	j.size.Store(j.end)
	return j, nil
}

// ReadUnfinished calls visit with every record of the journal of a run folder, in the
// order of Append; of an episode that was run again the later counts. inUse says that a
// process holds the lock of the folder: without one, a run that has not ended was killed.
// It writes nothing, so the run may be in progress. A folder without a journal has no
// records; without visit none are read.
func ReadUnfinished(dir string, visit func(rec EpisodeRows)) (inUse bool, err error) {
	inUse = isLocked(dir)
	if visit == nil {
		return inUse, nil
	}
	f, err := regular.Open(journalPath(dir))
	if errors.Is(err, os.ErrNotExist) {
		return inUse, nil
	}
	if err == nil {
		_, err = scanJournal(f, newCoder(), func(rec EpisodeRows, _ int64) error { visit(rec); return nil })
		_ = f.Close() // it was only read
	}
	if err != nil {
		return inUse, fmt.Errorf("read journal: %w", sealed.Damage(journalPath(dir), err))
	}
	return inUse, nil
}

// Append adds a record and returns its place for ReadAt. Bytes that are not UTF-8
// are stored as U+FFFD. After a failed write, which the disk being full is, the
// journal holds whole records only and refuses more with the same error.
func (j *Journal) Append(rec EpisodeRows) (at int64, err error) {
	at, end, full, err := j.add(&rec)
	if err == nil && (j.Sync || full) {
		err = j.commit(end)
	}
	if err != nil {
		return 0, fmt.Errorf("journal episode %s: %w", rec.Episode.EpisodeID, err)
	}
	return at, nil
}

// add encodes a record into the buffer, and reports whether that is full.
func (j *Journal) add(rec *EpisodeRows) (at, end int64, full bool, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return 0, 0, false, j.err
	}
	at, before := j.end, len(j.buf)
	j.buf, err = j.enc.appendFrame(j.buf, rec)
	j.end += int64(len(j.buf) - before)
	return at, j.end, len(j.buf) >= blockBytes, err
}

// commit writes the journal at least up to end, for everybody who waits for it.
func (j *Journal) commit(end int64) error {
	j.disk.Lock()
	defer j.disk.Unlock()
	size := j.size.Load()
	if size >= end {
		return nil
	}
	j.mu.Lock()
	block, err := j.buf, j.err
	j.buf = j.spare[:0]
	j.mu.Unlock()
	if err != nil {
		return err
	}
	_, err = j.file.WriteAt(block, size)
	if err == nil && j.Sync {
		err = j.file.Sync()
	}
	if err != nil {
		return j.stop(errors.Join(err, j.file.Truncate(size)))
	}
	j.size.Store(size + int64(len(block)))
	if j.spare = block; cap(block) > 16*blockBytes {
		j.spare = nil // do not keep the memory of an unusually large record
	}
	return nil
}

// stop makes the journal refuse everything from now on.
func (j *Journal) stop(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
	return err
}

// ReadAt returns the record at a place that Append or OpenJournal gave. The
// strings of its turns and tool calls share memory: clone what is kept of them.
func (j *Journal) ReadAt(at int64) (EpisodeRows, error) {
	rec, err := j.readAt(at)
	if err != nil {
		return EpisodeRows{}, fmt.Errorf("read journal %s at offset %d: %w", j.file.Name(), at, err)
	}
	return rec, nil
}

// decodeState is what reading a record needs.
type decodeState struct {
	*coder
	buf []byte
}

func (j *Journal) readAt(at int64) (EpisodeRows, error) {
	if at >= j.size.Load() {
		j.mu.Lock()
		end := j.end
		j.mu.Unlock()
		if err := j.commit(end); err != nil {
			return EpisodeRows{}, err
		}
	}
	d, _ := j.decoders.Get().(*decodeState)
	if d == nil {
		d = &decodeState{newCoder(), make([]byte, 8<<10)}
	}
	defer j.decoders.Put(d)
	frame, err := readFrame(j.file, at, j.size.Load(), d.buf)
	if err != nil {
		return EpisodeRows{}, err
	}
	return d.decodeEpisode(frame)
}

// Close writes what is left and closes the file. Records appended without Sync may
// still be lost by a power failure.
func (j *Journal) Close() error {
	j.mu.Lock()
	end := j.end
	j.mu.Unlock()
	err := j.commit(end)
	_ = j.stop(os.ErrClosed)
	if err = errors.Join(err, j.file.Close()); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// ClearJournal removes the episodes from the journal of a run folder. It is no error if
// there are none.
func ClearJournal(dir string) error {
	if err := os.Remove(journalPath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear journal: %w", err)
	}
	return nil
}

// RemoveJournal removes the folder dir/journal and all in it, which a complete run
// has no use for. It is no error if there is none.
func RemoveJournal(dir string) error {
	if err := os.RemoveAll(filepath.Dir(journalPath(dir))); err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	return nil
}
