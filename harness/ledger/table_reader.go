package ledger

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// tableReader reads one table in batches, a row group in memory at a time.
type tableReader[T any, P record[T]] struct {
	parquet *parquet.File
	groups  []parquet.RowGroup
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
	f, err := openParquet(file, size)
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
		parquet: f, groups: f.RowGroups(), left: int(n),
		buf: make([]parquet.Row, batchRows), batch: make([]T, 0, batchRows),
	}
	r.want, _ = f.Lookup(keyRows)
	r.columns = columnsOf(P(&r.row).fields(nil))
	return r, checkCodecs(f)
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
		r.rows = r.groups[0].Rows()
		r.groups = r.groups[1:]
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

// openParquet opens an untrusted file, which is read in blocks.
func openParquet(file io.ReaderAt, size int64) (*parquet.File, error) {
	const block = 32 << 10
	return parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(block))
}

// damaged turns a panic of parquet-go into an error.
func damaged(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}

// checkCodecs rejects codecs that cupel does not write, whose decoders have no memory bound.
func checkCodecs(f *parquet.File) error {
	for _, group := range f.Metadata().RowGroups {
		for _, c := range group.Columns {
			if m := &c.MetaData; m.Codec != codec.CompressionCodec() {
				return fmt.Errorf("column %v is compressed with %v", m.PathInSchema, m.Codec)
			}
		}
	}
	return nil
}
