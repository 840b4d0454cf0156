package ledger

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/cupel-eval/cupel/internal/regular"
)

// maxFile bounds a Parquet file.
const maxFile = 4 << 30

// Read reads the three Parquet files of dir into memory. A file that is missing
// (fs.ErrNotExist), cut short, changed in any byte, of another schema or of another run
// than run.json is a *CorruptError; the rows it returns are those written. Empty lists
// are nil.
func Read(dir string) (Rows, error) {
	f, err := openFolder(dir)
	if err != nil {
		return Rows{}, err
	}
	episodes, sum1, err1 := readTable[Episode](f, tableEpisodes)
	turns, sum2, err2 := readTable[Turn](f, tableTurns)
	calls, sum3, err3 := readTable[ToolCall](f, tableToolCalls)
	if err := errors.Join(err1, err2, err3); err != nil {
		return Rows{}, err
	}
	if err := f.checkRows(sumOf(sum1, sum2, sum3)); err != nil {
		return Rows{}, err
	}
	return Rows{Episodes: episodes, Turns: turns, ToolCalls: calls}, nil
}

// folder is a run folder whose files are read.
type folder struct {
	dir      string
	manifest Manifest
	digest   string // of run.json
}

// openFolder reads the manifest of a run that has a ledger.
func openFolder(dir string) (*folder, error) {
	m, digest, err := readManifest(dir)
	f := &folder{dir, m, digest}
	if err == nil {
		err = f.checkEnded()
	}
	return f, err
}

func (f *folder) checkEnded() error {
	if f.manifest.Status == running {
		return fmt.Errorf("read ledger in %s: run %s has not ended, so it has no ledger", f.dir, f.manifest.RunID)
	}
	return nil
}

// checkRows refuses rows that are not those of the manifest.
func (f *folder) checkRows(digest string) error {
	if digest != f.manifest.LedgerDigest {
		return fmt.Errorf("read ledger in %s: %w", f.dir, &CorruptError{filepath.Join(f.dir, manifestName),
			errors.New("its ledger_digest is not that of the rows; " + fixRun)})
	}
	return nil
}

// checkTables refuses tables that are missing or of another manifest, by their footers.
// A run that has not ended has none.
func (f *folder) checkTables() (err error) {
	if f.manifest.Status == running {
		return nil
	}
	for _, table := range tables {
		file, size, err2 := f.open(table)
		if err2 == nil {
			err2 = tableError(file.Name(), f.checkFooter(file, size))
			_ = file.Close()
		}
		err = errors.Join(err, err2)
	}
	return err
}

func (f *folder) checkFooter(file *os.File, size int64) (err error) {
	defer damaged(&err)
	if _, err := sealAt(file, size); err != nil { // bounds the footer
		return err
	}
	table, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	version, _ := table.Lookup(keyVersion)
	if version != strconv.Itoa(schemaVersion) {
		return nil // reading it says more
	}
	return f.checkManifest(table)
}

// checkManifest refuses a table whose footer names another run.json.
func (f *folder) checkManifest(of *parquet.File) error {
	if got, _ := of.Lookup(keyManifest); got != f.digest {
		return fmt.Errorf("it does not belong to the %s beside it: its footer names that of digest %.12q, and the file has %.12q; %s",
			manifestName, got, f.digest, fixRun)
	}
	return nil
}

// readTable returns the rows of a table and their digest.
func readTable[T any, P record[T]](folder *folder, table string) (rows []T, sum []byte, err error) {
	f, size, err := folder.open(table)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }()
	r, err := newTableReader[T, P](table, f, size)
	if err == nil {
		defer r.close()
		err = folder.checkManifest(r.parquet)
	}
	if err == nil {
		rows, err = r.readAll()
	}
	if err != nil {
		return nil, nil, tableError(f.Name(), err)
	}
	return rows, r.digest.all.sum(), nil
}

// tableError names the file of an error of its content.
func tableError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read ledger: %w", damage(path, err))
}

// open opens the file of a table.
func (f *folder) open(table string) (*os.File, int64, error) {
	path := filepath.Join(f.dir, fileName(table))
	file, size, err := openFile(path, maxFile)
	return file, size, tableError(path, err)
}

// openFile opens a file of at most limit bytes.
func openFile(path string, limit int64) (*os.File, int64, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() > limit {
		err = fmt.Errorf("%d bytes, more than %d", info.Size(), limit)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// readAll returns the rows.
func (r *tableReader[T, P]) readAll() ([]T, error) {
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
	f, size, err := openFile(path, limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data := make([]byte, size)
	_, err = io.ReadFull(f, data)
	return data, err
}
