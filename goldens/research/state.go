package research

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/goldens/world"
)

// document is one text of a library.
type document struct {
	ID, Title, Date, Text string
	// Fields are what extract reads: numbers, strings or nil, by name.
	Fields map[string]any
}

// Bounds of a library. A text is short enough for an observation to show it whole.
const (
	maxDocuments = 200
	maxID        = 64  // characters
	maxTitle     = 100 // characters
	maxText      = 450 // characters
	maxValue     = 100 // characters of a field's value
	maxFields    = 20
	maxNumber    = 1<<53 - 1 // the largest that JSON readers agree on
)

var (
	documentID = regexp.MustCompile(`^[a-z0-9-]+$`)
	fieldName  = regexp.MustCompile(`^[a-z0-9_]+$`)
)

// stateReader collects the problems of a state.
type stateReader struct{ errs []error }

func (r *stateReader) fail(path, format string, args ...any) {
	r.errs = append(r.errs, world.BadState(path, format, args...))
}

// readState reads a library, in order of ids; the error joins a *world.StateError for
// each problem.
func readState(raw json.RawMessage) (library, error) {
	fields, err := world.ReadState(raw, "documents")
	r := stateReader{errs: []error{err}}
	all, ok := fields["documents"].(map[string]any)
	if !ok && fields["documents"] != nil {
		r.fail("documents", "must map ids to documents")
	}
	if len(all) > maxDocuments {
		r.fail("documents", "a world may have at most %d documents, and would have %d", maxDocuments, len(all))
	}
	var out library
	for _, id := range slices.Sorted(maps.Keys(all)) {
		path := "documents." + id
		if !documentID.MatchString(id) || len(id) > maxID {
			r.fail(path, "an id has 1 to %d of a-z, 0-9 and dash", maxID)
		}
		out = append(out, r.document(path, id, all[id]))
	}
	return out, errors.Join(r.errs...)
}

func (r *stateReader) document(path, id string, v any) document {
	fields, ok := v.(map[string]any)
	if !ok {
		r.fail(path, "must be a mapping of title, date, text and fields")
		return document{}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains([]string{"title", "date", "text", "fields"}, name) {
			r.fail(path+"."+name, "unknown field; allowed: title, date, text, fields")
		}
	}
	d := document{ID: id, Title: r.text(path+".title", fields["title"], maxTitle), Date: r.text(path+".date", fields["date"], len(time.DateOnly)), Text: r.text(path+".text", fields["text"], maxText)}
	if _, err := time.Parse(time.DateOnly, d.Date); err != nil && d.Date != "" {
		r.fail(path+".date", "%q is not a date of the calendar, written YYYY-MM-DD", d.Date)
	}
	d.Fields, ok = fields["fields"].(map[string]any)
	if fields["fields"] != nil && (!ok || len(d.Fields) > maxFields) {
		r.fail(path+".fields", "must be a mapping of at most %d fields", maxFields)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Fields)) {
		if !fieldName.MatchString(name) {
			r.fail(path+".fields."+name, "%q may hold only a-z, 0-9 and underscore", name)
		}
		r.value(path+".fields."+name, d.Fields[name])
	}
	return d
}

// text is a string that says something in at most so many characters.
func (r *stateReader) text(path string, v any, most int) string {
	s, ok := v.(string)
	switch n := utf8.RuneCountInString(s); {
	case v == nil:
		r.fail(path, "is missing")
	case !ok:
		r.fail(path, "must be a string")
	case strings.TrimSpace(s) == "":
		r.fail(path, "must not be blank")
	case n > most:
		r.fail(path, "must be at most %d characters, but is %d", most, n)
	}
	return s
}

// value checks a field: a number, a string, or nil for one that is not recorded.
func (r *stateReader) value(path string, v any) {
	switch v := v.(type) {
	case nil:
	case string:
		r.text(path, v, maxValue)
	case json.Number:
		if f, err := v.Float64(); err != nil || len(v) > maxValue || math.Abs(f) > maxNumber {
			r.fail(path, "must be a number from -%d to %d", maxNumber, maxNumber)
		}
	default:
		r.fail(path, "must be a number, a string or empty")
	}
}

// fieldText is a field's value as search reads it.
func fieldText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}
