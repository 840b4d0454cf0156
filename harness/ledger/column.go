package ledger

import "github.com/parquet-go/parquet-go"

// column puts the values of one leaf column into the row being read. Only lists
// get more than one value a row; an empty list gets one null.
type column interface {
	reset()
	set(parquet.Value)
}

// columnsOf returns the leaf columns of a row by index; field pointers are
// those of record.fields.
func columnsOf(fields []any) []column {
	var out []column
	for _, f := range fields {
		switch p := f.(type) {
		case *string:
			out = append(out, &stringColumn{to: p})
		case *bool:
			out = append(out, scalar[bool]{p, parquet.Value.Boolean})
		case *int32:
			out = append(out, scalar[int32]{p, parquet.Value.Int32})
		case *int64:
			out = append(out, scalar[int64]{p, parquet.Value.Int64})
		case **bool:
			out = append(out, optional[bool]{p, parquet.Value.Boolean})
		case **int32:
			out = append(out, optional[int32]{p, parquet.Value.Int32})
		case **int64:
			out = append(out, optional[int64]{p, parquet.Value.Int64})
		case **float64:
			out = append(out, optional[float64]{p, parquet.Value.Double})
		case *[]string:
			out = append(out, list[string]{p, text})
		case *[]Check:
			// Three leaves of one list: the first makes the elements, the others
			// fill them in.
			out = append(out,
				list[Check]{p, func(v parquet.Value) Check { return Check{Name: text(v)} }},
				&member{to: p, put: func(c *Check, v parquet.Value) { c.Passed = v.Boolean() }},
				&member{to: p, put: func(c *Check, v parquet.Value) { c.Detail = text(v) }})
		}
	}
	return out
}

func text(v parquet.Value) string { return string(v.ByteArray()) }

// stringColumn keeps the last string: most columns repeat it.
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

type scalar[V any] struct {
	to  *V
	get func(parquet.Value) V
}

func (c scalar[V]) reset()              {}
func (c scalar[V]) set(v parquet.Value) { *c.to = c.get(v) }

type optional[V any] struct {
	to  **V
	get func(parquet.Value) V
}

func (c optional[V]) reset() {}

func (c optional[V]) set(v parquet.Value) {
	*c.to = nil
	if !v.IsNull() {
		x := c.get(v)
		*c.to = &x
	}
}

type list[V any] struct {
	to  *[]V
	get func(parquet.Value) V
}

func (c list[V]) reset() { *c.to = nil }

func (c list[V]) set(v parquet.Value) {
	if !v.IsNull() {
		*c.to = append(*c.to, c.get(v))
	}
}

// member fills in one member of the elements of a list.
type member struct {
	to  *[]Check
	at  int
	put func(*Check, parquet.Value)
}

func (c *member) reset() { c.at = 0 }

func (c *member) set(v parquet.Value) {
	if !v.IsNull() && c.at < len(*c.to) {
		c.put(&(*c.to)[c.at], v)
		c.at++
	}
}
