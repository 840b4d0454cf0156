package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// maxFile bounds a Parquet file.
const maxFile = 4 << 30

// Read reads the three Parquet files of dir into memory. It refuses, naming the
// file, one that is missing (fs.ErrNotExist), cut short, changed in any byte, or
// of another schema; the rows it returns are those written. Empty lists are nil.
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
	f, size, err := openFile(dir, table)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	rows, err := decodeTable[T, P](table, f, size)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %s: %w", f.Name(), err)
	}
	return rows, nil
}

// openFile opens the file of a table.
func openFile(dir, table string) (*os.File, int64, error) {
	f, err := os.Open(filepath.Join(dir, fileName(table)))
	if err != nil {
		return nil, 0, fmt.Errorf("read ledger: %w", err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("%s has %d bytes, more than %d", f.Name(), info.Size(), int64(maxFile))
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, fmt.Errorf("read ledger: %w", err)
	}
	return f, info.Size(), nil
}

// decodeTable returns all rows of a file, which is untrusted.
func decodeTable[T any, P record[T]](table string, file io.ReaderAt, size int64) ([]T, error) {
	r, err := newTableReader[T, P](table, file, size)
	if err != nil {
		return nil, err
	}
	defer r.close()
	rows := slices.Grow([]T(nil), min(r.left, 4*rowGroupRows))
	for {
		batch, err := r.next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, batch...)
	}
}

// checkSchema refuses what parquet-go would convert or leave out silently.
func checkSchema[T any](f *parquet.File, table string) error {
	if got, _ := f.Lookup(keyTable); got != table {
		return fmt.Errorf("holds the table %q, not %q", got, table)
	}
	want := schemaDigest(schemaText[T]())
	claimed, _ := f.Lookup(keySchema)
	version, _ := f.Lookup(keyVersion)
	if claimed != want || version != fmt.Sprint(schemaVersion) {
		return fmt.Errorf("written with ledger schema version %.20q (digest %.12q), this cupel reads version %d (digest %.12q): "+
			"use the cupel named by code_version in run.json, or run again with this one", version, claimed, schemaVersion, want)
	}
	if schemaDigest(f.Schema().String()) != want {
		return errors.New("its columns are not those of the schema it names")
	}
	return nil
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
