package column

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/stretchr/testify/require"
)

// sample returns n episodes of five turns and five tool calls, with values that vary.
func sample(n int) []ledger.EpisodeRows {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	recs := make([]ledger.EpisodeRows, n)
	for i := range recs {
		rec := &recs[i]
		rec.Turns, rec.ToolCalls = make([]ledger.Turn, 5), make([]ledger.ToolCall, 5)
		vary(r, reflect.ValueOf(rec).Elem())
		key := &rec.Episode.Key
		key.TaskID, key.Candidate, key.Trial = fmt.Sprintf("task-%06d", i/20), fmt.Sprint("candidate-", i/5%4), int32(i%5+1)
		key.Seed = 1<<60 + int64(i)
		for j := range rec.Turns {
			rec.Turns[j].Key, rec.Turns[j].Turn = *key, int32(j+1)
			rec.ToolCalls[j].Key, rec.ToolCalls[j].Seq = *key, int32(j+1)
		}
	}
	return recs
}

// vary sets a value and everything in it. A third of the pointers stay nil.
func vary(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			vary(r, v.Field(i))
		}
	case reflect.Slice:
		for i := range v.Len() {
			vary(r, v.Index(i))
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			vary(r, v.Elem())
		}
	case reflect.String:
		v.SetString(fmt.Sprint("Zähler ", r.IntN(100)))
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Float64:
		v.SetFloat(r.Float64())
	default:
		v.SetInt(r.Int64N(1 << 31))
	}
}

// writeSample writes the run folder of some episodes.
func writeSample(t *testing.T, recs []ledger.EpisodeRows) (dir string) {
	dir = t.TempDir()
	w, err := ledger.NewWriter(dir)
	require.NoError(t, err)
	defer w.Abort()
	for _, rec := range recs {
		require.NoError(t, w.Append(rec))
	}
	_, err = w.Close(func(sum manifest.Totals) (manifest.Manifest, error) {
		m := manifest.Manifest{Format: manifest.Format, Status: "complete"}
		m.SetTotals(sum)
		return m, nil
	})
	require.NoError(t, err)
	return dir
}

// textRows writes vectors as text, row by row.
func textRows(rows int, vectors []Vector) []string {
	var out []string
	var row []byte
	for i := range rows {
		row = row[:0]
		for _, v := range vectors {
			switch {
			case v.Nulls != nil && v.Nulls[i]:
				row = append(row, "null"...)
			case len(v.Bools) > 0:
				row = strconv.AppendBool(row, v.Bools[i])
			case len(v.Index) > 0:
				row = append(row, v.Words[v.Index[i]]...)
			default:
				row = strconv.AppendFloat(row, v.Numbers[i], 'g', -1, 64)
			}
			row = append(row, '|')
		}
		out = append(out, string(row))
	}
	return out
}

// Every column of every table has the values of the written rows.
func TestColumnFileReadsWhatWasWritten(t *testing.T) {
	recs := sample(3500) // 17,500 turns are two row groups
	dir := writeSample(t, recs)
	for _, table := range Tables() {
		t.Run(table, func(t *testing.T) {
			var names []string
			for _, c := range Of(table) {
				if c.Kind != List && c.Name != "seed" { // which is 64 bits wide
					names = append(names, c.Name)
				}
			}
			want, source := []string{}, NewRows(table, names)
			for i := range recs {
				rows, vectors, ok := source.Set(&recs[i])
				require.True(t, ok)
				want = append(want, textRows(rows, vectors)...)
			}
			c, err := Open(dir, table, names)
			require.NoError(t, err)
			got, vectors := []string{}, make([]Vector, len(names))
			if table == "turns" {
				require.Equal(t, 2, c.Groups())
			}
			for g := range c.Groups() {
				require.NoError(t, c.Read(g, vectors))
				got = append(got, textRows(c.Rows(g), vectors)...)
				requireWithin(t, c, g, vectors)
			}
			require.NoError(t, c.Close())
			require.Equal(t, want, got)
		})
	}
}

// requireWithin checks the values of a row group against its bounds.
func requireWithin(t *testing.T, c *File, group int, vectors []Vector) {
	known := 0
	within := func(ok bool, column int) {
		if !ok {
			t.Fatalf("a value of %s is not within its bounds", c.names[column])
		}
	}
	for i, v := range vectors {
		b := c.Bounds(group, i)
		for j := range c.Rows(group) {
			switch {
			case v.Nulls != nil && v.Nulls[j], !b.Known:
			case len(v.Index) > 0:
				w := v.Words[v.Index[j]]
				within(b.First <= w && w <= b.Last, i)
			case len(v.Numbers) > 0:
				within(b.Low <= v.Numbers[j] && v.Numbers[j] <= b.High, i)
			}
		}
		if b.Known {
			known++
		}
	}
	require.Greater(t, known, len(vectors)/2)
}

