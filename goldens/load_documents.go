package goldens

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
)

var documentFields = []string{"id", "title", "date", "text", "fields"}

// Bounds of a world's library. A text is short enough for an observation to show
// it whole.
const (
	maxDocuments     = 200
	maxDocumentTitle = 100 // characters
	maxDocumentText  = 450 // characters
	maxDocumentValue = 100 // characters of a field's value
	maxDocumentParts = 20  // fields
)

var (
	documentID = nameRule{regexp.MustCompile(`^[a-z0-9-]+$`), "a-z, 0-9 and dash", false}
	fieldName  = nameRule{regexp.MustCompile(`^[a-z0-9_]+$`), "a-z, 0-9 and underscore", false}
)

// documents reads a library over base: a document with an id of base takes its
// place, others follow.
func documents(p place, base []Document) []Document {
	out := slices.Clone(base)
	lines := map[string]int{}
	for _, item := range p.items() {
		d, idAt := document(item)
		if first, twice := lines[d.ID]; twice && d.ID != "" {
			idAt.failf("document %s is here already, on line %d", d.ID, first)
			continue
		}
		lines[d.ID] = idAt.at()
		if i := slices.IndexFunc(base, func(b Document) bool { return b.ID == d.ID }); i >= 0 {
			out[i] = d
			continue
		}
		out = append(out, d)
	}
	if len(out) > maxDocuments {
		p.failf("a world may have at most %d documents, and would have %d", maxDocuments, len(out))
	}
	return out
}

// document reads one document; idAt is where its id is.
func document(p place) (d Document, idAt place) {
	o := p.object(documentFields)
	idAt = p
	if p, ok := o.need("id"); ok {
		idAt = p
		d.ID = p.short(maxDocumentID)
		p.checkName(documentID, d.ID)
	}
	if p, ok := o.need("title"); ok {
		d.Title = p.short(maxDocumentTitle)
	}
	if p, ok := o.need("date"); ok {
		d.Date = p.filled()
		if _, err := parseDate(d.Date); err != nil && d.Date != "" {
			p.failf("%q %v", d.Date, err)
		}
	}
	if p, ok := o.need("text"); ok {
		d.Text = p.short(maxDocumentText)
	}
	if p, ok := o.get("fields"); ok {
		d.Fields = map[string]any{}
		for _, e := range p.entries() {
			e.keyAt.checkName(fieldName, e.key)
			d.Fields[e.key] = e.value.fieldValue()
		}
		if len(d.Fields) > maxDocumentParts {
			p.failf("a document may have at most %d fields", maxDocumentParts)
		}
	}
	return d, idAt
}

// fieldValue reads a number, a string, or nil.
func (p place) fieldValue() any {
	s, tag, ok := p.scalar()
	switch {
	case p.null():
		return nil
	case ok && (tag == "!!int" || tag == "!!float"):
		n := json.Number(s)
		if f, err := n.Float64(); err != nil || !jsonNumber.MatchString(s) || len(s) > maxDocumentValue || math.Abs(f) > maxCount {
			p.failf("%s is not a number in decimal from -%d to %d", clip(s, maxDocumentValue), maxCount, maxCount)
			return nil
		}
		return n
	case ok && (tag == "!!str" || tag == "!!timestamp"):
		return p.short(maxDocumentValue)
	}
	p.wants("a number, a string or empty")
	return nil
}
