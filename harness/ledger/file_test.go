package ledger

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/work"
	"github.com/cupel-eval/cupel/internal/testkit"
)

func TestRoundTrip(t *testing.T) {
	for _, n := range []int{0, 1, 3, 3500} { // the last exceeds dictionaryBytes
		dir, rows := t.TempDir(), sampleRows(n)
		require.NoError(t, writeRows(dir, rows))
		got, err := Read(dir)
		require.NoError(t, err)
		require.Equal(t, rows, got, "%d episodes", n)
		require.Equal(t, rows.Digest(), got.Digest())
	}
}

// Null and zero differ also in embedded structs, in which parquet-go's reader loses null.
func TestNullIsNotZero(t *testing.T) {
	zero, one, float := int64(0), int32(0), 0.0
	rows := Rows{Turns: []Turn{
		{Turn: 1},
		{Turn: 2, Tokens: Tokens{In: &zero, Out: &zero, CacheRead: &zero, CacheWrite: &zero, Reasoning: &zero}, CostNanoUSD: &zero, CostReportedNanoUSD: &zero, TTFTUs: &zero, HTTPStatus: &one, Confidence: &float},
		{Turn: 3},
	}, Episodes: []Episode{{}, {Key: Key{Trial: 1}, Tokens: Tokens{In: &zero}}, {Key: Key{Trial: 2}, CostNanoUSD: &zero}}}
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, rows))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, rows, got)
}

func TestExtremeValues(t *testing.T) {
	most, least := int64(math.MaxInt64), int64(math.MinInt64)
	inf := math.Inf(-1)
	rows := Rows{Turns: []Turn{{
		Key: Key{Trial: math.MinInt32, Seed: least}, TsStart: least, TsEnd: most, Tokens: Tokens{In: &most, Out: &least}, Confidence: &inf,
		Violations: []string{"", "", strings.Repeat("é", 100_000)}, RequestDigest: "\x00", Reason: "a\nb",
	}}, Episodes: []Episode{{Key: Key{Trial: math.MinInt32}, Checks: []Check{{}, {}}}, {Answer: strings.Repeat("x", 3<<20)}}}
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, rows))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, rows, got)
}

// Parquet, journal and digest use the same replacement text.
func TestTextThatIsNotUTF8(t *testing.T) {
	bad := "cut \xc3 and \xff\xfe."
	rows := sampleRows(2)
	rows.Episodes[1].ErrorText = bad
	rows.Episodes[1].Checks = []Check{{Name: bad, Passed: true, Detail: bad}}
	rows.Episodes[1].Requests = []work.Request{{Tool: "t", Message: bad, WaitUs: 5}}
	rows.Turns[3].Violations = []string{"fine", bad}
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, rows))
	require.Equal(t, bad, rows.Episodes[1].ErrorText, "Write must not change the rows it is given")
	require.Equal(t, bad, rows.Turns[3].Violations[1])

	got, err := Read(dir)
	require.NoError(t, err)
	const good = "cut \uFFFD and \uFFFD\uFFFD."
	require.Equal(t, good, got.Episodes[1].ErrorText)
	require.Equal(t, []Check{{good, true, good}}, got.Episodes[1].Checks)
	require.Equal(t, []work.Request{{Tool: "t", Message: good, WaitUs: 5}}, got.Episodes[1].Requests)
	require.Equal(t, []string{"fine", good}, got.Turns[3].Violations)
	require.Equal(t, rows.Digest(), got.Digest())

	_, _ = writeJournalIn(t, dir, []EpisodeRows{{Episode: rows.Episodes[1]}})
	recs, err := readJournal(dir)
	require.NoError(t, err)
	require.Equal(t, got.Episodes[1], recs[0].Episode)
}

// Keys that are equal after their conversion to valid UTF-8 have equal digests, because readers
// get the converted ones.
func TestKeysThatAreNotUTF8(t *testing.T) {
	run := func(id, model string) Key { return Key{RunID: id, TaskID: "t", Model: model} }
	rec := EpisodeRows{
		Episode: Episode{Key: run("\xff", "\xff")},
		Turns:   []Turn{{Key: run("\xfe", "\xff")}, {Key: run("\xff", "\xfe"), Turn: 1}, {Key: run("\uFFFD", "\uFFFD"), Turn: 2}},
	}
	dir := t.TempDir()
	totals := writeStream(t, dir, []EpisodeRows{rec})
	writeJournalIn(t, dir, []EpisodeRows{rec})
	recs, err := readJournal(dir)
	require.NoError(t, err)
	got, err := scanAll(dir)
	require.NoError(t, err)
	require.Equal(t, recs, got)
	require.Equal(t, run("\uFFFD", "\uFFFD"), got[0].Turns[1].Key)
	require.Equal(t, totals.Digest, rowsOf(got).Digest())
	require.Equal(t, totals.Digest, rowsOf([]EpisodeRows{rec}).Digest())
}

