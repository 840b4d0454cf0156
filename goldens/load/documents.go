package load

import (
	"encoding/json"
	"math"
	"slices"

	"github.com/cupel-eval/cupel/goldens/internal/yamlfile"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
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

// documents reads a library over base: a document with an id of base takes its
// place, others follow.
func documents(p yamlfile.Place, base []world.Document) []world.Document {
	out := slices.Clone(base)
	lines := map[string]int{}
	for _, item := range p.Items() {
		d, idAt := document(item)
		if first, twice := lines[d.ID]; twice && d.ID != "" {
			idAt.Failf("document %s is here already, on line %d", d.ID, first)
			continue
		}
		lines[d.ID] = idAt.At()
		if i := slices.IndexFunc(base, func(b world.Document) bool { return b.ID == d.ID }); i >= 0 {
			out[i] = d
			continue
		}
		out = append(out, d)
	}
	if len(out) > maxDocuments {
		p.Failf("a world may have at most %d documents, and would have %d", maxDocuments, len(out))
	}
	return out
}

// document reads one document; idAt is where its id is.
func document(p yamlfile.Place) (d world.Document, idAt yamlfile.Place) {
	o := p.Object(documentFields)
	idAt = p
	if p, ok := o.Need("id"); ok {
		idAt = p
		d.ID = p.Short(world.MaxDocumentID)
		p.CheckName(yamlfile.DocumentID, d.ID)
	}
	if p, ok := o.Need("title"); ok {
		d.Title = p.Short(maxDocumentTitle)
	}
	if p, ok := o.Need("date"); ok {
		d.Date = p.Filled()
		if _, err := world.ParseDate(d.Date); err != nil && d.Date != "" {
			p.Failf("%q %v", d.Date, err)
		}
	}
	if p, ok := o.Need("text"); ok {
		d.Text = p.Short(maxDocumentText)
	}
	if p, ok := o.Get("fields"); ok {
		d.Fields = map[string]any{}
		for _, e := range p.Entries() {
			e.KeyAt.CheckName(yamlfile.FieldName, e.Key)
			d.Fields[e.Key] = fieldValue(e.Value)
		}
		if len(d.Fields) > maxDocumentParts {
			p.Failf("a document may have at most %d fields", maxDocumentParts)
		}
	}
	return d, idAt
}

// fieldValue reads a number, a string, or nil.
func fieldValue(p yamlfile.Place) any {
	s, tag, ok := p.Scalar()
	switch {
	case p.Null():
		return nil
	case ok && (tag == "!!int" || tag == "!!float"):
		n := json.Number(s)
		if f, err := n.Float64(); err != nil || !yamlfile.JSONNumber.MatchString(s) || len(s) > maxDocumentValue || math.Abs(f) > maxCount {
			p.Failf("%s is not a number in decimal from -%d to %d", clip.Bytes(s, maxDocumentValue), maxCount, maxCount)
			return nil
		}
		return n
	case ok && (tag == "!!str" || tag == "!!timestamp"):
		return p.Short(maxDocumentValue)
	}
	p.Wants("a number, a string or empty")
	return nil
}
