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
			// A check has three leaves: the first appends the elements, the others set their
			// members.
			out = append(out,
				list[Check]{p, func(v parquet.Value) Check { return Check{Name: text(v)} }},
				&member[Check]{to: p, put: func(c *Check, v parquet.Value) { c.Passed = v.Boolean() }},
				&member[Check]{to: p, put: func(c *Check, v parquet.Value) { c.Detail = text(v) }})
		case *[]Request:
			out = append(out, list[Request]{p, func(v parquet.Value) Request { return Request{SubAgent: text(v)} }})
			for i := range len(new(Request).texts()) - 1 {
				out = append(out, &member[Request]{to: p, put: func(r *Request, v parquet.Value) { *r.texts()[i+1] = text(v) }})
			}
			out = append(out,
				&member[Request]{to: p, put: func(r *Request, v parquet.Value) { r.TsAsked = v.Int64() }},
				&member[Request]{to: p, put: func(r *Request, v parquet.Value) { r.WaitUs = v.Int64() }})
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

// member sets one member of the elements of a list.
type member[E any] struct {
	to  *[]E
	at  int
	put func(*E, parquet.Value)
}

func (c *member[E]) reset() { c.at = 0 }

func (c *member[E]) set(v parquet.Value) {
	if !v.IsNull() && c.at < len(*c.to) {
		c.put(&(*c.to)[c.at], v)
		c.at++
	}
}
