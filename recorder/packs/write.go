package packs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/cupel-eval/cupel/internal/atomicfile"
	"github.com/cupel-eval/cupel/recorder/cassette"
)

// These bound what a recording leaves on disk, in bytes. Tests make them small.
var (
	// maxLog is the size from which a log is followed by another one.
	maxLog int64 = 64 << 20
	// maxGarbage is the size of all journals from which they are written again without what is
	// removed, once that is more than three quarters.
	maxGarbage int64 = 256 << 20
)

// writer is what a locked folder writes to.
type writer struct {
	segments, journals log
}

// log appends records to the newest part of its kind. It begins a new part after each lock, so
// that nothing follows what a killed process had begun to write.
type log struct {
	folder *Folder
	ext    string
	perm   fs.FileMode

	mu   sync.Mutex
	part *part // nil until the first record

	// syncing is held by who waits for the disk. Those that write meanwhile wait for the next time.
	syncing sync.Mutex
}

// Lock implements recorder.Store by cassette.Lock. It reads the folder again, because another
// process may have changed it.
func (f *Folder) Lock() (unlock func(), err error) {
	if f.dir == "" {
		return nil, errors.New("lock pack: it is read-only")
	}
	release, err := cassette.Lock(f.dir)
	if err != nil {
		return nil, err
	}
	if err := f.load(); err != nil {
		release()
		return nil, fmt.Errorf("lock pack %s: %w", f.dir, err)
	}
	w := &writer{segments: log{folder: f, ext: segmentExt, perm: 0o666}, journals: log{folder: f, ext: journalExt, perm: 0o600}}
	if err := w.journals.clean(); err != nil { // so that all journals can be overwritten, see Remove
		release()
		return nil, fmt.Errorf("lock pack %s: write its journals: %w", f.dir, err)
	}
	f.mu.Lock()
	f.writer = w
	f.mu.Unlock()
	return sync.OnceFunc(func() {
		_ = w.journals.clean() // what stays is removed by the next lock
		f.mu.Lock()
		f.writer = nil
		f.mu.Unlock()
		release()
	}), nil
}

// logOf is the log that a file belongs to.
func (f *Folder) logOf(name string) (*log, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	switch {
	case f.writer == nil:
		return nil, &fs.PathError{Op: "write", Path: name, Err: errors.New("the pack is not locked")}
	case !fs.ValidPath(name) || len(name) > maxName:
		return nil, &fs.PathError{Op: "write", Path: name, Err: fs.ErrInvalid}
	case isCassette(name):
		return &f.writer.segments, nil
	}
	return &f.writer.journals, nil
}

// WriteFile implements recorder.Store.
func (f *Folder) WriteFile(name string, data []byte) error {
	return f.write(name, true, change{content, name, data})
}

