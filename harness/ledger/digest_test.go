package ledger

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The digest is the same in every process and version, because otherwise every replay of an older
// run would differ from it.
func TestDigestIsPinned(t *testing.T) {
	require.Equal(t, "1a03c02fb531d7e1ce353b2f20711c79af2b66730d6de865fb130734973ccd2c", Rows{}.Digest(), "SHA-256 over three SHA-256 of nothing")
	require.Equal(t, "4925c314e417b70ae3570368d0764575a09a195522a62639db9c2a2743e0e480", sampleRows(4).Digest())
}

func TestEveryFieldChangesTheDigest(t *testing.T) {
	testFieldsChangeDigest(t, func(row Episode) Rows { return Rows{Episodes: []Episode{row}} })
	testFieldsChangeDigest(t, func(row Turn) Rows { return Rows{Turns: []Turn{row}} })
	testFieldsChangeDigest(t, func(row ToolCall) Rows { return Rows{ToolCalls: []ToolCall{row}} })
}

// tableDigest returns the digest in the footer of a table.
func tableDigest[T any, P record[T]](rows []T) string {
	var d tableDigester[T, P]
	addAll(&d, rows)
	return d.sumAll()
}

func testFieldsChangeDigest[T any, P record[T]](t *testing.T, rows func(T) Rows) {
	var row T
	before := rows(row).Digest()
	whole := tableDigest[T, P]([]T{row})
	seen := map[string]string{before: "the zero row"}
	leaves(reflect.ValueOf(&row).Elem(), func(name string, v reflect.Value) {
		for i, value := range changes(v.Type()) {
			v.Set(value)
			got := rows(row).Digest()
			if name == "RunID" || name == "Replayed" {
				require.Equal(t, before, got, "%T.%s", row, name)
			} else {
				require.Empty(t, seen[got], "%T.%s, change %d", row, name, i)
				seen[got] = name
			}
			table := tableDigest[T, P]([]T{row})
			require.NotEqual(t, whole, table, "%T.%s", row, name)
		}
		v.SetZero()
	})
}

// changes returns values other than zero. All must have different digests.
func changes(typ reflect.Type) []reflect.Value {
	zero := reflect.Zero(typ)
	switch typ.Kind() {
	case reflect.Pointer:
		out := []reflect.Value{reflect.New(typ.Elem())} // a pointer to zero is not null
		for _, v := range changes(typ.Elem()) {
			p := reflect.New(typ.Elem())
			p.Elem().Set(v)
			out = append(out, p)
		}
		return out
	case reflect.Slice:
		out := []reflect.Value{reflect.Append(zero, reflect.Zero(typ.Elem())), reflect.Append(zero, reflect.Zero(typ.Elem()), reflect.Zero(typ.Elem()))}
		for _, v := range changes(typ.Elem()) {
			out = append(out, reflect.Append(zero, v))
		}
		return out
	case reflect.Struct:
		var out []reflect.Value
		for i := range typ.NumField() {
			v := reflect.New(typ).Elem()
			v.Field(i).Set(changes(typ.Field(i).Type)[0])
			out = append(out, v)
		}
		return out
	default:
		return map[reflect.Kind][]reflect.Value{
			reflect.String:  {reflect.ValueOf("a"), reflect.ValueOf("a\x00")},
			reflect.Bool:    {reflect.ValueOf(true)},
			reflect.Int32:   {reflect.ValueOf(int32(1)), reflect.ValueOf(int32(-1)), reflect.ValueOf(int32(256))},
			reflect.Int64:   {reflect.ValueOf(int64(1)), reflect.ValueOf(int64(-1)), reflect.ValueOf(int64(1) << 40)},
			reflect.Float64: {reflect.ValueOf(0.5), reflect.ValueOf(-0.5)},
		}[typ.Kind()]
	}
}

func TestDigestsOfSimilarRowsDiffer(t *testing.T) {
	rows := sampleRows(3)
	swapped := Rows{Episodes: slices.Clone(rows.Episodes), Turns: rows.Turns, ToolCalls: rows.ToolCalls}
	swapped.Episodes[0], swapped.Episodes[1] = swapped.Episodes[1], swapped.Episodes[0]
	tests := []struct {
		name string
		a, b Rows
	}{
		{"order of rows", rows, swapped},
		{"text moved between columns", Rows{Turns: []Turn{{Role: "ab", Kind: "c"}}}, Rows{Turns: []Turn{{Role: "a", Kind: "bc"}}}},
		{"text moved between elements", Rows{Turns: []Turn{{Violations: []string{"ab", "c"}}}}, Rows{Turns: []Turn{{Violations: []string{"a", "bc"}}}}},
		{"element moved between lists", Rows{Turns: []Turn{{Violations: []string{"a"}}}}, Rows{Turns: []Turn{{Warnings: []string{"a"}}}}},
		{"a zero row more", Rows{Turns: make([]Turn, 1)}, Rows{Turns: make([]Turn, 2)}},
		{"row of another table", Rows{Turns: make([]Turn, 1)}, Rows{ToolCalls: make([]ToolCall, 1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { require.NotEqual(t, tt.a.Digest(), tt.b.Digest()) })
	}
	nilList, emptyList := Rows{Turns: []Turn{{}}}, Rows{Turns: []Turn{{Violations: []string{}}}}
	require.Equal(t, nilList.Digest(), emptyList.Digest(), "nil and empty lists are stored alike")
}
