// Package column reads single columns of the Parquet tables of a run, one row group at a time,
// for computations on few columns of many rows. Package ledger reads complete rows.
package column

import (
	"reflect"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Kind is the type of a column for computations.
type Kind int

// The kinds of columns. Lists cannot be read.
const (
	Text   Kind = iota + 1
	Bool        // true or false
	Number      // whole numbers and fractions
	Time        // microseconds since the Unix epoch
	List
)

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
}

// Scores is the table of what scorers and judges found, a row each. It has no file of its own:
// the rows are in the episodes, where Rows finds them.
const Scores = "scores"

// Labels is the table of the verdicts of people, like Scores.
const Labels = "labels"

// labelRow is a row of Labels. No other table has its columns, so that a query need not name it.
// Automatic is null if the check has no automatic verdict.
type labelRow struct {
	ledger.Key
	Check     string   `parquet:"label_check,dict"`
	Labeller  string   `parquet:"labeller,dict"`
	Label     bool     `parquet:"label"`
	Score     *float64 `parquet:"label_score,optional"`
	Automatic *bool    `parquet:"automatic,optional"`
}

// scoreRow is a row of Scores.
type scoreRow struct {
	ledger.Key
	Check   string   `parquet:"check,dict"`
	Score   *float64 `parquet:"score,optional"`
	Pass    bool     `parquet:"pass"`
	Scorer  string   `parquet:"scorer,dict"`
	AtLeast *float64 `parquet:"at_least,optional"`
}

// tableRows are the types of the rows of each table, in the order of the digest.
var tableRows = []struct {
	name string
	row  reflect.Type
}{
	{"episodes", reflect.TypeFor[ledger.Episode]()}, {"turns", reflect.TypeFor[ledger.Turn]()}, {"tool_calls", reflect.TypeFor[ledger.ToolCall]()},
	{Scores, reflect.TypeFor[scoreRow]()}, {Labels, reflect.TypeFor[labelRow]()},
}

// InEpisodes reports whether a table has no file of its own, because its rows are in the episodes.
func InEpisodes(table string) bool { return table == Scores || table == Labels }

