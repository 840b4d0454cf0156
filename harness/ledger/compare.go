package ledger

import (
	"fmt"
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// Difference is a column in which two rows differ.
type Difference struct {
	// Table is episodes, turns or tool_calls. Row counts from 1 within the episode; 0 means
	// that the numbers of rows differ.
	Table string
	Row   int
	// Column is empty if the numbers of rows differ.
	Column  string
	Was, Is string
}

// String names the place and both values.
func (d Difference) String() string {
	if d.Row == 0 {
		return fmt.Sprintf("%s rows of %s → %s", d.Was, d.Table, d.Is)
	}
	return fmt.Sprintf("%s of row %d of %s: %s → %s", d.Column, d.Row, d.Table, d.Was, d.Is)
}

// Diff compares the rows of two episodes and returns the first difference in the order of
// tables, rows and columns. It ignores run_id and replayed, and treats nil and empty lists as
// equal. Values are truncated to 200 bytes.
func (a EpisodeRows) Diff(b EpisodeRows) (d Difference, same bool) {
	if d, same = diffRows(tableEpisodes, []Episode{a.Episode}, []Episode{b.Episode}); !same {
		return d, same
	}
	if d, same = diffRows(tableTurns, a.Turns, b.Turns); !same {
		return d, same
	}
	return diffRows(tableToolCalls, a.ToolCalls, b.ToolCalls)
}

func diffRows[T any, P record[T]](table string, a, b []T) (Difference, bool) {
	var x, y T
	fx, fy := P(&x).fields(nil), P(&y).fields(nil)
	for i := range min(len(a), len(b)) {
		x, y = a[i], b[i]
		P(&x).key().RunID, P(&x).key().Replayed = "", false
		P(&y).key().RunID, P(&y).key().Replayed = "", false
		for j := range fx {
			if !sameField(fx[j], fy[j]) {
				return Difference{table, i + 1, columnNames[T]()[j], show(fx[j]), show(fy[j])}, false
			}
		}
	}
	if len(a) != len(b) {
		return Difference{Table: table, Was: fmt.Sprint(len(a)), Is: fmt.Sprint(len(b))}, false
	}
	return Difference{}, true
}

// sameField compares what two fields of record.fields point to.
func sameField(a, b any) bool {
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	return x.Kind() == reflect.Slice && x.Len()+y.Len() == 0 || reflect.DeepEqual(a, b)
}

// show formats a value, or null for nil.
func show(field any) string {
	v := reflect.ValueOf(field).Elem()
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return "null"
		}
		v = v.Elem()
	}
	switch v.Interface().(type) {
	case string, []string:
		return fmt.Sprintf("%.200s", fmt.Sprintf("%q", v.Interface()))
	}
	return fmt.Sprintf("%.200s", fmt.Sprintf("%+v", v.Interface()))
}

// columnNames are the columns of a table in the order of record.fields.
func columnNames[T any]() []string {
	var names []string
	for _, f := range parquet.SchemaOf(*new(T)).Fields() {
		names = append(names, f.Name())
	}
	return names
}
