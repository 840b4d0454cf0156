package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"io"
	"iter"
	"os"
)

// Scan is Open without the manifest.
func Scan(dir string) iter.Seq2[EpisodeRows, error] {
	return func(yield func(EpisodeRows, error) bool) {
		_, episodes, err := Open(dir)
		if err != nil {
			yield(EpisodeRows{}, err)
			return
		}
		episodes(yield)
	}
}

// Open reads the manifest of the run in dir. The sequence then reads its episodes in ledger
// order, in memory that does not grow with their number. Open rejects tables that do not belong
// to the manifest. The sequence makes the checks of Read and checks the order; it ends after the
// first error. It checks the checksum of each file before the first row, and the digest of its
// rows after the last.
func Open(dir string) (manifest.Manifest, iter.Seq2[EpisodeRows, error], error) {
	m, digest, err := manifest.ReadWithDigest(dir)
	if err != nil {
		return m, nil, err
	}
	f := &folder{dir, m, digest}
	if err := f.checkTables(); err != nil {
		return m, nil, err
	}
	return m, f.episodes, nil
}

// episodes yields the rows of one episode after another.
func (f *folder) episodes(yield func(EpisodeRows, error) bool) {
	s := &scanner{folder: f}
	defer s.close()
	err := s.open()
	for err == nil {
		var rec EpisodeRows
		if rec, err = s.next(); err == nil && !yield(rec, nil) {
			return
		}
	}
	if !errors.Is(err, io.EOF) {
		yield(EpisodeRows{}, err)
	}
}

// scanner joins the three tables.
type scanner struct {
	*folder
	episodes tableScanner[Episode, *Episode]
	turns    tableScanner[Turn, *Turn]
	calls    tableScanner[ToolCall, *ToolCall]
	order    order
}

func (s *scanner) open() error {
	if err := s.checkEnded(); err != nil {
		return err
	}
	return errors.Join(s.episodes.open(s.folder, tableEpisodes), s.turns.open(s.folder, tableTurns), s.calls.open(s.folder, tableToolCalls))
}

func (s *scanner) close() {
	s.episodes.close()
	s.turns.close()
	s.calls.close()
}

// next returns the rows of the next episode.
func (s *scanner) next() (rec EpisodeRows, err error) {
	e, err := s.episodes.peek()
	if errors.Is(err, io.EOF) {
		return rec, s.end()
	}
	if err != nil {
		return rec, err
	}
	rec.Episode = *e
	s.episodes.skip()
	if rec.Turns, err = s.turns.of(&rec.Episode.Key); err != nil {
		return rec, err
	}
	if rec.ToolCalls, err = s.calls.of(&rec.Episode.Key); err != nil {
		return rec, err
	}
	if err = rec.check(); err == nil {
		err = s.order.next(rec.Episode.place())
	}
	if err != nil {
		err = fmt.Errorf("read ledger in %s: %w", s.dir, err)
	}
	return rec, err
}

// end returns io.EOF if no row is left, and an error for a row without an episode.
func (s *scanner) end() error {
	t, err := s.turns.peek()
	if err == nil {
		return fmt.Errorf("read ledger in %s: turn of task %v has no episode", s.dir, t.place())
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	c, err := s.calls.peek()
	if err == nil {
		return fmt.Errorf("read ledger in %s: tool call of task %v has no episode", s.dir, c.place())
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	sum := sumOf(s.episodes.rows.digest.all.sum(), s.turns.rows.digest.all.sum(), s.calls.rows.digest.all.sum())
	return cmp.Or(s.checkRows(sum), err)
}

// tableScanner returns the rows of one table, episode by episode.
type tableScanner[T any, P record[T]] struct {
	file     *os.File
	rows     *tableReader[T, P]
	prefetch *prefetcher[T, P]
	batch    []T
	err      error
}

func (s *tableScanner[T, P]) open(folder *folder, table string) error {
	f, size, err := folder.open(table)
	if err != nil {
		return err
	}
	s.file = f
	if s.rows, err = newTableReader[T, P](table, f, size); err == nil {
		err = folder.checkManifest(s.rows.parquet)
	}
	if err == nil {
		s.prefetch = prefetch(s.rows)
	}
	return tableError(f.Name(), err)
}

// peek returns the next row, or io.EOF.
func (s *tableScanner[T, P]) peek() (*T, error) {
	for len(s.batch) == 0 {
		if s.err != nil {
			return nil, s.err
		}
		if s.batch, s.err = s.prefetch.next(); !errors.Is(s.err, io.EOF) {
			s.err = tableError(s.file.Name(), s.err)
		}
	}
	return &s.batch[0], nil
}

func (s *tableScanner[T, P]) skip() { s.batch = s.batch[1:] }

// of returns the rows of an episode, which must be the next ones.
func (s *tableScanner[T, P]) of(k *Key) (rows []T, err error) {
	p := k.place()
	for {
		row, err := s.peek()
		if errors.Is(err, io.EOF) || err == nil && P(row).key().place() != p {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		n := 1
		for n < len(s.batch) && P(&s.batch[n]).key().place() == p {
			n++
		}
		rows = append(rows, s.batch[:n]...)
		s.batch = s.batch[n:]
	}
}

func (s *tableScanner[T, P]) close() {
	if s.prefetch != nil {
		s.prefetch.close()
	}
	if s.rows != nil {
		s.rows.close()
	}
	if s.file != nil {
		_ = s.file.Close()
	}
}
