package column

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// File reads some columns of one table, one row group at a time. It does not check the digest of
// the rows, because it does not decode the other columns. It is safe for concurrent use.
type File struct {
	file   *os.File
	groups []parquet.RowGroup
	stats  [][]Bounds // by row group and column
	leaves []int
	kinds  []Kind
	names  []string
}

// Bounds are the statistics of a column in a row group, as the file has them.
type Bounds struct {
	// Known means that the file has the least and the greatest value.
	Known bool
	// Low and High bound numbers and times; a bool is 0 or 1.
	Low, High float64
	// First and Last bound texts, which compare by bytes.
	First, Last string
}

// maxGroup bounds the rows of a row group, because it is read into memory.
const maxGroup = 1 << 20

// Open opens the file of a table other than Scores in dir for the named columns, which must be ones that Of returns
// and not lists. The file is untrusted: see ledger.OpenTable. An error about its content is a
// *sealed.CorruptError. The caller closes the File.
func Open(dir, table string, columns []string) (*File, error) {
	file, f, err := ledger.OpenTable(dir, table)
	if err != nil {
		return nil, err
	}
	c := &File{file: file, names: columns}
	if err := c.open(f, table); err != nil {
		_ = file.Close()
		return nil, contentError(file, err)
	}
	return c, nil
}

// contentError adds the path of the file to an error about its content.
func contentError(file *os.File, err error) error {
	return fmt.Errorf("read ledger: %w", sealed.Damage(file.Name(), err))
}

// recovered turns a panic of parquet-go into an error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("damaged: %v", r)
	}
}

// open finds the columns and their bounds.
func (c *File) open(f *parquet.File, table string) (err error) {
	defer recovered(&err)
	all := Of(table)
	for _, name := range c.names {
		leaf, ok := f.Schema().Lookup(name)
		if !ok {
			return fmt.Errorf("it has no column %q that can be read by itself", name)
		}
		i := slices.IndexFunc(all, func(a Column) bool { return a.Name == name })
		c.leaves, c.kinds = append(c.leaves, leaf.ColumnIndex), append(c.kinds, all[i].Kind)
	}
	c.groups = f.RowGroups()
	for _, group := range f.Metadata().RowGroups {
		if group.NumRows < 0 || group.NumRows > maxGroup {
			return fmt.Errorf("claims a row group of %d rows, more than %d", group.NumRows, maxGroup)
		}
		var bounds []Bounds
		for _, leaf := range c.leaves {
			bounds = append(bounds, boundsOf(&group.Columns[leaf].MetaData))
		}
		c.stats = append(c.stats, bounds)
	}
	return nil
}

// boundsOf reads the statistics of a column chunk. It ignores those of fractions, because they
// do not cover NaN.
func boundsOf(m *format.ColumnMetaData) Bounds {
	low, high := m.Statistics.MinValue, m.Statistics.MaxValue
	var b Bounds
	width := map[format.Type]int{format.Boolean: 1, format.Int32: 4, format.Int64: 8}[m.Type]
	switch {
	case low == nil || high == nil:
	case m.Type == format.ByteArray:
		b.Known, b.First, b.Last = true, string(low), string(high)
	case width > 0 && len(low) == width && len(high) == width:
		b.Known, b.Low, b.High = true, plainNumber(low), plainNumber(high)
	}
	return b
}

func plainNumber(b []byte) float64 {
	switch len(b) {
	case 4:
		return float64(int32(binary.LittleEndian.Uint32(b)))
	case 8:
		return float64(int64(binary.LittleEndian.Uint64(b)))
	}
	return float64(b[0])
}

// Groups returns the number of row groups.
func (c *File) Groups() int { return len(c.groups) }

// Rows returns the number of rows of a row group.
func (c *File) Rows(group int) int { return int(c.groups[group].NumRows()) }

// Bounds returns the bounds of a column, by its index among the opened columns.
func (c *File) Bounds(group, column int) Bounds { return c.stats[group][column] }

// Close closes the file.
func (c *File) Close() error { return c.file.Close() }

// Read fills vectors, one for each opened column, with a row group. It overwrites their previous
// content, but texts stay valid.
func (c *File) Read(group int, vectors []Vector) (err error) {
	defer func() {
		if err != nil {
			err = contentError(c.file, fmt.Errorf("row group %d: %w", group, err))
		}
	}()
	defer recovered(&err)
	chunks := c.groups[group].ColumnChunks()
	for i, leaf := range c.leaves {
		v := &vectors[i]
		v.clear()
		rows, err := v.readChunk(chunks[leaf], c.kinds[i], c.Rows(group))
		if err != nil {
			return fmt.Errorf("column %s: %w", c.names[i], err)
		}
		if rows != c.Rows(group) {
			return fmt.Errorf("column %s has %d rows, not %d", c.names[i], rows, c.Rows(group))
		}
	}
	return nil
}

// readChunk appends the pages of a column chunk and returns the number of their rows.
func (v *Vector) readChunk(chunk parquet.ColumnChunk, kind Kind, most int) (rows int, err error) {
	pages := chunk.Pages()
	defer func() { err = errors.Join(err, pages.Close()) }()
	var words dictionary // shared by all pages of the chunk
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		if rows += int(page.NumRows()); rows > most {
			parquet.Release(page)
			return rows, fmt.Errorf("more than %d rows", most)
		}
		err = v.readPage(page, kind, &words)
		parquet.Release(page)
		if err != nil {
			return rows, err
		}
	}
}
