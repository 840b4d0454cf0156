package research

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
)

// env is an environment whose world never fails.
type env struct{ *world.Environment }

func (e env) Call(c tool.Call, at time.Time) tool.Result {
	r, err := e.Environment.Call(context.Background(), c, at)
	if err != nil {
		panic(err)
	}
	return r.Result
}

var noon = time.Date(2026, 5, 13, 16, 0, 0, 0, time.UTC)

func ok(value string) tool.Result {
	return tool.Result{Outcome: tool.OK, Value: json.RawMessage(value)}
}

func failed(code, message string) tool.Result {
	return tool.Result{Outcome: tool.Error, Code: code, Message: message}
}

// withDocuments returns a world of a few documents.
func withDocuments(docs ...document) env {
	if docs == nil {
		docs = []document{
			{ID: "oak-head", Title: "Oak Head light", Date: "2020-01-02", Text: "On the north coast, by Ada Lund.", Fields: map[string]any{"height_m": json.Number("41.50"), "designer": "Ada Lund", "built": json.Number("1874")}},
			{ID: "elm-rock", Title: "Elm Rock light", Date: "2021-03-04", Text: "The NORTH coast; it sees Oak Head.", Fields: map[string]any{"height_m": nil, "designer": "Björn Ås"}},
			{ID: "ash-bar", Title: "Ash Bar", Date: "2019-05-06", Text: "A light on the south coast. The northern wind is cold."},
		}
	}
	w, err := world.Open(context.Background(), world.Spec{Now: noon, Kind: "documents", Maker: kind{(*library)(&docs)}}, 1, nil, nil)
	if err != nil {
		panic(err)
	}
	return env{w}
}

func asked(name, args string) tool.Call { return tool.Call{Name: name, Args: json.RawMessage(args)} }

