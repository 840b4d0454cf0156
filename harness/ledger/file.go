package ledger

// Write writes the three Parquet files into dir, each atomically.
func Write(dir string, rows Rows) error { panic("skeleton") }

// Read reads the three Parquet files of dir. It refuses a file whose schema
// digest it does not know.
func Read(dir string) (Rows, error) { panic("skeleton") }

// Digest is the SHA-256 hex over all rows except the columns run_id and replayed.
func Digest(rows Rows) string { panic("skeleton") }

// WriteManifest and ReadManifest handle dir/run.json.
func WriteManifest(dir string, m Manifest) error { panic("skeleton") }

// ReadManifest reads dir/run.json.
func ReadManifest(dir string) (Manifest, error) { panic("skeleton") }
