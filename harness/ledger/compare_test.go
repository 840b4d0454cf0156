package ledger

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestColumnNamesAreThoseOfTheFields(t *testing.T) {
	check := func(names []string, row any, fields []any) {
		require.Len(t, names, len(fields))
		at := map[any]string{}
		for _, f := range reflect.VisibleFields(reflect.TypeOf(row).Elem()) {
			if tag, _, ok := strings.Cut(f.Tag.Get("parquet"), ","); ok || tag != "" {
				at[reflect.ValueOf(row).Elem().FieldByIndex(f.Index).Addr().Interface()] = tag
			}
		}
		for i, f := range fields {
			require.Equal(t, at[f], names[i])
		}
	}
	var e Episode
	check(columnNames[Episode](), &e, e.fields(nil))
	var turn Turn
	check(columnNames[Turn](), &turn, turn.fields(nil))
	var call ToolCall
	check(columnNames[ToolCall](), &call, call.fields(nil))
}

// TestDiffFindsEveryColumn changes one column at a time.
func TestDiffFindsEveryColumn(t *testing.T) {
	one := EpisodeRows{Episode: Episode{}, Turns: make([]Turn, 2), ToolCalls: make([]ToolCall, 1)}
	_, same := one.Diff(one)
	require.True(t, same)

	turn := Turn{}
	for i, f := range turn.fields(nil) {
		v := reflect.ValueOf(f).Elem()
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		switch v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Int32, reflect.Int64:
			v.SetInt(7)
		case reflect.Pointer:
			v.Set(reflect.New(v.Type().Elem()))
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		other := one
		other.Turns = []Turn{{}, turn}
		d, same := one.Diff(other)
		name := columnNames[Turn]()[i]
		if name == "run_id" || name == "replayed" {
			require.True(t, same, name)
		} else {
			require.False(t, same, name)
			require.Equal(t, "turns", d.Table)
			require.Equal(t, 2, d.Row)
			require.Equal(t, name, d.Column)
			require.NotEqual(t, d.Was, d.Is)
		}
		v.Set(before)
	}
}

func TestDiffWords(t *testing.T) {
	a := EpisodeRows{Episode: Episode{Status: "answered"}, Turns: make([]Turn, 2)}
	b := a
	b.Episode.Status = "stopped"
	d, _ := a.Diff(b)
	require.Equal(t, `status of row 1 of episodes: "answered" → "stopped"`, d.String())
	cost := int64(5)
	b = a
	b.Episode.CostNanoUSD = &cost
	d, _ = a.Diff(b)
	require.Equal(t, `cost_nanousd of row 1 of episodes: null → 5`, d.String())
	b = a
	b.Turns = b.Turns[:1]
	d, same := a.Diff(b)
	require.False(t, same)
	require.Equal(t, "2 rows of turns → 1", d.String())
	a.Turns[0].Violations, b.Turns = nil, []Turn{{Violations: []string{}}, {}}
	_, same = a.Diff(b)
	require.True(t, same)
}

func TestCompareIsLedgerOrder(t *testing.T) {
	keys := []Key{{TaskID: "a"}, {TaskID: "a", Candidate: "b", Trial: 1}, {TaskID: "a", Candidate: "b", Trial: 2}, {TaskID: "a", Candidate: "b-c", Trial: 1}, {TaskID: "b"}}
	for i, a := range keys {
		for j, b := range keys {
			require.Equal(t, sign(i-j), a.Compare(b))
		}
	}
}

func sign(n int) int { return max(-1, min(1, n)) }