func TestDocumentTools(t *testing.T) {
	const oak = `{"date":"2020-01-02","id":"oak-head","title":"Oak Head light"}`
	const elm = `{"date":"2021-03-04","id":"elm-rock","title":"Elm Rock light"}`
	const ash = `{"date":"2019-05-06","id":"ash-bar","title":"Ash Bar"}`
	const badLimit = "limit must be a whole number from 1 to 20"
	const badQuery = "query must have at least one word and at most 200 characters"
	for name, tc := range map[string]struct {
		tool, args string
		want       tool.Result
	}{
		"two words":           {"search", `{"query":"north coast"}`, ok(`{"query":"north coast","results":[` + elm + `,` + oak + `],"total":2}`)},
		"the title first":     {"search", `{"query":"oak head"}`, ok(`{"query":"oak head","results":[` + oak + `,` + elm + `],"total":2}`)},
		"any case and order":  {"search", `{"query":"LUND, ada!"}`, ok(`{"query":"LUND, ada!","results":[` + oak + `],"total":1}`)},
		"accents":             {"search", `{"query":"BJÖRN ås"}`, ok(`{"query":"BJÖRN ås","results":[` + elm + `],"total":1}`)},
		"a number":            {"search", `{"query":"1874"}`, ok(`{"query":"1874","results":[` + oak + `],"total":1}`)},
		"no part of a word":   {"search", `{"query":"nort"}`, ok(`{"query":"nort","results":[],"total":0}`)},
		"one of two words":    {"search", `{"query":"oak elephant"}`, ok(`{"query":"oak elephant","results":[],"total":0}`)},
		"limit":               {"search", `{"query":"light","limit":2}`, ok(`{"query":"light","results":[` + elm + `,` + oak + `],"total":3}`)},
		"limit as 20.0":       {"search", `{"query":"south","limit":20.0}`, ok(`{"query":"south","results":[` + ash + `],"total":1}`)},
		"limit 0":             {"search", `{"query":"oak","limit":0}`, failed(codeBadArgs, badLimit)},
		"limit 21":            {"search", `{"query":"oak","limit":21}`, failed(codeBadArgs, badLimit)},
		"limit 1.5":           {"search", `{"query":"oak","limit":1.5}`, failed(codeBadArgs, badLimit)},
		"limit 1e300":         {"search", `{"query":"oak","limit":1e300}`, failed(codeBadArgs, badLimit)},
		"no query":            {"search", `{}`, failed(codeBadArgs, badQuery)},
		"no word":             {"search", `{"query":" … -- "}`, failed(codeBadArgs, badQuery)},
		"long query":          {"search", `{"query":"` + strings.Repeat("ö", 201) + `"}`, failed(codeBadArgs, badQuery)},
		"query of all size":   {"search", `{"query":"` + strings.Repeat("ö", 200) + `"}`, ok(`{"query":"` + strings.Repeat("ö", 200) + `","results":[],"total":0}`)},
		"open":                {"open", `{"id":"ash-bar"}`, ok(`{"date":"2019-05-06","id":"ash-bar","text":"A light on the south coast. The northern wind is cold.","title":"Ash Bar"}`)},
		"open nothing":        {"open", `{}`, failed(codeNotFound, `there is no document ""; search finds ids`)},
		"open by title":       {"open", `{"id":"Ash Bar"}`, failed(codeNotFound, `there is no document "Ash Bar"; search finds ids`)},
		"a number's spelling": {"extract", `{"id":"oak-head","field":"height_m"}`, ok(`{"field":"height_m","id":"oak-head","value":41.5}`)},
		"a text":              {"extract", `{"id":"elm-rock","field":"designer"}`, ok(`{"field":"designer","id":"elm-rock","value":"Björn Ås"}`)},
		"null":                {"extract", `{"id":"elm-rock","field":"height_m"}`, ok(`{"field":"height_m","id":"elm-rock","note":"not recorded","value":null}`)},
		"absent":              {"extract", `{"id":"elm-rock","field":"built"}`, ok(`{"field":"built","id":"elm-rock","note":"not recorded","value":null}`)},
		"no fields at all":    {"extract", `{"id":"ash-bar","field":"built"}`, ok(`{"field":"built","id":"ash-bar","note":"not recorded","value":null}`)},
		"unknown field":       {"extract", `{"id":"oak-head","field":"` + strings.Repeat("x", 80) + `"}`, failed(codeBadArgs, `no document has a field "`+strings.Repeat("x", 64)+`…"`)},
		"unknown document":    {"extract", `{"id":"fir","field":"built"}`, failed(codeNotFound, `there is no document "fir"; search finds ids`)},
		"compare highest":     {"compare", `{"items":[{"id":"b","value":9},{"id":"a","value":10.5},{"id":"c","value":-1}],"order":"highest"}`, ok(`{"best":{"id":"a","value":10.5},"ranking":["a","b","c"]}`)},
		"compare lowest":      {"compare", `{"items":[{"id":"b","value":9},{"id":"a","value":10.5},{"id":"c","value":-1}],"order":"lowest"}`, ok(`{"best":{"id":"c","value":-1},"ranking":["c","b","a"]}`)},
		"tie":                 {"compare", `{"items":[{"id":"b","value":9.0},{"id":"c","value":1},{"id":"a","value":9}],"order":"highest"}`, ok(`{"best":{"id":"a","value":9},"ranking":["a","b","c"],"tie":["a","b"]}`)},
		"tie behind":          {"compare", `{"items":[{"id":"b","value":9},{"id":"c","value":10},{"id":"a","value":9}],"order":"highest"}`, ok(`{"best":{"id":"c","value":10},"ranking":["c","a","b"]}`)},
		"beyond a float":      {"compare", `{"items":[{"id":"b","value":9007199254740992},{"id":"a","value":9007199254740993}],"order":"highest"}`, ok(`{"best":{"id":"a","value":9007199254740993},"ranking":["a","b"]}`)},
		"one item":            {"compare", `{"items":[{"id":"b","value":9}],"order":"lowest"}`, failed(codeBadArgs, "items must be 2 to 20, but are 1")},
		"no items":            {"compare", `{"order":"lowest"}`, failed(codeBadArgs, "items must be 2 to 20, but are 0")},
		"no order":            {"compare", `{"items":[{"id":"b","value":9},{"id":"a","value":9}]}`, failed(codeBadArgs, `order must be highest or lowest, but is ""`)},
		"no value":            {"compare", `{"items":[{"id":"b","value":9},{"id":"a"}],"order":"lowest"}`, failed(codeBadArgs, "the value of item 2 must be a number")},
		"null as a value":     {"compare", `{"items":[{"id":"b","value":null},{"id":"a","value":1}],"order":"lowest"}`, failed(codeBadArgs, "the value of item 1 must be a number")},
		"a word":              {"compare", `{"items":[{"id":"b","value":"9"},{"id":"a","value":1}],"order":"lowest"}`, failed(codeBadArgs, "the value of item 1 must be a number")},
		"huge":                {"compare", `{"items":[{"id":"b","value":1e9999999999},{"id":"a","value":1}],"order":"lowest"}`, failed(codeBadArgs, "the value of item 1 must be a number")},
		"the same twice":      {"compare", `{"items":[{"id":"b","value":1},{"id":"b","value":1}],"order":"lowest"}`, failed(codeBadArgs, "the id of item 2 must be one of its own, of at most 64 characters")},
		"no id":               {"compare", `{"items":[{"value":1},{"id":"b","value":1}],"order":"lowest"}`, failed(codeBadArgs, "the id of item 1 must be one of its own, of at most 64 characters")},
	} {
		t.Run(tc.tool+" "+name, func(t *testing.T) {
			require.Equal(t, tc.want, withDocuments().Call(asked(tc.tool, tc.args), noon))
		})
	}
	many := make([]string, 21)
	for i := range many {
		many[i] = fmt.Sprintf(`{"id":"i%d","value":%d}`, i, i)
	}
	list := func(n int) string { return `{"items":[` + strings.Join(many[:n], ",") + `],"order":"highest"}` }
	require.Equal(t, failed(codeBadArgs, "items must be 2 to 20, but are 21"), withDocuments().Call(asked("compare", list(21)), noon))
	require.Contains(t, string(withDocuments().Call(asked("compare", list(20)), noon).Value), `"best":{"id":"i19","value":19}`)
	for _, name := range []string{"search", "open", "extract", "compare"} {
		r := withDocuments().Call(asked(name, `{"nope":"`+strings.Repeat("x", 1000)+`"}`), noon)
		require.Equal(t, tool.Error, r.Outcome, name)
		require.Equal(t, codeBadArgs, r.Code)
	}
}

