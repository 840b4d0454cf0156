package ledger

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/cupel-eval/cupel/internal/atomicfile"
)

// Writer writes the three Parquet files of a run, in memory that does not grow with the run. It
// is not safe for concurrent use, and a folder may have only one Writer at a time: see Lock.
type Writer struct {
	dir      string
	temps    []*atomicfile.File
	episodes *tableWriter[Episode, *Episode]
	turns    *tableWriter[Turn, *Turn]
	calls    *tableWriter[ToolCall, *ToolCall]
	order    order
	err      error // why it accepts no more rows
}

// NewWriter starts a ledger in dir. It removes the temporary files of a killed Writer. An
// existing ledger stays until Close.
func NewWriter(dir string) (*Writer, error) {
	w := &Writer{dir: dir}
	atomicfile.Sweep(dir)
	for _, table := range tables {
		f, err := atomicfile.Create(filepath.Join(dir, fileName(table)))
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

// Append adds the rows of the next episode. Episodes must be unique and sorted by task,
// candidate (both by bytes) and trial. Turns and tool calls must be sorted by number and have
// the episode's task, candidate and trial. An error about the order names both episodes. Bytes
// that are not UTF-8 are stored as U+FFFD. Append does not modify or keep the rows.
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

// Close writes ledger and manifest of the run folder. They name each other: run.json has the
// digest of the rows, and the footers of the tables have the digest of run.json. conclude returns
// the manifest, with SetTotals. Close replaces each file atomically, run.json last. It first
// replaces another run.json by one whose status is running, so that no reader sees tables of two
// runs. If Close fails, no file has changed, unless a rename failed.
func (w *Writer) Close(conclude func(manifest.Totals) (manifest.Manifest, error)) (manifest.Manifest, error) {
	defer w.Abort()
	if w.err != nil {
		return manifest.Manifest{}, w.err
	}
	m, err := conclude(manifest.Totals{
		Digest:   sumOf(w.episodes.digest.all.sum(), w.turns.digest.all.sum(), w.calls.digest.all.sum()),
		Episodes: w.episodes.rows, Turns: w.turns.rows, ToolCalls: w.calls.rows,
	})
	if err != nil {
		return m, err
	}
	text, err := manifest.Encode(m)
	if err != nil {
		return m, fmt.Errorf("write %s: %w", filepath.Join(w.dir, manifest.File), err)
	}
	digest := sealed.Digest(text)
	if err := errors.Join(w.episodes.finish(digest), w.turns.finish(digest), w.calls.finish(digest)); err != nil {
		return m, err
	}
	if err := w.publish(m, text); err != nil {
		return m, fmt.Errorf("write ledger: %w", err)
	}
	return m, nil
}

// publish renames the temporary files.
func (w *Writer) publish(m manifest.Manifest, text []byte) error {
	for _, f := range w.temps { // because a full disk may be noticed only here
		if err := f.Sync(); err != nil {
			return err
		}
	}
	was, digest, err := manifest.ReadWithDigest(w.dir)
	if err != nil || digest != sealed.Digest(text) && was.Status != manifest.Running {
		m.Status = manifest.Running
		if err := manifest.Write(w.dir, m); err != nil {
			return err
		}
	}
	for _, f := range w.temps {
		if err := f.Commit(); err != nil {
			return err
		}
	}
	return atomicfile.WriteBytes(filepath.Join(w.dir, manifest.File), text)
}

// Abort removes the temporary files. It does nothing after Close.
func (w *Writer) Abort() {
	for _, f := range w.temps {
		f.Abort()
	}
	w.temps = nil
	if w.err == nil {
		w.err = fmt.Errorf("write ledger in %s: %w", w.dir, os.ErrClosed)
	}
}

// Write writes a run folder: the ledger of rows, which must be in ledger order, and the manifest
// m with their totals. The same rows and manifest give the same bytes. A turn or tool call
// without an episode is an error.
func Write(dir string, m manifest.Manifest, rows Rows) error {
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
	_, err = w.Close(func(t manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(t)
		return m, nil
	})
	return err
}

// take removes the rows of an episode from the front of rows and returns them.
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