func TestSameRowsSameBytes(t *testing.T) {
	rows := sampleRows(300)
	want, err := encodeTable(tableTurns, rows.Turns)
	require.NoError(t, err)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		got, err := encodeTable(tableTurns, sampleRows(300).Turns)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), "GOMAXPROCS %d", procs)
	}
}

func TestRowGroupsAndMetadata(t *testing.T) {
	rows := make([]Turn, rowGroupRows+10)
	for i := range rows {
		rows[i].Turn = int32(i)
		for v := range i % 3 {
			rows[i].Violations = append(rows[i].Violations, strconv.Itoa(i*v))
		}
	}
	file, err := encodeTable(tableTurns, rows)
	require.NoError(t, err)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("cupel version %d(build ledger)", schemaVersion), f.Metadata().CreatedBy)
	groups := f.Metadata().RowGroups
	require.Len(t, groups, 2)
	require.EqualValues(t, rowGroupRows, groups[0].NumRows)
	column := groups[1].Columns[13].MetaData
	require.Equal(t, []string{"turn"}, []string(column.PathInSchema))
	require.Equal(t, []byte{0, 64, 0, 0}, column.Statistics.MinValue, "16384, little-endian")
	for key, want := range map[string]string{keyVersion: fmt.Sprint(schemaVersion), keyTable: "turns", keySchema: schemaDigest(schemaText[Turn]())} {
		got, _ := f.Lookup(key)
		require.Equal(t, want, got, key)
	}
	got, err := decodeFile[Turn](tableTurns, file)
	require.NoError(t, err)
	require.Equal(t, rows, got)
}

func TestFreeTextStaysOutOfTheFooter(t *testing.T) {
	secret := strings.Repeat("long answer ", 50)
	file, err := encodeTable(tableEpisodes, []Episode{{Answer: secret, ErrorText: secret, Checks: []Check{{Detail: secret}}}})
	require.NoError(t, err)
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	for _, c := range f.Metadata().RowGroups[0].Columns {
		require.NotContains(t, string(c.MetaData.Statistics.MaxValue), "long answer", "%v", c.MetaData.PathInSchema)
	}
}

// Rows may contain the bytes by which the checksum is found.
func TestSealIsNotFoundInRows(t *testing.T) {
	trap := "\x18\x11" + keySeal + "\x18\x40" + strings.Repeat("0", sealLen)
	rows := []Episode{{Key: Key{RunID: trap}, Answer: trap, ConfigDigest: trap}}
	file, err := encodeTable(tableEpisodes, rows)
	require.NoError(t, err)
	got, err := decodeFile[Episode](tableEpisodes, file)
	require.NoError(t, err)
	require.Equal(t, rows, got)
}

func TestReadRefusesMissing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, sampleRows(2)))
	require.NoError(t, os.Remove(filepath.Join(dir, "turns.parquet")))
	_, err := Read(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "turns.parquet")
	require.NotContains(t, err.Error(), "episodes.parquet")
}

func TestReadRefusesTruncated(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, sampleRows(6)))
	path := filepath.Join(dir, "turns.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	times := testkit.SlowN(50, 200)
	for i := range times {
		require.NoError(t, os.WriteFile(path, whole[:len(whole)*i/times], 0o644))
		requireRefused(t, dir, "turns.parquet", i)
	}
	require.NoError(t, os.WriteFile(path, append(whole, 0), 0o644))
	requireRefused(t, dir, "turns.parquet", "a byte more")
}

func TestReadRefusesFlippedBits(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, sampleRows(6)))
	path := filepath.Join(dir, "episodes.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(7, 7))
	for i := range testkit.SlowN(100, 500) {
		bad := bytes.Clone(whole)
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		require.NoError(t, os.WriteFile(path, bad, 0o644))
		requireRefused(t, dir, "episodes.parquet", i)
	}
}

func requireRefused(t *testing.T, dir, name string, which any) {
	t.Helper()
	rows, err := Read(dir)
	require.ErrorContains(t, err, name, "%v", which)
	require.Equal(t, Rows{}, rows, "%v", which)
}