func TestColumns(t *testing.T) {
	require.Nil(t, Of("other"))
	require.Equal(t, []string{"episodes", "turns", "tool_calls"}, Tables())
	kinds := map[string]Kind{}
	for _, c := range Of("turns") {
		kinds[c.Name] = c.Kind
	}
	for name, want := range map[string]Kind{
		"role": Text, "thrash": Bool, "turn": Number, "ts_start": Time, "ttft_us": Number, "confidence": Number, "violations": List,
	} {
		require.Equal(t, want, kinds[name])
	}
	require.Len(t, Of("episodes"), 59)
}

func TestRowVectorsRefusesInexactNumbers(t *testing.T) {
	rec := ledger.EpisodeRows{Episode: ledger.Episode{Key: ledger.Key{Seed: maxExact + 2}}}
	_, _, ok := NewRows("episodes", []string{"seed"}).Set(&rec)
	require.False(t, ok)
	rec.Episode.Seed = maxExact
	rows, vectors, ok := NewRows("episodes", []string{"seed"}).Set(&rec)
	require.True(t, ok)
	require.Equal(t, 1, rows)
	require.Equal(t, []float64{maxExact}, vectors[0].Numbers)
}

// The error for a value that is not finite names file and column.
func TestColumnsThatAreNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		recs := sample(50)
		recs[1].Turns[2].Confidence = &bad
		dir := writeSample(t, recs)
		c, err := Open(dir, "turns", []string{"turn", "confidence"})
		require.NoError(t, err)
		err = c.Read(0, make([]Vector, 2))
		require.ErrorContains(t, err, "turns.parquet")
		require.ErrorContains(t, err, "confidence: it has a value that is not a finite number")
		require.NoError(t, c.Close())
		_, _, ok := NewRows("turns", []string{"confidence"}).Set(&recs[1])
		require.False(t, ok)
	}
}

func TestOpenColumnsRefuses(t *testing.T) {
	dir := writeSample(t, sample(50))
	path := filepath.Join(dir, "turns.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	tests := []struct {
		name, table, column string
		change              func([]byte) []byte
		want                string
	}{
		{"a list", "turns", "violations", nil, `no column "violations"`},
		{"an unknown column", "turns", "nothing", nil, `no column "nothing"`},
		{"a number beyond 2^53", "turns", "seed", nil, "beyond 2^53"},
		{"another table", "turns", "role", func([]byte) []byte {
			other, err := os.ReadFile(filepath.Join(dir, "episodes.parquet"))
			require.NoError(t, err)
			return other
		}, `contains the table "episodes"`},
		{"cut short", "turns", "role", func(b []byte) []byte { return b[:len(b)/2] }, "cut short"},
		{"empty", "turns", "role", func([]byte) []byte { return nil }, "cut short"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			data := whole
			if tt.change != nil {
				data = tt.change(whole)
			}
			require.NoError(t, os.WriteFile(path, data, 0o644))
			c, err := Open(dir, tt.table, []string{tt.column})
			if err == nil {
				err = c.Read(0, make([]Vector, 1))
				require.NoError(t, c.Close())
			}
			require.ErrorContains(t, err, tt.want)
			require.ErrorContains(t, err, "turns.parquet")
		})
	}
	_, err = Open(t.TempDir(), "turns", nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// A changed byte gives an error or other rows, not a panic.
func TestColumnFileDamaged(t *testing.T) {
	dir := writeSample(t, sample(30))
	path := filepath.Join(dir, "turns.parquet")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	names := []string{"role", "duration_us", "ttft_us", "thrash", "action_id", "confidence"}
	refused := 0
	for at := 0; at < len(whole); at += 1 + len(whole)/997 {
		data := append([]byte(nil), whole...)
		data[at] ^= 0x55
		require.NoError(t, os.WriteFile(path, data, 0o644))
		c, err := Open(dir, "turns", names)
		if err == nil {
			for g := range c.Groups() {
				if err = c.Read(g, make([]Vector, len(names))); err != nil {
					break
				}
			}
			require.NoError(t, c.Close())
		}
		if err != nil {
			refused++
		}
	}
	require.Positive(t, refused)
}
