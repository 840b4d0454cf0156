package ledger

import (
	"crypto/sha256"
	"fmt"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

const (
	// rowGroupRows bounds a row group, which a reader skips by its statistics and a writer
	// buffers in compressed form.
	rowGroupRows = 16 << 10
	// rowGroupBytes bounds the encoded rows of a row group.
	rowGroupBytes = 32 << 20
	// batchRows is the number of rows per write. Pages and row groups end only after complete
	// batches, so that the bytes of a file depend only on its rows.
	batchRows = 64
	// batchBytes bounds a batch of unusually large rows.
	batchBytes = 1 << 20
	// dictionaryBytes bounds the dictionary of a column in a row group. A column with mostly
	// different values continues in plain encoding.
	dictionaryBytes = 1 << 20
	// maxRows bounds a table, written or read.
	maxRows = 16 << 20
)

// tableWriter writes one table.
type tableWriter[T any, P record[T]] struct {
	table  string
	out    *sealWriter
	to     *parquet.GenericWriter[T]
	digest tableDigester[T, P]
	batch  []T
	rows   int // in total
	size   int // of the batch
	group  int // bytes in the row group
	inRow  int // rows in the row group
}

// newTableWriter writes a table to a file, sorted by the key and the columns given.
func newTableWriter[T any, P record[T]](table string, to file, sort ...string) *tableWriter[T, P] {
	out := &sealWriter{to: to, hash: sha256.New()}
	return &tableWriter[T, P]{
		table: table, out: out, batch: make([]T, 0, batchRows),
		to: parquet.NewGenericWriter[T](out, append(writerOptions(sort...),
			parquet.KeyValueMetadata(keyVersion, strconv.Itoa(schemaVersion)),
			parquet.KeyValueMetadata(keySchema, schemaDigest(schemaText[T]())),
			parquet.KeyValueMetadata(keyTable, table),
			parquet.KeyValueMetadata(keyRows, ""), // set by finish
			parquet.KeyValueMetadata(keyManifest, ""),
			parquet.KeyValueMetadata(keySeal, sealBlank),
		)...),
	}
}

func writerOptions(sort ...string) []parquet.WriterOption {
	columns := []parquet.SortingColumn{parquet.Ascending("task_id"), parquet.Ascending("candidate"), parquet.Ascending("trial")}
	for _, name := range sort {
		columns = append(columns, parquet.Ascending(name))
	}
	return []parquet.WriterOption{
		parquet.CreatedBy("cupel", strconv.Itoa(schemaVersion), "ledger"),
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroupRows),
		parquet.DictionaryMaxBytes(dictionaryBytes),
		parquet.SortingWriterConfig(parquet.SortingColumns(columns...)),
		// Statistics of free text would copy complete answers into the footer.
		parquet.SkipPageBounds("answer"), parquet.SkipPageStatistics("answer"),
		parquet.SkipPageBounds("error_text"), parquet.SkipPageStatistics("error_text"),
		parquet.SkipPageBounds("checks", "list", "element", "detail"),
		parquet.SkipPageStatistics("checks", "list", "element", "detail"),
	}
}

// add adds rows without modifying them.
func (w *tableWriter[T, P]) add(rows ...T) (err error) {
	defer w.failed(&err)
	if w.rows += len(rows); w.rows > maxRows {
		return fmt.Errorf("%d rows, more than %d: run fewer episodes at once", w.rows, maxRows)
	}
	for i := range rows {
		w.batch = append(w.batch, rows[i])
		size, ok := w.digest.add(&rows[i])
		if !ok {
			clean[T, P](&w.batch[len(w.batch)-1])
		}
		if w.size += size; len(w.batch) == batchRows || w.size >= batchBytes {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the batch and ends a full row group.
func (w *tableWriter[T, P]) flush() error {
	if _, err := w.to.Write(w.batch); err != nil {
		return err
	}
	w.inRow += len(w.batch)
	w.group += w.size
	clear(w.batch)
	w.batch, w.size = w.batch[:0], 0
	if w.inRow < rowGroupRows && w.group < rowGroupBytes {
		return nil
	}
	w.inRow, w.group = 0, 0
	return w.to.Flush()
}

// finish writes the footer, with the digests of run.json and of the file.
func (w *tableWriter[T, P]) finish(manifest string) (err error) {
	defer w.failed(&err)
	if err := w.flush(); err != nil {
		return err
	}
	w.to.SetKeyValueMetadata(keyRows, w.digest.sumAll())
	w.to.SetKeyValueMetadata(keyManifest, manifest)
	if err := w.to.Close(); err != nil {
		return err
	}
	return w.out.seal()
}

// failed adds the name of the table to an error, and turns a panic of parquet-go into one.
func (w *tableWriter[T, P]) failed(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v", r)
	}
	if *err != nil {
		*err = fmt.Errorf("write %s: %w", fileName(w.table), *err)
	}
}
