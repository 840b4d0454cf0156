package ledger

import "github.com/parquet-go/parquet-go"

// column stores the values of one leaf column in the row being read. Only a list has more than
// one value per row; an empty list has one null.
type column interface {
	reset()
	set(parquet.Value)
}

// columnsOf returns the leaf columns of a row by index. fields are those of record.fields.
func columnsOf(fields []any) []column {
	var out []column
	for _, f := range fields {
		switch p := f.(type) {
		case *string:
			out = append(out, &stringColumn{to: p})
		case *[]string:
			out = append(out, list{p})
		default:
			if r := recordsOf(f); r != nil {
				out = append(out, r.columns()...)
			} else {
				out = append(out, scalar{f})
			}
		}
	}
	return out
}

func text(v parquet.Value) string { return string(v.ByteArray()) }

// stringColumn reuses the previous string, because most columns repeat it.
type stringColumn struct {
	to   *string
	last string
}

func (c *stringColumn) reset() {}

func (c *stringColumn) set(v parquet.Value) {
	if b := v.ByteArray(); string(b) != c.last {
		c.last = string(b)
	}
	*c.to = c.last
}

type scalar struct{ to any }

func (c scalar) reset()              {}
func (c scalar) set(v parquet.Value) { setScalar(c.to, v) }

// setScalar sets what a field of record.fields, or a member of a record in a list, points to.
func setScalar(field any, v parquet.Value) {
	switch p := field.(type) {
	case *string:
		*p = text(v)
	case *bool:
		*p = v.Boolean()
	case *int32:
		*p = v.Int32()
	case *int64:
		*p = v.Int64()
	case **bool:
		*p = optional(v, parquet.Value.Boolean)
	case **int32:
		*p = optional(v, parquet.Value.Int32)
	case **int64:
		*p = optional(v, parquet.Value.Int64)
	case **float64:
		*p = optional(v, parquet.Value.Double)
	}
}

func optional[V any](v parquet.Value, get func(parquet.Value) V) *V {
	if v.IsNull() {
		return nil
	}
	return new(get(v))
}

type list struct{ to *[]string }

func (c list) reset() { *c.to = nil }

func (c list) set(v parquet.Value) {
	if !v.IsNull() {
		*c.to = append(*c.to, text(v))
	}
}