// A world without documents finds none.
func TestNoDocuments(t *testing.T) {
	w := withDocuments([]document{}...)
	require.Equal(t, ok(`{"query":"x","results":[],"total":0}`), w.Call(asked("search", `{"query":"x"}`), noon))
	require.Equal(t, codeNotFound, w.Call(asked("open", `{"id":"x"}`), noon).Code)
	require.Equal(t, codeNotFound, w.Call(asked("extract", `{"id":"x","field":"y"}`), noon).Code)
}

var noWord = regexp.MustCompile(`[^\p{L}\p{M}\p{N}]+`)

// found searches by a simple method: replace characters other than letters and digits
// by blanks, fold the case, and look for each word between blanks.
func found(docs []document, query string) (ids []string) {
	plain := func(text string) string {
		text = noWord.ReplaceAllString(text, " ")
		return " " + strings.Map(func(r rune) rune { // the smallest of the runes that differ in case only
			least := r
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				least = min(least, f)
			}
			return least
		}, text) + " "
	}
	inTitle := map[string]int{}
	for _, d := range docs {
		all := plain(d.Title) + plain(d.Text)
		for _, v := range d.Fields {
			if v != nil {
				all += plain(fmt.Sprint(v))
			}
		}
		matches := true
		for _, word := range strings.Fields(plain(query)) {
			matches = matches && strings.Contains(all, " "+word+" ")
		}
		if !matches {
			continue
		}
		ids = append(ids, d.ID)
		for _, word := range strings.Fields(plain(d.Title)) {
			if slices.Contains(strings.Fields(plain(query)), word) {
				inTitle[d.ID]++
			}
		}
	}
	slices.Sort(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return inTitle[b] - inTitle[a] })
	return ids
}

