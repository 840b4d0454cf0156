package ledger

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/parquet-go/parquet-go"
)

// schemaVersion counts the changes to the columns of any table, the order of rows, their digests
// and the journal. Parquet files and journal frames contain it.
const schemaVersion = 15

// Keys of the file metadata. keySeal has the digest of the file, see seal.
const (
	keyVersion  = "cupel.schema.version"
	keySchema   = "cupel.schema.digest"
	keyTable    = "cupel.table"
	keyRows     = "cupel.rows.sha256"
	keyManifest = "cupel.manifest.sha256"
	keySeal     = "cupel.file.sha256"
)

const (
	tableEpisodes  = "episodes"
	tableTurns     = "turns"
	tableToolCalls = "tool_calls"
)

// tables lists the names of all tables in the order of the digest.
var tables = [...]string{tableEpisodes, tableTurns, tableToolCalls}

// fileName is the file of a table in the run folder.
func fileName(table string) string { return table + ".parquet" }

// schemaText returns the canonical text of a schema: names, order, types and nesting.
func schemaText[T any]() string { return parquet.SchemaOf(*new(T)).String() }

func schemaDigest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
