package drive

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/recorder/secrets"
)

// column is a field that holds text, or records with text.
type column struct {
	name  string
	index []int
	id    int
}

// record is a type of row: its columns except those of an embedded ledger.Key.
type record struct {
	key, own []column
	keyed    bool // its first field is the Key
}

// columns lists the columns of every type of row by reflection, so that new ones are
// included, and their number. Fields of embedded structs count as the type's own.
var columns = sync.OnceValues(func() (all map[reflect.Type]record, count int) {
	all = map[reflect.Type]record{}
	var add func(at string, t reflect.Type)
	add = func(at string, t reflect.Type) {
		r := record{keyed: t.Field(0).Type == reflect.TypeFor[ledger.Key]()}
		for _, f := range reflect.VisibleFields(t) {
			elem := f.Type
			if elem.Kind() == reflect.Slice {
				elem = elem.Elem()
			}
			if f.Anonymous || elem.Kind() != reflect.String && elem.Kind() != reflect.Struct {
				continue
			}
			tag, _, _ := strings.Cut(cmp.Or(f.Tag.Get("parquet"), f.Tag.Get("json")), ",")
			col := column{at + "." + tag, f.Index, count}
			if r.keyed && len(f.Index) == 2 && f.Index[0] == 0 {
				r.key = append(r.key, col)
			} else {
				r.own = append(r.own, col)
			}
			all[t] = r
			count++
			if _, known := all[elem]; !known && elem.Kind() == reflect.Struct {
				add(at+"."+tag, elem)
			}
		}
	}
	add("episodes", reflect.TypeFor[ledger.Episode]())
	add("turns", reflect.TypeFor[ledger.Turn]())
	add("tool_calls", reflect.TypeFor[ledger.ToolCall]())
	add("manifest", reflect.TypeFor[manifest.Manifest]())
	add("manifest.decide", reflect.TypeFor[manifest.Decide]())
	add("rows", reflect.TypeFor[ledger.Rows]())
	add("rows", reflect.TypeFor[ledger.EpisodeRows]())
	return all, count
})

// cleaner replaces credentials in every text of records.
type cleaner struct {
	secrets *secrets.Finder
	records map[reflect.Type]record
	// last is the last text of each column, known to be clean: most columns repeat
	// it.
	last []string
	// key is the last one known to be clean: all rows of an episode have it.
	key ledger.Key
}

// NewCleaner returns a cleaner that replaces the credentials of s in rows.
func NewCleaner(s *secrets.Finder) *cleaner {
	records, columns := columns()
	return &cleaner{secrets: s, records: records, last: make([]string, columns)}
}

// Record cleans a struct, which must be settable, or a list of them.
func (c *cleaner) Record(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			c.Record(v.Index(i))
		}
	case reflect.Struct:
		r := c.records[v.Type()]
		if r.keyed {
			c.rowKey(r.key, v)
		}
		c.fields(r.own, v)
	}
}

// rowKey cleans the Key of a row.
func (c *cleaner) rowKey(columns []column, row reflect.Value) {
	key := row.Field(0).Addr().Interface().(*ledger.Key)
	if *key == c.key {
		return
	}
	was := *key
	c.fields(columns, row)
	if *key == was {
		c.key = was
	}
}

func (c *cleaner) fields(columns []column, v reflect.Value) {
	for _, col := range columns {
		c.field(col, v.FieldByIndex(col.index))
	}
}

func (c *cleaner) field(col column, v reflect.Value) {
	switch {
	case v.Kind() == reflect.String:
		s := v.String()
		if s == c.last[col.id] {
			return
		}
		if clean := c.secrets.Redact(col.name, s); clean != s {
			v.SetString(clean)
			return
		}
		c.last[col.id] = s
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.String:
		for i := range v.Len() {
			c.field(col, v.Index(i))
		}
	default:
		c.Record(v)
	}
}