// The test searches random libraries of few words with both methods.
func TestSearchFindsWhatTheReferenceFinds(t *testing.T) {
	words := []string{"north", "North", "NORTH-east", "oak", "Öl", "ÖL", "ſand", "Sand", "41", "41.5", "head's", "café", "x"}
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		var out []string
		for range 1 + r.IntN(n) {
			out = append(out, words[r.IntN(len(words))])
		}
		return strings.Join(out, []string{" ", ", ", " - "}[r.IntN(3)])
	}
	some := 0
	for range 400 {
		var docs []document
		for _, i := range r.Perm(r.IntN(30)) {
			docs = append(docs, document{ID: fmt.Sprintf("d%02d", i), Title: text(4), Text: text(8), Fields: map[string]any{"a": text(2), "b": json.Number("41.5"), "c": nil}})
		}
		query := text(3)
		want := found(docs, query)
		var got struct {
			Total   int
			Results []struct{ ID string }
		}
		res := withDocuments(append([]document{}, docs...)...).Call(asked("search", fmt.Sprintf(`{"query":%q,"limit":20}`, query)), noon)
		require.NoError(t, json.Unmarshal(res.Value, &got), res.Message)
		require.Equal(t, len(want), got.Total, query)
		ids := []string{}
		for _, d := range got.Results {
			ids = append(ids, d.ID)
		}
		require.Equal(t, append([]string{}, want[:min(20, len(want))]...), ids, query)
		some += min(1, got.Total)
	}
	require.Greater(t, some, 200, "searches that find something")
}

// FuzzDocumentTools checks that any arguments give a result of bounded size, the same
// one every time, whose value is JSON.
func FuzzDocumentTools(f *testing.F) {
	for _, args := range []string{
		`{"query":"north","limit":3}`, `{"query":"\ud800","limit":-0}`, `{"id":"oak-head","field":"built"}`, `{"id":null}`, `null`, `[]`, ``,
		`{"items":[{"id":"a","value":1},{"id":"b","value":2e9}],"order":"lowest"}`, `{"items":[{},{"value":{}}],"order":"highest"}`,
	} {
		for i := range 4 {
			f.Add(i, args)
		}
	}
	f.Fuzz(func(t *testing.T, i int, args string) {
		call := asked([]string{"search", "open", "extract", "compare"}[i&3], args)
		got := withDocuments().Call(call, noon)
		require.Equal(t, got, withDocuments().Call(call, noon))
		if got.Outcome == tool.OK {
			require.True(t, json.Valid(got.Value))
			require.Less(t, len(got.Value), 4000+2*len(args))
			return
		}
		require.Equal(t, tool.Error, got.Outcome)
		require.NotEmpty(t, got.Code)
		require.Nil(t, got.Value)
		require.Less(t, len(got.Message), 1000)
	})
}

// BenchmarkSearch searches 200 full documents. Floor: reading their 94 kB
// once, about 10 µs.
func BenchmarkSearch(b *testing.B) {
	var docs []document
	for i := range 200 {
		docs = append(docs, document{ID: fmt.Sprintf("d%03d", i), Title: "A light", Date: "2020-01-02", Text: strings.Repeat("north coast, ", 450/13), Fields: map[string]any{"designer": "Ada Lund"}})
	}
	w := withDocuments(docs...)
	call := asked("search", `{"query":"coast lund missing"}`)
	b.ReportAllocs()
	for b.Loop() {
		if r := w.Call(call, noon); r.Outcome != tool.OK {
			b.Fatal(r.Message)
		}
	}
}