// A damaged file may have a new checksum, as in an attack. Reading it must return an error or the
// same rows, and must not panic.
func TestDecodeSurvivesResealedDamage(t *testing.T) {
	rows := sampleRows(6).Turns
	whole, err := encodeTable(tableTurns, rows)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(8, 8))
	refused, times := 0, testkit.SlowN(100, 500)
	for i := range times {
		bad := bytes.Clone(whole)
		bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
		if !reseal(bad) {
			refused++
			continue
		}
		got, err := decodeFile[Turn](tableTurns, bad)
		if err != nil {
			refused++
			continue
		}
		require.Equal(t, rows, got, "flip %d", i)
	}
	require.Greater(t, refused, times/2)
}

func reseal(file []byte) bool {
	size := int64(len(file))
	at, err := sealAt(bytes.NewReader(file), size)
	if err != nil {
		return false
	}
	digest, err := fileDigest(bytes.NewReader(file), size, at)
	copy(file[at:], digest)
	return err == nil
}

func TestReadRefusesAnotherSchema(t *testing.T) {
	type older struct {
		RunID string `parquet:"run_id,dict"`
		Trial int64  `parquet:"trial"`
	}
	forge := func(version, digest, table string) []byte {
		var buf bytes.Buffer
		w := parquet.NewGenericWriter[older](&buf, parquet.KeyValueMetadata(keyVersion, version), parquet.KeyValueMetadata(keySchema, digest),
			parquet.KeyValueMetadata(keyTable, table), parquet.KeyValueMetadata(keySeal, sealBlank))
		_, err := w.Write([]older{{"r", 1}})
		require.NoError(t, err)
		require.NoError(t, w.Close())
		require.True(t, reseal(buf.Bytes()))
		return buf.Bytes()
	}
	tests := []struct {
		name string
		file []byte
		want []string
	}{
		{"unknown digest", forge("1000", "abc", "turns"), []string{`version "1000"`, fmt.Sprint("reads version ", schemaVersion), "code_version"}},
		{"claims the digest of other columns", forge(fmt.Sprint(schemaVersion), schemaDigest(schemaText[Turn]()), "turns"), []string{"columns are not those"}},
		{"the same columns, an older version", forge("3", schemaDigest(schemaText[Turn]()), "turns"), []string{`version "3"`, "run again"}},
		{"another table", forge(fmt.Sprint(schemaVersion), "abc", "episodes"), []string{`contains the table "episodes", not "turns"`}},
		{"not Parquet", []byte("PAR1 but nothing else PAR1"), []string{"damaged"}},
		{"empty", nil, []string{"cut short"}},
		{"only magic", []byte("PAR1\x00\x00\x00\x00PAR1"), []string{"damaged"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, writeRows(dir, Rows{}))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "turns.parquet"), tt.file, 0o644))
			_, err := Read(dir)
			require.ErrorContains(t, err, "turns.parquet")
			for _, want := range tt.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestWriteReplacesAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, writeRows(dir, sampleRows(3)))
	require.NoError(t, writeRows(dir, sampleRows(1)))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Len(t, got.Episodes, 1)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 4)

	err = writeRows(filepath.Join(dir, "absent"), Rows{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "absent")

	// A folder has the name of the file: the rename fails, and the temporary file is removed.
	require.NoError(t, os.Remove(filepath.Join(dir, "turns.parquet")))
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "turns.parquet", "x"), 0o755))
	require.ErrorContains(t, writeRows(dir, Rows{}), "turns.parquet")
	entries, err = os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 4)
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Running, m.Status, "its tables are of two runs")
}

func FuzzDecode(f *testing.F) {
	file, err := encodeTable(tableToolCalls, []ToolCall{{}, {Seq: 1}})
	require.NoError(f, err)
	f.Add(file)
	f.Add([]byte("PAR1\x00\x00\x00\x00PAR1"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 || !reseal(file) {
			return
		}
		rows, err := decodeFile[ToolCall](tableToolCalls, file)
		if err != nil {
			return
		}
		again, err := encodeTable(tableToolCalls, rows)
		require.NoError(t, err)
		back, err := decodeFile[ToolCall](tableToolCalls, again)
		require.NoError(t, err)
		require.Equal(t, Rows{ToolCalls: rows}.Digest(), Rows{ToolCalls: back}.Digest())
	})
}