// Append implements recorder.Store. A journal that is cut off is written again.
func (f *Folder) Append(name string, size int64, data []byte) error {
	was, err := f.Size(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	switch {
	case was < size:
		return &fs.PathError{Op: "append to", Path: name, Err: io.ErrUnexpectedEOF}
	case size == 0 || was > size:
		var before []byte
		if size > 0 {
			if before, err = f.ReadFile(name, size); err != nil {
				return err
			}
		}
		return f.write(name, true, change{content, name, append(before, data...)})
	}
	return f.write(name, true, change{addition, name, data})
}

// Rename implements recorder.Store, for journals.
func (f *Folder) Rename(from, to string) error {
	data, err := f.ReadFile(from, maxPlain)
	if err != nil {
		return err
	}
	return f.write(from, true, change{content, to, data}, change{removal, from, nil})
}

// Remove implements recorder.Store. The content of a journal is overwritten with zeros, because
// it may have a credential. That of a cassette stays until Compact.
func (f *Folder) Remove(name string) error {
	if isCassette(name) {
		if _, ok := f.Digest(name); !ok {
			return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
		}
	} else if _, err := f.Size(name); err != nil {
		return err
	}
	return f.write(name, false, change{removal, name, nil})
}

// change is what a record is to do.
type change struct {
	kind kind
	name string
	data []byte
}

// write appends records to one log and returns once they are durable, if that is asked for.
func (f *Folder) write(name string, durable bool, changes ...change) error {
	l, err := f.logOf(name)
	if err != nil {
		return err
	}
	var b batch
	for _, c := range changes {
		if len(c.data) > maxPlain {
			return &fs.PathError{Op: "write", Path: c.name, Err: fmt.Errorf("larger than %d bytes", maxPlain)}
		}
		b.add(c.kind, c.name, c.data)
	}
	p, end, err := l.append(b)
	if err == nil && durable {
		err = l.sync(p, end)
	}
	if err != nil {
		return fmt.Errorf("write %s to pack %s: %w", name, f.dir, err)
	}
	return nil
}

// append writes records and applies them to the folder. end is the end of the part then.
func (l *log) append(b batch) (p *part, end int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.part != nil && l.part.size >= maxLog {
		err = l.roll()
	}
	if err == nil {
		err = l.put(b)
	}
	if err != nil {
		return nil, 0, err
	}
	return l.part, l.part.size, nil
}

// roll ends the part; the caller must have locked.
func (l *log) roll() error {
	if err := l.sync(l.part, l.part.size); err != nil {
		return err
	}
	l.part = nil
	if l.ext == journalExt {
		if all, live := l.garbage(); all > maxGarbage && all > 4*live {
			return l.cleanLocked()
		}
	}
	return nil
}

// put writes records to the part and applies them; the caller must have locked.
func (l *log) put(b batch) error {
	if l.part == nil || l.part.failed.Load() {
		if err := l.begin(); err != nil {
			return err
		}
	}
	p, f := l.part, l.folder
	if _, err := p.file.WriteAt(b.data, p.size); err != nil {
		if p.file.Truncate(p.size) != nil {
			p.failed.Store(true) // readers cut off what was written, as nothing follows it
		}
		return err
	}
	f.mu.Lock()
	var removed []place
	for _, rec := range b.records {
		rec.at += p.size
		removed = append(removed, f.apply(p, rec)...)
	}
	p.size += int64(len(b.data))
	f.mu.Unlock()
	for _, at := range removed {
		if at.in.file != nil {
			_, _ = at.in.file.WriteAt(make([]byte, at.stored), at.at) // the record that removes it is enough
		}
	}
	return nil
}

// begin makes a part with the next number; the caller must have locked.
func (l *log) begin() error {
	f := l.folder
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	p := &part{number: f.last, ext: l.ext, name: partName(f.last, l.ext), size: int64(len(magic))}
	file, err := os.OpenFile(f.path(p.name), os.O_RDWR|os.O_CREATE|os.O_EXCL, l.perm)
	if err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(magic), 0)
	if err = errors.Join(err, atomicfile.SyncDir(f.dir)); err != nil {
		return errors.Join(err, file.Close(), os.Remove(f.path(p.name)))
	}
	p.file, p.at, p.close = file, file, file.Close
	f.parts = append(f.parts, p)
	l.part = p
	return nil
}

func partName(number int, ext string) string { return fmt.Sprintf("%06d%s", number, ext) }

// sync returns once a part is on the disk up to end. One wait serves all that were written
// before it.
func (l *log) sync(p *part, end int64) error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	if p.synced >= end {
		return nil
	}
	l.folder.mu.RLock()
	upTo := p.size
	l.folder.mu.RUnlock()
	if err := p.file.Sync(); err != nil {
		p.failed.Store(true)
		return err
	}
	p.synced = upTo
	return nil
}

// garbage is the size of all journals, and that of those which are not removed.
func (l *log) garbage() (all, live int64) {
	f := l.folder
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, p := range f.parts {
		if p.ext == journalExt {
			all += p.size
		}
	}
	for name, j := range f.journals {
		for _, at := range j.places {
			live += int64(headSize+len(name)) + int64(at.stored)
		}
	}
	return all, live
}

// clean writes the journals again, without what is removed, and removes their old parts, unless
// there is one part without garbage that this process writes.
func (l *log) clean() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cleanLocked()
}

func (l *log) cleanLocked() error {
	f := l.folder
	var old []*part
	f.mu.RLock()
	for _, p := range f.parts {
		if p.ext == journalExt {
			old = append(old, p)
		}
	}
	f.mu.RUnlock()
	all, live := l.garbage()
	if len(old) == 0 || len(old) == 1 && old[0].file != nil && all == live+int64(len(magic)) {
		return nil
	}
	l.part = nil
	for _, name := range f.Journals() {
		data, err := f.ReadFile(name, maxPlain)
		if err != nil {
			return err
		}
		var b batch
		b.add(content, name, data)
		if err := l.put(b); err != nil {
			return err
		}
	}
	if l.part != nil {
		if err := l.sync(l.part, l.part.size); err != nil {
			return err
		}
	}
	return f.drop(old)
}

// drop removes parts that nothing is read from any more, the lowest number first: a record that
// removes a file goes after the record that wrote it.
func (f *Folder) drop(parts []*part) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.parts = slices.DeleteFunc(f.parts, func(p *part) bool { return slices.Contains(parts, p) })
	err := closeParts(parts)
	for _, p := range parts { // ordered by number
		if err != nil {
			break // the next lock reads it, and what follows it
		}
		err = os.Remove(f.path(p.name))
	}
	return err
}
