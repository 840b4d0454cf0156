package ledger

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// tableReader reads one table in batches, a row group in memory at a time.
type tableReader[T any, P record[T]] struct {
	file    *window
	parquet *parquet.File
	groups  []parquet.RowGroup
	starts  []span // of the row groups
	rows    parquet.Rows
	digest  tableDigester[T, P]
	want    string // digest of all rows
	left    int    // rows not yet read, by the footer
	row     T
	columns []column
	buf     []parquet.Row
	batch   []T
}

// newTableReader opens an untrusted file and checks its checksum and schema.
func newTableReader[T any, P record[T]](table string, file io.ReaderAt, size int64) (r *tableReader[T, P], err error) {
	defer damaged(&err)
	if err := verifySeal(file, size); err != nil {
		return nil, err
	}
	w := &window{file: file}
	f, err := parquet.OpenFile(w, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, err
	}
	if err := checkSchema[T](f, table); err != nil {
		return nil, err
	}
	n := f.NumRows()
	if n < 0 || n > maxRows {
		return nil, fmt.Errorf("claims %d rows, more than %d", n, maxRows)
	}
	r = &tableReader[T, P]{
		file: w, parquet: f, groups: f.RowGroups(), left: int(n),
		buf: make([]parquet.Row, batchRows), batch: make([]T, 0, batchRows),
	}
	r.want, _ = f.Lookup(keyRows)
	r.columns = columnsOf(P(&r.row).fields(nil))
	for _, group := range f.Metadata().RowGroups {
		s, err := spanOf(&group)
		if err != nil {
			return nil, err
		}
		r.starts = append(r.starts, s)
	}
	return r, nil
}

// next returns the next rows, which are valid until the next call. After the last row it returns
// io.EOF if the rows have the digest in the footer.
func (r *tableReader[T, P]) next() (rows []T, err error) {
	defer damaged(&err)
	for len(rows) == 0 && err == nil {
		if r.rows == nil && len(r.groups) == 0 {
			return nil, r.end()
		}
		rows, err = r.read()
	}
	if errors.Is(err, io.EOF) { // the caller would take it for the end
		return nil, errors.New("damaged: a row group ends early")
	}
	return rows, err
}

// read returns the next rows of a row group, none at its end.
func (r *tableReader[T, P]) read() ([]T, error) {
	if r.rows == nil {
		if err := r.file.load(r.starts[0]); err != nil {
			return nil, err
		}
		r.rows = r.groups[0].Rows()
		r.groups, r.starts = r.groups[1:], r.starts[1:]
	}
	n, err := r.rows.ReadRows(r.buf)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if err != nil {
		err = r.rows.Close()
		r.rows = nil
	} else if n == 0 {
		err = io.ErrNoProgress
	}
	return r.decode(r.buf[:n]), err
}

func (r *tableReader[T, P]) end() error {
	if r.left != 0 {
		return fmt.Errorf("it has %d rows less than its footer names", r.left)
	}
	if r.digest.sumAll() != r.want {
		return errors.New("its rows do not have the digest its footer names")
	}
	return io.EOF
}

func (r *tableReader[T, P]) decode(rows []parquet.Row) []T {
	r.batch = r.batch[:0]
	for _, values := range rows {
		for _, c := range r.columns {
			c.reset()
		}
		for _, v := range values {
			r.columns[v.Column()].set(v)
		}
		r.digest.add(&r.row)
		r.batch = append(r.batch, r.row)
	}
	if r.left -= len(rows); r.left < 0 {
		panic("more rows than its footer names")
	}
	return r.batch
}

func (r *tableReader[T, P]) close() {
	if r.rows != nil {
		_ = r.rows.Close()
	}
}

// damaged turns a panic of parquet-go into an error.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}

// span is a range of bytes of a file.
type span struct{ from, to int64 }

// spanOf returns the range of a row group. It rejects other codecs, whose decoders have no
// memory bound.
func spanOf(group *format.RowGroup) (span, error) {
	s := span{from: maxFile}
	for _, c := range group.Columns {
		m := &c.MetaData
		if m.Codec != codec.CompressionCodec() {
			return span{}, fmt.Errorf("column %v is compressed with %v", m.PathInSchema, m.Codec)
		}
		from := m.DataPageOffset
		if m.DictionaryPageOffset > 0 {
			from = min(from, m.DictionaryPageOffset)
		}
		s.from = min(s.from, from)
		s.to = max(s.to, from+m.TotalCompressedSize)
	}
	return s, nil
}

// window buffers one part of a file, because parquet-go reads a row group column by column in
// small pieces.
type window struct {
	file io.ReaderAt
	part span
	data []byte
}

// maxWindow bounds the buffered part. A larger row group, which cupel does not write, is read
// from the file directly.
const maxWindow = 4 * rowGroupBytes

func (w *window) load(s span) error {
	w.part = span{}
	n := s.to - s.from
	if s.from < 0 || n <= 0 || n > maxWindow {
		return nil
	}
	if int64(cap(w.data)) < n {
		w.data = make([]byte, n)
	}
	if _, err := w.file.ReadAt(w.data[:n], s.from); err != nil {
		return err
	}
	w.part = s
	return nil
}

// ReadAt implements io.ReaderAt.
func (w *window) ReadAt(p []byte, at int64) (int, error) {
	if at >= w.part.from && at+int64(len(p)) <= w.part.to {
		return copy(p, w.data[at-w.part.from:]), nil
	}
	return w.file.ReadAt(p, at)
}