// Tables returns the names of the tables that have files, in the order of the digest.
func Tables() (names []string) {
	for _, t := range tableRows {
		if !InEpisodes(t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// rowType returns the type of the rows of a table; nil if the table is unknown.
func rowType(table string) reflect.Type {
	for _, t := range tableRows {
		if t.name == table {
			return t.row
		}
	}
	return nil
}

// Of returns the columns of a table in the order of its schema, and none if the table is
// unknown.
func Of(table string) (list []Column) {
	row := rowType(table)
	if row == nil {
		return nil
	}
	for _, f := range parquet.SchemaOf(reflect.Zero(row).Interface()).Fields() {
		list = append(list, Column{Name: f.Name(), Kind: kindOf(f)})
	}
	return list
}

func kindOf(f parquet.Field) Kind {
	if !f.Leaf() || f.Repeated() {
		return List
	}
	switch t := f.Type(); t.Kind() {
	case parquet.Boolean:
		return Bool
	case parquet.ByteArray:
		return Text
	case parquet.Int64:
		if l := t.LogicalType(); l != nil {
			if _, ok := l.Value.(*format.TimestampType); ok {
				return Time
			}
		}
	}
	return Number
}

// Vector is one column of consecutive rows. The column's kind decides whether Numbers, Bools or
// Index has an element for each row; the others are empty.
type Vector struct {
	// Numbers are those of a NumberColumn or TimeColumn, with 0 for a missing value.
	Numbers []float64
	Bools   []bool
	// Row i of a TextColumn is Words[Index[i]]. Words may contain duplicates and texts that no
	// row has.
	Index []int32
	Words []string
	// Nulls marks the rows without a value; nil if all rows have one.
	Nulls []bool
}

// maxExact is the largest number up to which float64 represents every integer.
const maxExact = 1 << 53

// Rows converts the rows of an episode into vectors. It is not safe for concurrent use.
type Rows struct {
	table   string
	at      [][]int // of the columns among the fields of a row
	vectors []Vector
}

// NewRows returns a source of the named columns, which must be columns of the table and not
// lists.
func NewRows(table string, columns []string) *Rows {
	r := &Rows{table: table, vectors: make([]Vector, len(columns))}
	fields := reflect.VisibleFields(rowType(table))
	for _, name := range columns {
		i := slices.IndexFunc(fields, func(f reflect.StructField) bool {
			column, _, _ := strings.Cut(f.Tag.Get("parquet"), ",")
			return column == name
		})
		r.at = append(r.at, fields[i].Index)
	}
	return r
}

// Set returns the number of rows of the episode in the table, and their columns, which are valid
// until the next call. ok is false if a number is greater than 2⁵³, infinite or NaN, so that
// results would be wrong.
func (r *Rows) Set(rec *ledger.EpisodeRows) (rows int, vectors []Vector, ok bool) {
	for i := range r.vectors {
		r.vectors[i].clear()
	}
	ok = true
	switch r.table {
	case "episodes":
		rows, ok = 1, r.add(&rec.Episode)
	case "turns":
		for i := range rec.Turns {
			rows, ok = rows+1, r.add(&rec.Turns[i]) && ok
		}
	case "tool_calls":
		for i := range rec.ToolCalls {
			rows, ok = rows+1, r.add(&rec.ToolCalls[i]) && ok
		}
	case Scores:
		for _, s := range rec.Episode.Scores {
			rows, ok = rows+1, r.add(&scoreRow{rec.Episode.Key, s.Name, s.Score, s.Pass, s.Digest, s.AtLeast}) && ok
		}
	case Labels:
		for _, l := range rec.Episode.Labels {
			row := labelRow{rec.Episode.Key, l.Check, l.Labeller, l.Pass, l.Score, nil}
			if pass, known := rec.Episode.Automatic(l.Check); known {
				row.Automatic = &pass
			}
			rows, ok = rows+1, r.add(&row) && ok
		}
	}
	return rows, r.vectors, ok
}

// add appends a row by its pointer, and returns false if a number is not exact.
func (r *Rows) add(row any) bool {
	v, ok := reflect.ValueOf(row).Elem(), true
	for i, at := range r.at {
		ok = r.vectors[i].add(v.FieldByIndex(at).Addr().Interface()) && ok
	}
	return ok
}

// clear empties the vector and reuses its memory.
func (v *Vector) clear() {
	v.Numbers, v.Bools, v.Index, v.Words, v.Nulls = v.Numbers[:0], v.Bools[:0], v.Index[:0], v.Words[:0], v.Nulls[:0]
}

// add appends the value of a field, and returns false if it is not exact.
func (v *Vector) add(field any) bool {
	switch p := field.(type) {
	case *string:
		v.Index = append(v.Index, int32(len(v.Words)))
		v.Words = append(v.Words, *p)
	case *bool:
		v.Bools = append(v.Bools, *p)
	case *int32:
		v.Numbers = append(v.Numbers, float64(*p))
	case *int64:
		v.Numbers = append(v.Numbers, float64(*p))
	case **bool:
		v.Bools, v.Nulls = append(v.Bools, *p != nil && **p), append(v.Nulls, *p == nil)
	case **int32:
		addOptional(v, *p)
	case **int64:
		addOptional(v, *p)
	case **float64:
		addOptional(v, *p)
	}
	n := len(v.Numbers)
	return n == 0 || v.Numbers[n-1] >= -maxExact && v.Numbers[n-1] <= maxExact
}

func addOptional[N int32 | int64 | float64](v *Vector, p *N) {
	x := N(0)
	if p != nil {
		x = *p
	}
	v.Numbers, v.Nulls = append(v.Numbers, float64(x)), append(v.Nulls, p == nil)
}
