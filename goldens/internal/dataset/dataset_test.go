package dataset

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

func TestCSV(t *testing.T) {
	tests := []struct {
		name, text string
		rows       string // as JSON
		faults     []Fault
	}{
		{"quotes and lines", "\uFEFFid,text\r\n1,\"a, \"\"b\"\"\nc\"\r\n\r\n2,\r\n", `[{"Line":2,"Values":{"id":"1","text":"a, \"b\"\nc"}},{"Line":5,"Values":{"id":"2","text":""}}]`, nil},
		{"all bad rows", "a,b\n1\n1,2\n1,2,3\n", `[{"Line":3,"Values":{"a":"1","b":"2"}}]`, []Fault{{2, "has 1 cells, but the header has 2 columns"}, {4, "has 3 cells, but the header has 2 columns"}}},
		{"broken quotes", "a\n1\n\"2\n", `[{"Line":2,"Values":{"a":"1"}}]`, []Fault{{3, `not valid CSV: extraneous or missing " in quoted-field`}}},
		{"invalid UTF-8", "a\n\xff\n", `[{"Line":2,"Values":{"a":"�"}}]`, []Fault{{2, "column a is not valid UTF-8"}}},
		{"empty", "", `null`, []Fault{{1, "the file is empty; its first line must name the columns"}}},
		{"twice", "a,a\n", `null`, []Fault{{1, `two columns are named "a"`}}},
		{"bad name", "a,b c\n", `null`, []Fault{{1, `column 2 is named "b c"; a name has letters, digits, _, - and . and starts with a letter or _`}}},
		{"wide", strings.Repeat("a,", maxColumns) + "a\n", `null`, []Fault{{1, "has 201 columns; at most 200 are read"}}},
		{"too many", "a\n1\n2\n3\n4\n", `[{"Line":2,"Values":{"a":"1"}},{"Line":3,"Values":{"a":"2"}},{"Line":4,"Values":{"a":"3"}}]`, []Fault{{5, "at most 3 rows are read"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, rows, faults := CSV([]byte(tt.text), 3)
			got, err := json.Marshal(rows)
			require.NoError(t, err)
			require.JSONEq(t, tt.rows, string(got))
			require.Equal(t, tt.faults, faults)
		})
	}
}

func TestLines(t *testing.T) {
	columns, rows, faults := Lines([]byte("{\"b\": [1.50], \"a\": \"x\"}\n\n{\"c\": null}\n[]\n{\"a\": 1, \"a\": 2}\n{\"a\"\n\"\xff\"\n{}\n"), 9)
	require.Equal(t, []string{"b", "a", "c"}, columns)
	require.Equal(t, []Row{
		{1, map[string]json.RawMessage{"b": json.RawMessage("[1.50]"), "a": json.RawMessage(`"x"`)}},
		{3, map[string]json.RawMessage{"c": json.RawMessage("null")}},
		{8, map[string]json.RawMessage{}},
	}, rows)
	require.Equal(t, []Fault{{4, "must be a JSON object"}, {5, `has the member "a" twice`}, {6, "is not valid JSON: unexpected end of JSON input"}, {7, "is not valid UTF-8"}}, faults)
	_, _, faults = Lines([]byte("\n"), 9)
	require.Equal(t, []Fault{{1, "the file is empty"}}, faults)
	_, rows, faults = Lines([]byte("{}\n{}\n{}\n"), 2)
	require.Len(t, rows, 2)
	require.Equal(t, []Fault{{3, "at most 2 rows are read"}}, faults)
}

func TestFill(t *testing.T) {
	row := Row{7, map[string]json.RawMessage{
		"text": json.RawMessage(`"a: {b}\n"`), "n": json.RawMessage("1.50"), "list": json.RawMessage(`["x", {"b": 1, "a": null}]`), "json": json.RawMessage(`"[1, true]"`), "none": json.RawMessage("null"),
	}}
	tests := []struct{ template, want, detail string }{
		{`"{text}"`, `"a: {b}\n"`, ""}, // what a value has in braces is not a reference
		{`"{n}"`, `1.50`, ""},
		{`"{list}"`, `["x",{"b":1,"a":null}]`, ""},
		{`"{json:json}"`, `[1,true]`, ""},
		{`"{text:json}"`, `null`, `column text must be JSON, but is "a: {b}\n"`},
		{`"{n:json}"`, `1.50`, ""},
		{`"{none}"`, `null`, ""},
		{`"{absent}"`, `null`, ""},
		{`"n is {n}, {none}{list}."`, `"n is 1.50, [\"x\", {\"b\": 1, \"a\": null}]."`, ""},
		{`"{{n}} is {n}}}"`, `"{n} is 1.50}"`, ""},
		{`"{{n}}"`, `"{n}"`, ""},
		{`{a: [&x "{n}", *x, 3, true, 2026-05-01], b: {c: "{list}"}}`, `{"a":[1.50,1.50,3,true,"2026-05-01"],"b":{"c":["x",{"b":1,"a":null}]}}`, ""},
		{`"1{{"`, `"1{"`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.template, func(t *testing.T) {
			var doc yaml.Node
			require.NoError(t, yaml.Unmarshal([]byte(tt.template), &doc))
			got, detail := Fill(doc.Content[0], row)
			require.Equal(t, tt.detail, detail)
			require.Equal(t, 7, got.Line)
			require.JSONEq(t, tt.want, asJSON(t, got))
		})
	}
}

// asJSON is a node as JSON, through the YAML library.
func asJSON(t *testing.T, n *yaml.Node) string {
	for i, c := range n.Content {
		require.Equal(t, 7, c.Line)
		if n.Kind != yaml.MappingNode || i%2 == 1 {
			asJSON(t, c)
		}
	}
	if n.ShortTag() == "!!timestamp" {
		n.Tag = "!!str"
	}
	var v any
	require.NoError(t, n.Decode(&v))
	dates(v)
	out, err := json.Marshal(dates(v))
	require.NoError(t, err)
	return string(out)
}

// dates turns times that the library made of dates to texts.
func dates(v any) any {
	if s, ok := v.(interface{ Format(string) string }); ok {
		return s.Format("2006-01-02")
	}
	if list, ok := v.([]any); ok {
		for i := range list {
			list[i] = dates(list[i])
		}
	}
	if m, ok := v.(map[string]any); ok {
		for k := range m {
			m[k] = dates(m[k])
		}
	}
	return v
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2\n", "a\n\"x\ny\"\n", "a\n\"", "", "a,a\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		columns, rows, faults := CSV([]byte(text), 100)
		if len(faults) > 0 {
			return
		}
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\uFEFF")))
		all, err := r.ReadAll()
		require.NoError(t, err)
		require.Len(t, rows, len(all)-1)
		for i, row := range rows {
			require.Len(t, row.Values, len(columns))
			var cell string
			require.NoError(t, json.Unmarshal(row.Values[columns[0]], &cell))
			require.Equal(t, all[i+1][0], cell)
		}
	})
}

func FuzzFill(f *testing.F) {
	f.Add(`{"a": [1, "x", {"b": null}]}`, "{a} and {{b}} {a:json}")
	f.Add(`{"a": 1e400}`, "{a}")
	f.Fuzz(func(t *testing.T, line, template string) {
		_, rows, faults := Lines([]byte(line), 1)
		if len(faults) > 0 || len(rows) == 0 {
			return
		}
		n, _ := Fill(&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: template}, rows[0])
		require.NotNil(t, n)
	})
}
