package world

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/internal/clip"
)

// MaxDocumentID bounds the id of a document, in characters.
const MaxDocumentID = 64

// Bounds of what the tools of a library take.
const (
	maxQuery    = 200 // characters
	maxResults  = 20
	someResults = 10 // where a search names no limit
	minCompared = 2
	maxCompared = 20
)

// search finds the documents that have every word of a query in their title,
// text or fields: whole words, whatever their case. Those with most of them in
// the title come first, then the ids decide.
func (w *builtIn) search(c tool.Call, _ time.Time) Effect {
	args := struct {
		Query string   `json:"query"`
		Limit *float64 `json:"limit"`
	}{}
	if refused := ReadArgs(c, &args); refused != nil {
		return *refused
	}
	limit := someResults
	if args.Limit != nil {
		if limit = int(*args.Limit); float64(limit) != *args.Limit || limit < 1 || limit > maxResults {
			return Refuse(codeBadArgs, "limit must be a whole number from 1 to %d", maxResults)
		}
	}
	wanted := wordsOf(args.Query)
	if len(wanted) == 0 || utf8.RuneCountInString(args.Query) > maxQuery {
		return Refuse(codeBadArgs, "query must have at least one word and at most %d characters", maxQuery)
	}
	found := w.matching(wanted)
	results := []any{}
	for _, h := range found[:min(limit, len(found))] {
		results = append(results, map[string]any{"id": h.ID, "title": h.Title, "date": h.Date})
	}
	return Return(map[string]any{"query": args.Query, "total": len(found), "results": results})
}

// hit is a document that a search found.
type hit struct {
	*Document
	inTitle int
}

// matching returns the documents that have all wanted words, the best first.
func (w *builtIn) matching(wanted []string) (found []hit) {
	for i := range w.spec.Documents {
		d := &w.spec.Documents[i]
		seen := make([]bool, len(wanted))
		h := hit{d, tick(seen, wanted, d.Title)}
		tick(seen, wanted, d.Text)
		for _, v := range d.Fields {
			tick(seen, wanted, fieldText(v))
		}
		if !slices.Contains(seen, false) {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b hit) int { return cmp.Or(b.inTitle-a.inTitle, cmp.Compare(a.ID, b.ID)) })
	return found
}

// tick marks the wanted words that a text has, and counts their occurrences.
func tick(seen []bool, wanted []string, text string) (n int) {
	for word := range strings.FieldsFuncSeq(text, notInWord) {
		if i := slices.IndexFunc(wanted, func(w string) bool { return strings.EqualFold(w, word) }); i >= 0 {
			seen[i] = true
			n++
		}
	}
	return n
}

// wordsOf returns the different words of a query.
func wordsOf(query string) (out []string) {
	for word := range strings.FieldsFuncSeq(query, notInWord) {
		if !slices.ContainsFunc(out, func(w string) bool { return strings.EqualFold(w, word) }) {
			out = append(out, word)
		}
	}
	return out
}

// notInWord reports what stands between words.
func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
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

// document finds a document by its id.
func (w *builtIn) document(id string) (*Document, *Effect) {
	for i := range w.spec.Documents {
		if d := &w.spec.Documents[i]; d.ID == id {
			return d, nil
		}
	}
	return nil, new(Refuse(codeNotFound, "there is no document %q; search finds ids", clip.Runes(id, maxQuoted)))
}

// open returns a document without its fields.
func (w *builtIn) open(c tool.Call, _ time.Time) Effect {
	var args struct {
		ID string `json:"id"`
	}
	if refused := ReadArgs(c, &args); refused != nil {
		return *refused
	}
	d, refused := w.document(args.ID)
	if refused != nil {
		return *refused
	}
	return Return(map[string]any{"id": d.ID, "title": d.Title, "date": d.Date, "text": d.Text})
}

// extract returns one field of a document. One that the document lacks and
// others have is not recorded: its value is null.
func (w *builtIn) extract(c tool.Call, _ time.Time) Effect {
	var args struct {
		ID    string `json:"id"`
		Field string `json:"field"`
	}
	if refused := ReadArgs(c, &args); refused != nil {
		return *refused
	}
	d, refused := w.document(args.ID)
	if refused != nil {
		return *refused
	}
	out := map[string]any{"id": d.ID, "field": args.Field, "value": d.Fields[args.Field]}
	if out["value"] == nil {
		if !slices.ContainsFunc(w.spec.Documents, func(d Document) bool { _, has := d.Fields[args.Field]; return has }) {
			return Refuse(codeBadArgs, "no document has a field %q", clip.Runes(args.Field, maxQuoted))
		}
		out["note"] = "not recorded"
	}
	return Return(out)
}

// compared is one of the values that compare puts in order.
type compared struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
	exact decimal.Decimal
}

// compare puts numbers in order, equal ones by their ids, and names all that
// share the first place.
func (w *builtIn) compare(c tool.Call, _ time.Time) Effect {
	var args struct {
		Items []compared `json:"items"`
		Order string     `json:"order"`
	}
	if refused := ReadArgs(c, &args); refused != nil {
		return *refused
	}
	if n := len(args.Items); n < minCompared || n > maxCompared {
		return Refuse(codeBadArgs, "items must be %d to %d, but are %d", minCompared, maxCompared, n)
	}
	sign := 1
	switch args.Order {
	case "lowest":
	case "highest":
		sign = -1
	default:
		return Refuse(codeBadArgs, "order must be highest or lowest, but is %q", clip.Runes(args.Order, maxQuoted))
	}
	seen := map[string]bool{}
	for i := range args.Items {
		item, ok := &args.Items[i], false
		if item.exact, ok = decimal.Parse(string(item.Value)); !ok {
			return Refuse(codeBadArgs, "the value of item %d must be a number", i+1)
		}
		if item.ID == "" || utf8.RuneCountInString(item.ID) > MaxDocumentID || seen[item.ID] {
			return Refuse(codeBadArgs, "the id of item %d must be one of its own, of at most %d characters", i+1, MaxDocumentID)
		}
		seen[item.ID] = true
	}
	slices.SortFunc(args.Items, func(a, b compared) int {
		return cmp.Or(sign*a.exact.Compare(b.exact), cmp.Compare(a.ID, b.ID))
	})
	best := args.Items[0]
	var ranking, tie []string
	for _, item := range args.Items {
		ranking = append(ranking, item.ID)
		if item.exact == best.exact {
			tie = append(tie, item.ID)
		}
	}
	out := map[string]any{"best": map[string]any{"id": best.ID, "value": best.Value}, "ranking": ranking}
	if len(tie) > 1 {
		out["tie"] = tie
	}
	return Return(out)
}
