package fleet

import (
	"context"
	"io/fs"
	"net/http"
	"strings"
	"sync"
)

// Log keeps what a unit has exchanged so far outside of its worker's machine. The methods wait
// until that is done, or the unit is another worker's.
type Log interface {
	// Load returns a journal; nothing if there is none.
	Load(name string) ([]byte, error)
	// Append adds to a journal, and Clear empties it.
	Append(name string, data []byte) error
	Clear(name string) error
	// Sending is called before a request is sent. After an error it is not.
	Sending() error
}

// Mirror is a recorder.Store in memory whose journals are in the Logs of their units, too. It is
// safe for concurrent use.
type Mirror struct {
	mu   sync.Mutex
	open map[string]*mirrored // by the name of the cassette
}

// mirrored is a cassette that is being recorded.
type mirrored struct {
	log   Log
	files map[string][]byte
}

// JournalSuffix ends the name of the journal of a cassette.
const JournalSuffix = ".journal"

const oldSuffix = ".old" // of a journal that is replaced

// NewMirror returns an empty Mirror.
func NewMirror() *Mirror { return &Mirror{open: map[string]*mirrored{}} }

// Begin makes a cassette known, with what its journal has in the log.
func (m *Mirror) Begin(name string, log Log) error {
	journal, err := log.Load(name + JournalSuffix)
	if err != nil {
		return err
	}
	c := &mirrored{log: log, files: map[string][]byte{}}
	if len(journal) > 0 {
		c.files[name+JournalSuffix] = journal
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open[name] = c
	return nil
}

// End forgets a cassette and returns it; nil if none was written.
func (m *Mirror) End(name string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.open[name]
	if c == nil {
		return nil
	}
	delete(m.open, name)
	return c.files[name]
}

// of returns the cassette that a file belongs to, with the lock of m.
func (m *Mirror) of(name string) (c *mirrored, unlock func(), err error) {
	m.mu.Lock()
	c = m.open[strings.TrimSuffix(strings.TrimSuffix(name, oldSuffix), JournalSuffix)]
	if c == nil {
		m.mu.Unlock()
		return nil, nil, &fs.PathError{Op: "record", Path: name, Err: fs.ErrNotExist}
	}
	return c, m.mu.Unlock, nil
}

func (c *mirrored) get(name string) ([]byte, error) {
	data, ok := c.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return data, nil
}

// Lock implements recorder.Store: no other process has this memory.
func (m *Mirror) Lock() (unlock func(), err error) { return func() {}, nil }

// Size implements recorder.Store.
func (m *Mirror) Size(name string) (int64, error) {
	data, err := m.ReadFile(name, -1)
	return int64(len(data)), err
}

// ReadFile implements recorder.Store. A negative limit reads all.
func (m *Mirror) ReadFile(name string, limit int64) ([]byte, error) {
	c, unlock, err := m.of(name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	data, err := c.get(name)
	if limit >= 0 && int64(len(data)) > limit {
		data = data[:limit]
	}
	return data, err
}

// WriteFile implements recorder.Store.
func (m *Mirror) WriteFile(name string, data []byte) error {
	c, unlock, err := m.of(name)
	if err != nil {
		return err
	}
	defer unlock()
	c.files[name] = append([]byte(nil), data...)
	return nil
}

// Append implements recorder.Store. It returns once the log has the data. What a torn record left
// stays in the log, where readers skip it.
func (m *Mirror) Append(name string, size int64, data []byte) error {
	c, unlock, err := m.of(name)
	if err != nil {
		return err
	}
	before := c.files[name]
	unlock()
	if size > int64(len(before)) {
		return &fs.PathError{Op: "append to", Path: name, Err: fs.ErrInvalid}
	}
	if size == 0 && len(before) > 0 {
		err = c.log.Clear(name)
	}
	if err == nil {
		err = c.log.Append(name, data)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c.files[name] = append(before[:size:size], data...)
	return nil
}

// Rename implements recorder.Store. What is renamed is of no use to another worker.
func (m *Mirror) Rename(from, to string) error {
	c, unlock, err := m.of(from)
	if err != nil {
		return err
	}
	data, err := c.get(from)
	if err == nil {
		delete(c.files, from)
		c.files[to] = data
	}
	unlock()
	if err == nil && strings.HasSuffix(from, JournalSuffix) {
		err = c.log.Clear(from)
	}
	return err
}

// Remove implements recorder.Store.
func (m *Mirror) Remove(name string) error {
	c, unlock, err := m.of(name)
	if err != nil {
		return err
	}
	_, err = c.get(name)
	delete(c.files, name)
	unlock()
	if err == nil && strings.HasSuffix(name, JournalSuffix) {
		err = c.log.Clear(name)
	}
	return err
}

type logKey struct{}

// WithLog returns a context whose requests ask the log before they are sent: see Transport.
func WithLog(ctx context.Context, log Log) context.Context {
	return context.WithValue(ctx, logKey{}, log)
}

// Transport returns a transport that asks the log of a request's context before it sends.
func Transport(base http.RoundTripper) http.RoundTripper { return asking{base} }

type asking struct{ base http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (t asking) RoundTrip(r *http.Request) (*http.Response, error) {
	if log, ok := r.Context().Value(logKey{}).(Log); ok {
		if err := log.Sending(); err != nil {
			return nil, err
		}
	}
	return t.base.RoundTrip(r)
}
