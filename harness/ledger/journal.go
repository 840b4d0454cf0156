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

// SetRun makes the rows those of another run.
func (rec *EpisodeRows) SetRun(id string) {
	rec.Episode.RunID = id
	for i := range rec.Turns {
		rec.Turns[i].RunID = id
	}
	for i := range rec.ToolCalls {
		rec.ToolCalls[i].RunID = id
	}
}

// Journal appends the rows of finished episodes to dir/journal/episodes.log, in one frame per
// episode; see appendFrame. It is safe for concurrent use.
type Journal struct {
	// Sync makes Append wait until the rows are on disk; concurrent calls share one sync.
	// Without it, rows are written in blocks, and a killed process loses the last records but
	// leaves no incomplete one. Set it before the first Append.
	Sync bool

	file *os.File

	mu  sync.Mutex // guards the fields below, up to disk
	enc *coder
	buf []byte
	end int64 // of the file after buf is written
	err error // why the journal rejects further records

	disk  sync.Mutex // held while buf is written; taken before mu
	size  atomic.Int64
	spare []byte // the buffer written last

	decoders sync.Pool
}

// blockBytes is the size of a write without Sync.
const blockBytes = 64 << 10

func journalPath(dir string) string { return filepath.Join(dir, "journal", "episodes.log") }

// OpenJournal opens the journal of a run folder for appending, and creates it if it does not
// exist. It calls visit, unless that is nil, with every record and its offset for ReadAt, in the
// order of Append; of an episode that was run again, the later record counts. An error of visit
// ends OpenJournal.
//
// OpenJournal removes a tail that a crash truncated. It rejects a journal that is damaged before
// its end or has another schema version with a *CorruptError, and leaves it unchanged. Only one
// process may have the journal open: see Lock.
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

// ReadUnfinished calls visit with every record of the journal of a run folder, in the order of
// Append; of an episode that was run again, the later record counts. If visit is nil, it reads
// no records. inUse means that a process has locked the folder; if none has, a run that has not
// ended was killed. ReadUnfinished writes nothing, so the run may be in progress. A folder
// without a journal has no records.
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
		_ = f.Close() // harmless after reading
	}
	if err != nil {
		return inUse, fmt.Errorf("read journal: %w", sealed.Damage(journalPath(dir), err))
	}
	return inUse, nil
}

// Append adds a record and returns its offset for ReadAt. It stores bytes that are not UTF-8 as
// U+FFFD. After a failed write, such as on a full disk, the journal has only complete records
// and rejects further ones with the same error.
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

// add encodes a record into the buffer and reports whether the buffer is full.
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

// commit writes the journal at least up to end. One call writes the records of all waiting
// goroutines.
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
		j.spare = nil // release the memory of an unusually large record
	}
	return nil
}

// stop makes the journal reject all further records with err.
func (j *Journal) stop(err error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
	return err
}

// ReadAt returns the record at an offset that Append or OpenJournal returned. The strings of its
// turns and tool calls share memory; clone a string to keep it without the others.
func (j *Journal) ReadAt(at int64) (EpisodeRows, error) {
	rec, err := j.readAt(at)
	if err != nil {
		return EpisodeRows{}, fmt.Errorf("read journal %s at offset %d: %w", j.file.Name(), at, err)
	}
	return rec, nil
}

// decodeState is the reusable memory for reading a record.
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

// Close writes the buffered records and closes the file. A power failure may still lose records
// that were appended without Sync.
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

// ClearJournal removes the episodes from the journal of a run folder. It succeeds if there are
// none.
func ClearJournal(dir string) error {
	if err := os.Remove(journalPath(dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("clear journal: %w", err)
	}
	return nil
}

// RemoveJournal removes the folder dir/journal, which a complete run does not need. It succeeds
// if there is none.
func RemoveJournal(dir string) error {
	if err := os.RemoveAll(filepath.Dir(journalPath(dir))); err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return fmt.Errorf("remove journal: %w", err)
	}
	return nil
}
