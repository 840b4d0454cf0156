package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/sealed"
	"github.com/parquet-go/parquet-go"
)

// maxFile bounds a Parquet file.
const maxFile = 4 << 30

// Read reads the three Parquet files of dir into memory. It returns a *CorruptError for a file
// that is missing (fs.ErrNotExist), truncated, changed in any byte, or of another schema or run
// than run.json. Empty lists are nil.
func Read(dir string) (rows Rows, err error) {
	f, err := openFolder(dir)
	if err != nil {
		return Rows{}, err
	}
	for rec, err := range f.episodes {
		if err != nil {
			return Rows{}, err
		}
		rows.Episodes = append(rows.Episodes, rec.Episode)
		rows.Turns = append(rows.Turns, rec.Turns...)
		rows.ToolCalls = append(rows.ToolCalls, rec.ToolCalls...)
	}
	return rows, nil
}

// folder is a run folder with its manifest.
type folder struct {
	dir      string
	manifest manifest.Manifest
	digest   string // of run.json
}

// openFolder reads the manifest of a run that has a ledger.
func openFolder(dir string) (*folder, error) {
	m, digest, err := manifest.ReadWithDigest(dir)
	f := &folder{dir, m, digest}
	if err == nil {
		err = f.checkEnded()
	}
	return f, err
}

func (f *folder) checkEnded() error {
	if f.manifest.Status == manifest.Running {
		return fmt.Errorf("read ledger in %s: run %s has not ended, so it has no ledger", f.dir, f.manifest.RunID)
	}
	return nil
}

// checkRows rejects rows whose digest is not the manifest's.
func (f *folder) checkRows(digest string) error {
	if digest != f.manifest.LedgerDigest {
		return fmt.Errorf("read ledger in %s: %w", f.dir, &sealed.CorruptError{Path: filepath.Join(f.dir, manifest.File),
			Err: errors.New("its ledger_digest does not match the rows; " + sealed.Fix)})
	}
	return nil
}

// checkTables rejects tables that are missing or whose footers name another manifest. A run that
// has not ended has no tables.
func (f *folder) checkTables() (err error) {
	if f.manifest.Status == manifest.Running {
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
	table, err := openParquet(file, size)
	if err != nil {
		return err
	}
	version, _ := table.Lookup(keyVersion)
	if version != strconv.Itoa(schemaVersion) {
		return nil // reading returns the better error
	}
	return f.checkManifest(table)
}

// checkManifest rejects a table whose footer names another run.json.
func (f *folder) checkManifest(of *parquet.File) error {
	if got, _ := of.Lookup(keyManifest); got != f.digest {
		return fmt.Errorf("it does not belong to the %s beside it: its footer names that of digest %.12q, and the file has %.12q; %s",
			manifest.File, got, f.digest, sealed.Fix)
	}
	return nil
}

// tableError adds the path of the table to an error about its content.
func tableError(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read ledger: %w", sealed.Damage(path, err))
}

// open opens the file of a table.
func (f *folder) open(table string) (*os.File, int64, error) {
	path := filepath.Join(f.dir, fileName(table))
	file, size, err := sealed.OpenFile(path, maxFile)
	return file, size, tableError(path, err)
}

// OpenTable opens the Parquet file of a table (episodes, turns or tool_calls) of the run in dir,
// which must have ended, for readers of single columns. It checks the checksum, schema and size
// of the untrusted file and that it names this run.json; a failed check is a *CorruptError. It
// does not check the pages, nor that the rows have the digest in run.json, as Read and Open do.
// The caller closes file.
func OpenTable(dir, table string) (file *os.File, content *parquet.File, err error) {
	run, err := openFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	file, size, err := run.open(table)
	if err != nil {
		return nil, nil, err
	}
	if content, err = run.openTable(file, size, table); err != nil {
		_ = file.Close()
		return nil, nil, tableError(file.Name(), err)
	}
	return file, content, nil
}

func (f *folder) openTable(file *os.File, size int64, table string) (content *parquet.File, err error) {
	defer damaged(&err)
	if err := verifySeal(file, size); err != nil {
		return nil, err
	}
	if content, err = openParquet(file, size); err != nil {
		return nil, err
	}
	switch table {
	case tableEpisodes:
		err = checkSchema[Episode](content, table)
	case tableTurns:
		err = checkSchema[Turn](content, table)
	default:
		err = checkSchema[ToolCall](content, table)
	}
	if err = cmp.Or(err, f.checkManifest(content)); err != nil {
		return nil, err
	}
	if n := content.NumRows(); n < 0 || n > maxRows {
		return nil, fmt.Errorf("claims %d rows, more than %d", n, maxRows)
	}
	return content, checkCodecs(content)
}

// checkSchema rejects columns that parquet-go would silently convert or omit.
func checkSchema[T any](f *parquet.File, table string) error {
	if got, _ := f.Lookup(keyTable); got != table {
		return fmt.Errorf("contains the table %q, not %q", got, table)
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
