package batching

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/internal/regular"
)

// note is a line of the file of notes: a batch that is about to be submitted, with its items,
// that was submitted, of which a request failed, or that is done.
type note struct {
	Batch    int         `json:"batch"`
	Key      string      `json:"key,omitempty"`
	Provider string      `json:"provider,omitempty"`
	At       time.Time   `json:"at,omitzero"`
	Items    [][2]string `json:"items,omitempty"` // id and digest
	ID       string      `json:"id,omitempty"`
	Failed   string      `json:"failed,omitempty"`
	Done     bool        `json:"done,omitempty"`
}

// notes is the file of notes: JSON Lines, of which a kill may cut off the last.
type notes struct {
	mu   sync.Mutex
	file *os.File // nil if there is none
	err  error
}

// openNotes opens the notes and calls visit with every batch in them.
func openNotes(path string, visit func(n note, failed map[string]bool)) (*notes, error) {
	if path == "" {
		return &notes{}, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("open the notes of batches: %w", err)
	}
	f, err := regular.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the notes of batches: %w", err)
	}
	text, err := io.ReadAll(f)
	if err == nil {
		whole := bytes.LastIndexByte(text, '\n') + 1 // a kill may have cut off the last line
		err = readNotes(path, text[:whole], visit)
		if err == nil {
			err = f.Truncate(int64(whole))
		}
		if err == nil {
			_, err = f.Seek(int64(whole), io.SeekStart)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &notes{file: f}, nil
}

func readNotes(path string, text []byte, visit func(note, map[string]bool)) error {
	byNumber := map[int]*note{}
	failed := map[int]map[string]bool{}
	var order []*note
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		var n note
		if err := json.Unmarshal(line, &n); err != nil || n.Batch < 1 {
			return fmt.Errorf("%s:%d: not a note of a batch; restore the file, or start a new run", path, i+1)
		}
		was := byNumber[n.Batch]
		if was == nil {
			if n.Key == "" {
				return fmt.Errorf("%s:%d: batch %d was not noted before; restore the file, or start a new run", path, i+1, n.Batch)
			}
			byNumber[n.Batch], failed[n.Batch] = &n, map[string]bool{}
			order = append(order, &n)
			continue
		}
		if n.ID != "" {
			was.ID = n.ID
		}
		if n.Failed != "" {
			failed[n.Batch][n.Failed] = true
		}
		if was.Done = was.Done || n.Done; was.Done {
			was.Items = nil
		}
	}
	for _, n := range order {
		visit(*n, failed[n.Batch])
	}
	return nil
}

// add appends a line, on disk if sync is set.
func (n *notes) add(line note, sync bool) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil || n.err != nil {
		return n.err
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = n.file.Write(append(text, '\n'))
	}
	if err == nil && sync {
		err = n.file.Sync()
	}
	if err != nil {
		n.err = fmt.Errorf("note a batch: %w", err) // a part of a line must stay the last
	}
	return n.err
}

// prepared notes a batch that is about to be submitted.
func (n *notes) prepared(b *remote) error {
	line := note{Batch: b.number, Key: b.key, Provider: b.provider, At: b.at.UTC()}
	for _, id := range b.order {
		line.Items = append(line.Items, [2]string{b.items[id].id, b.items[id].digest})
	}
	return n.add(line, true)
}

func (n *notes) submitted(b *remote) error { return n.add(note{Batch: b.number, ID: b.id}, true) }

// failed and done are not synced: without them a resumed run asks the provider for more than it
// needs.
func (n *notes) failed(b *remote, id string) { _ = n.add(note{Batch: b.number, Failed: id}, false) }
func (n *notes) done(b *remote)              { _ = n.add(note{Batch: b.number, Done: true}, false) }

func (n *notes) close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.file == nil {
		return nil
	}
	err := errors.Join(n.err, n.file.Close())
	n.file = nil
	return err
}
