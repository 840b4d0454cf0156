package research

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/internal/decimal"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/clip"
)

// Error codes of the tools, for models and for people.
const (
	codeBadArgs  = "E_BAD_ARGS"
	codeNotFound = "E_NOT_FOUND"
)

// maxQuoted bounds what a model wrote before it is quoted back, in characters.
const maxQuoted = 64

// Bounds of what the tools of a library take.
const (
	maxQuery    = 200 // characters
	maxResults  = 20
	someResults = 10 // where a search names no limit
	minCompared = 2
	maxCompared = 20
)

// library is the world of an episode: documents that do not change. It may be shared.
type library []document

// Call implements world.World.
func (w library) Call(_ context.Context, c tool.Call, _ time.Time) (world.Effect, error) {
	switch c.Name {
	case "search":
		return w.search(c), nil
	case "open":
		return w.open(c), nil
	case "extract":
		return w.extract(c), nil
	case "compare":
		return compare(c), nil
	}
	return world.NoTool(c), nil
}

// State implements world.World. The world has no state, so it returns nil.
func (w library) State(context.Context) (json.RawMessage, error) { return nil, nil }

// Close implements world.World.
func (w library) Close() error { return nil }

// search finds the documents that have every word of a query in their title,
// text or fields: whole words, regardless of their case. Those with most of them in
// the title come first, then the ids decide.
func (w library) search(c tool.Call) world.Effect {
	args := struct {
		Query string   `json:"query"`
		Limit *float64 `json:"limit"`
	}{}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	limit := someResults
	if args.Limit != nil {
		if limit = int(*args.Limit); float64(limit) != *args.Limit || limit < 1 || limit > maxResults {
			return world.Refuse(codeBadArgs, "limit must be a whole number from 1 to %d", maxResults)
		}
	}
	wanted := wordsOf(args.Query)
	if len(wanted) == 0 || utf8.RuneCountInString(args.Query) > maxQuery {
		return world.Refuse(codeBadArgs, "query must have at least one word and at most %d characters", maxQuery)
	}
	found := w.matching(wanted)
	results := []any{}
	for _, h := range found[:min(limit, len(found))] {
		results = append(results, map[string]any{"id": h.ID, "title": h.Title, "date": h.Date})
	}
	return world.Return(map[string]any{"query": args.Query, "total": len(found), "results": results})
}

// hit is a document that a search found.
type hit struct {
	*document
	inTitle int
}

// matching returns the documents that have all wanted words, the best first.
func (w library) matching(wanted []string) (found []hit) {
	for i := range w {
		d := &w[i]
		seen := make([]bool, len(wanted))
		h := hit{d, markWords(seen, wanted, d.Title)}
		markWords(seen, wanted, d.Text)
		for _, v := range d.Fields {
			markWords(seen, wanted, fieldText(v))
		}
		if !slices.Contains(seen, false) {
			found = append(found, h)
		}
	}
	slices.SortFunc(found, func(a, b hit) int { return cmp.Or(b.inTitle-a.inTitle, cmp.Compare(a.ID, b.ID)) })
	return found
}

// markWords marks the wanted words that a text has, and counts their occurrences.
func markWords(seen []bool, wanted []string, text string) (n int) {
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

// notInWord reports what is between words.
func notInWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
}

// find finds a document by its id.
func (w library) find(id string) (*document, *world.Effect) {
	for i := range w {
		if d := &w[i]; d.ID == id {
			return d, nil
		}
	}
	return nil, new(world.Refuse(codeNotFound, "there is no document %q; search finds ids", clip.Runes(id, maxQuoted)))
}

// open returns a document without its fields.
func (w library) open(c tool.Call) world.Effect {
	var args struct {
		ID string `json:"id"`
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	d, refused := w.find(args.ID)
	if refused != nil {
		return *refused
	}
	return world.Return(map[string]any{"id": d.ID, "title": d.Title, "date": d.Date, "text": d.Text})
}

// extract returns one field of a document. One that the document lacks and
// others have is not recorded: its value is null.
func (w library) extract(c tool.Call) world.Effect {
	var args struct {
		ID    string `json:"id"`
		Field string `json:"field"`
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	d, refused := w.find(args.ID)
	if refused != nil {
		return *refused
	}
	out := map[string]any{"id": d.ID, "field": args.Field, "value": d.Fields[args.Field]}
	if out["value"] == nil {
		if !slices.ContainsFunc(w, func(d document) bool { _, has := d.Fields[args.Field]; return has }) {
			return world.Refuse(codeBadArgs, "no document has a field %q", clip.Runes(args.Field, maxQuoted))
		}
		out["note"] = "not recorded"
	}
	return world.Return(out)
}

// compared is one of the values that compare puts in order.
type compared struct {
	ID    string          `json:"id"`
	Value json.RawMessage `json:"value"`
	exact decimal.Decimal
}

// compare puts numbers in order, equal ones by their ids, and names all that
// share the first place.
func compare(c tool.Call) world.Effect {
	var args struct {
		Items []compared `json:"items"`
		Order string     `json:"order"`
	}
	if refused := world.ReadArgs(c, &args); refused != nil {
		return *refused
	}
	if n := len(args.Items); n < minCompared || n > maxCompared {
		return world.Refuse(codeBadArgs, "items must be %d to %d, but are %d", minCompared, maxCompared, n)
	}
	sign := 1
	switch args.Order {
	case "lowest":
	case "highest":
		sign = -1
	default:
		return world.Refuse(codeBadArgs, "order must be highest or lowest, but is %q", clip.Runes(args.Order, maxQuoted))
	}
	seen := map[string]bool{}
	for i := range args.Items {
		item, ok := &args.Items[i], false
		if item.exact, ok = decimal.Parse(string(item.Value)); !ok {
			return world.Refuse(codeBadArgs, "the value of item %d must be a number", i+1)
		}
		if item.ID == "" || utf8.RuneCountInString(item.ID) > maxID || seen[item.ID] {
			return world.Refuse(codeBadArgs, "the id of item %d must be one of its own, of at most %d characters", i+1, maxID)
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
	return world.Return(out)
}
