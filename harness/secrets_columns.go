package harness

import (
	"cmp"
	"reflect"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// column is a field that holds text, or records with text.
type column struct {
	name  string
	index []int
	id    int
}

// columns lists the columns of every type of row, so that no new one is
// forgotten. Fields of embedded structs are the type's own.
var columns = sync.OnceValue(func() map[reflect.Type][]column {
	all := map[reflect.Type][]column{}
	count := 0
	var add func(at string, t reflect.Type)
	add = func(at string, t reflect.Type) {
		for _, f := range reflect.VisibleFields(t) {
			elem := f.Type
			if elem.Kind() == reflect.Slice {
				elem = elem.Elem()
			}
			if f.Anonymous || elem.Kind() != reflect.String && elem.Kind() != reflect.Struct {
				continue
			}
			tag, _, _ := strings.Cut(cmp.Or(f.Tag.Get("parquet"), f.Tag.Get("json")), ",")
			all[t] = append(all[t], column{at + "." + tag, f.Index, count})
			count++
			if _, known := all[elem]; !known && elem.Kind() == reflect.Struct {
				add(at+"."+tag, elem)
			}
		}
	}
	add("episodes", reflect.TypeFor[ledger.Episode]())
	add("turns", reflect.TypeFor[ledger.Turn]())
	add("tool_calls", reflect.TypeFor[ledger.ToolCall]())
	add("manifest", reflect.TypeFor[ledger.Manifest]())
	add("rows", reflect.TypeFor[ledger.Rows]())
	add("rows", reflect.TypeFor[ledger.EpisodeRows]())
	return all
})

// cleaner replaces credentials in every text of records.
type cleaner struct {
	secrets *recorder.Secrets
	columns map[reflect.Type][]column
	// last is the last text of each column, known to be clean: most columns repeat
	// it.
	last map[int]string
}

func newCleaner(s *recorder.Secrets) cleaner { return cleaner{s, columns(), map[int]string{}} }

// record cleans a struct, which must be settable, or a list of them.
func (c cleaner) record(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			c.record(v.Index(i))
		}
	case reflect.Struct:
		for _, col := range c.columns[v.Type()] {
			c.field(col, v.FieldByIndex(col.index))
		}
	}
}

func (c cleaner) field(col column, v reflect.Value) {
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
		c.record(v)
	}
}
