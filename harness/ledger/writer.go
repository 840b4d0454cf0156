package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Writer writes the three Parquet files of a run, in memory that does not grow
// with the run. It is for one goroutine, and one Writer may be at work in a
// folder: see Lock.
type Writer struct {
	dir      string
	temps    []*os.File
	episodes *tableWriter[Episode, *Episode]
	turns    *tableWriter[Turn, *Turn]
	calls    *tableWriter[ToolCall, *ToolCall]
	order    order
	err      error // why there is nothing more to write
}

// Totals say what a ledger holds.
type Totals struct {
	// Digest is that of Digest.
	Digest                     string
	Episodes, Turns, ToolCalls int
}

// NewWriter begins a ledger in dir. A ledger that is there stays until Close;
// what a Writer that was killed left behind is removed.
func NewWriter(dir string) (*Writer, error) {
	w := &Writer{dir: dir}
	removeTemps(dir, manifestName)
	for _, table := range tables {
		f, err := createTemp(dir, table)
		if err != nil {
			w.Abort()
			return nil, fmt.Errorf("write ledger: %w", err)
		}
		w.temps = append(w.temps, f)
	}
	w.episodes = newTableWriter[Episode](tableEpisodes, w.temps[0])
	w.turns = newTableWriter[Turn](tableTurns, w.temps[1], "turn")
	w.calls = newTableWriter[ToolCall](tableToolCalls, w.temps[2], "tool_call_seq")
	return w, nil
}

func createTemp(dir, table string) (*os.File, error) {
	removeTemps(dir, fileName(table))
	return os.CreateTemp(dir, "."+fileName(table)+".*")
}

// removeTemps removes the temporary files that processes that were killed left of
// a file.
func removeTemps(dir, name string) {
	entries, _ := os.ReadDir(dir) // what matters is the new one
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "."+name+".") {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// Append adds the rows of the next episode in ledger order: by task, candidate
// (both compared by bytes) and trial, no two alike; within it turns and tool
// calls ascend by number and carry the episode's task, candidate and trial.
// Another order is an error that names both places. Bytes that are not UTF-8 are
// stored as U+FFFD. The rows are not modified, and not kept.
func (w *Writer) Append(rec EpisodeRows) error {
	if w.err != nil {
		return w.err
	}
	w.err = w.append(rec)
	return w.err
}

func (w *Writer) append(rec EpisodeRows) error {
	err := rec.check()
	if err == nil {
		err = w.order.next(rec.Episode.place())
	}
	if err != nil {
		return fmt.Errorf("write ledger in %s: %w", w.dir, err)
	}
	if err := w.episodes.add(rec.Episode); err != nil {
		return err
	}
	if err := w.turns.add(rec.Turns...); err != nil {
		return err
	}
	return w.calls.add(rec.ToolCalls...)
}

// Close seals and syncs the files and puts each in its place atomically: a reader
// or a crash sees the old file or the new one. After an error of Append or Close
// no file has changed, unless the error is that of a rename.
func (w *Writer) Close() (Totals, error) {
	defer w.Abort()
	if w.err != nil {
		return Totals{}, w.err
	}
	if err := errors.Join(w.episodes.finish(), w.turns.finish(), w.calls.finish()); err != nil {
		return Totals{}, err
	}
	for _, f := range w.temps {
		if err := errors.Join(f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
			return Totals{}, fmt.Errorf("write ledger: %w", err)
		}
	}
	for i, table := range tables {
		if err := os.Rename(w.temps[i].Name(), filepath.Join(w.dir, fileName(table))); err != nil {
			return Totals{}, fmt.Errorf("write ledger: %w", err)
		}
	}
	if err := syncDir(w.dir); err != nil {
		return Totals{}, fmt.Errorf("write ledger: %w", err)
	}
	sum := sumOf(w.episodes.digest.all.sum(), w.turns.digest.all.sum(), w.calls.digest.all.sum())
	return Totals{Digest: sum, Episodes: w.episodes.rows, Turns: w.turns.rows, ToolCalls: w.calls.rows}, nil
}

// Abort gives up what was not closed and removes its temporary files. It is
// harmless after Close.
func (w *Writer) Abort() {
	for _, f := range w.temps {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
	w.temps = nil
	if w.err == nil {
		w.err = fmt.Errorf("write ledger in %s: %w", w.dir, os.ErrClosed)
	}
}

// Write writes the ledger of rows that are in ledger order, as Writer does; the
// same rows give the same bytes. Turns and tool calls without their episode are an
// error.
func Write(dir string, rows Rows) error {
	w, err := NewWriter(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	for i := range rows.Episodes {
		e := &rows.Episodes[i]
		rec := EpisodeRows{Episode: *e, Turns: take(&rows.Turns, e), ToolCalls: take(&rows.ToolCalls, e)}
		if err := w.Append(rec); err != nil {
			return err
		}
	}
	if err := errors.Join(unclaimed("turn", rows.Turns), unclaimed("tool call", rows.ToolCalls)); err != nil {
		return fmt.Errorf("write ledger in %s: %w", dir, err)
	}
	_, err = w.Close()
	return err
}

// take removes the rows of an episode from the front.
func take[T any, P record[T]](rows *[]T, e *Episode) []T {
	n := 0
	for n < len(*rows) && P(&(*rows)[n]).key().place() == e.place() {
		n++
	}
	out := (*rows)[:n:n]
	*rows = (*rows)[n:]
	return out
}

func unclaimed[T any, P record[T]](what string, rows []T) error {
	if len(rows) == 0 {
		return nil
	}
	return fmt.Errorf("%s of task %v has no episode, or comes before it", what, P(&rows[0]).key().place())
}
