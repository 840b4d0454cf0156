package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// maxFile bounds a Parquet file, which is read into memory.
const maxFile = 4 << 30

// Read reads the three Parquet files of dir. It refuses, naming the file, one
// that is missing (fs.ErrNotExist), cut short, changed in any byte, or of
// another schema; the rows it returns are those written. Empty lists are nil.
func Read(dir string) (Rows, error) {
	var rows Rows
	var err1, err2, err3 error
	rows.Episodes, err1 = readTable[Episode](dir, tableEpisodes)
	rows.Turns, err2 = readTable[Turn](dir, tableTurns)
	rows.ToolCalls, err3 = readTable[ToolCall](dir, tableToolCalls)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Rows{}, err
	}
	return rows, nil
}

func readTable[T any, P record[T]](dir, table string) ([]T, error) {
	path := filepath.Join(dir, fileName(table))
	file, err := readFile(path, maxFile)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	rows, err := decodeTable[T, P](table, file)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %s: %w", path, err)
	}
	return rows, nil
}

// decodeTable is the inverse of encodeTable. The file is untrusted.
func decodeTable[T any, P record[T]](table string, file []byte) (rows []T, err error) {
	defer func() {
		if r := recover(); r != nil {
			rows, err = nil, fmt.Errorf("damaged: %v", r)
		}
	}()
	if err := verifySeal(file); err != nil {
		return nil, err
	}
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	if err := checkSchema[T](f, table); err != nil {
		return nil, err
	}
	if n := f.NumRows(); n < 0 || n > maxRows {
		return nil, fmt.Errorf("claims %d rows, more than %d", n, maxRows)
	}
	for _, group := range f.Metadata().RowGroups {
		for _, c := range group.Columns {
			if c.MetaData.Codec != codec.CompressionCodec() { // others decode without a bound
				return nil, fmt.Errorf("column %v is compressed with %v", c.MetaData.PathInSchema, c.MetaData.Codec)
			}
		}
	}
	for _, group := range f.RowGroups() {
		if rows, err = appendGroup[T, P](rows, group); err != nil {
			return nil, err
		}
	}
	want, _ := f.Lookup(keyRows)
	if got, _ := tableDigest[T, P](rows); got != want {
		return nil, fmt.Errorf("its %d rows do not have the digest its footer names", len(rows))
	}
	return rows, nil
}

// checkSchema refuses what parquet-go would convert or leave out silently.
func checkSchema[T any](f *parquet.File, table string) error {
	if got, _ := f.Lookup(keyTable); got != table {
		return fmt.Errorf("holds the table %q, not %q", got, table)
	}
	want := schemaDigest(schemaText[T]())
	if claimed, _ := f.Lookup(keySchema); claimed != want {
		version, _ := f.Lookup(keyVersion)
		return fmt.Errorf("written with ledger schema version %.20q (digest %.12q), this cupel reads version %d (digest %.12q): "+
			"use the cupel named by code_version in run.json, or run again with this one", version, claimed, schemaVersion, want)
	}
	if schemaDigest(f.Schema().String()) != want {
		return errors.New("its columns are not those of the schema it names")
	}
	return nil
}

// appendGroup appends the rows of a row group.
func appendGroup[T any, P record[T]](rows []T, group parquet.RowGroup) ([]T, error) {
	in := group.Rows()
	defer func() { _ = in.Close() }()
	var row T
	columns := columnsOf(P(&row).fields(nil))
	buf := make([]parquet.Row, 128)
	rows = slices.Grow(rows, int(min(group.NumRows(), rowGroupRows)))
	for {
		n, err := in.ReadRows(buf)
		if len(rows)+n > maxRows {
			return nil, fmt.Errorf("more than %d rows", maxRows)
		}
		for _, values := range buf[:n] {
			for _, c := range columns {
				c.reset()
			}
			for _, v := range values {
				columns[v.Column()].set(v)
			}
			rows = append(rows, row)
		}
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// readFile reads a file of at most limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", path, info.Size(), limit)
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
