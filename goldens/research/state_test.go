package research

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens/world"
)

func TestStateProblems(t *testing.T) {
	const at = "documents.a"
	one := func(change, to string) string {
		return `{"documents":{` + strings.Replace(`"a":{"title":"A","date":"2020-01-02","text":"Hi","fields":{"n":1}}`, change, to, 1) + `}}`
	}
	many := func(n int) string {
		docs := map[string]any{}
		for i := range n {
			docs[fmt.Sprint("d", i)] = map[string]any{"title": "D", "date": "2020-01-02", "text": "Hi"}
		}
		text, err := json.Marshal(map[string]any{"documents": docs})
		require.NoError(t, err)
		return string(text)
	}
	fields := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf(`"f%d":%d`, i, i))
		}
		return strings.Join(out, ",")
	}
	const number = ".fields.n: must be a number from -9007199254740991 to 9007199254740991"
	for name, tc := range map[string]struct {
		state string
		want  string
	}{
		"sound":           {one("", ""), ""},
		"none":            {"", ""},
		"no mapping":      {"[]", ": must be a mapping"},
		"a list":          {`{"documents":[]}`, "documents: must map ids to documents"},
		"unknown":         {`{"docs":1}`, "docs: unknown field; allowed: documents"},
		"no document":     {`{"documents":{"a":1}}`, at + ": must be a mapping of title, date, text and fields"},
		"nothing":         {`{"documents":{"a":{}}}`, at + ".title: is missing\n" + at + ".date: is missing\n" + at + ".text: is missing"},
		"unknown field":   {one("title", "titel"), at + ".titel: unknown field; allowed: title, date, text, fields\n" + at + ".title: is missing"},
		"capital id":      {one(`"a"`, `"Alder"`), "documents.Alder: an id has 1 to 64 of a-z, 0-9 and dash"},
		"title a number":  {one(`"A"`, "1"), at + ".title: must be a string"},
		"blank title":     {one(`"A"`, `" "`), at + ".title: must not be blank"},
		"long title":      {one(`"A"`, `"`+strings.Repeat("x", 101)+`"`), at + ".title: must be at most 100 characters, but is 101"},
		"no such day":     {one("2020-01-02", "2021-02-29"), at + `.date: "2021-02-29" is not a date of the calendar, written YYYY-MM-DD`},
		"no date":         {one("2020-01-02", "May"), at + `.date: "May" is not a date of the calendar, written YYYY-MM-DD`},
		"empty date":      {one("2020-01-02", ""), at + ".date: must not be blank"},
		"text at its end": {one("Hi", strings.Repeat("ö", 450)), ""},
		"long text":       {one("Hi", strings.Repeat("ö", 451)), at + ".text: must be at most 450 characters, but is 451"},
		"list as a value": {one(`"n":1`, `"n":[1]`), at + ".fields.n: must be a number, a string or empty"},
		"flag as a value": {one(`"n":1`, `"n":true`), at + ".fields.n: must be a number, a string or empty"},
		"huge":            {one(`"n":1`, `"n":1e300`), at + number},
		"not recorded":    {one(`"n":1`, `"n":null`), ""},
		"name of a field": {one(`"n":1`, `"Height":1`), at + `.fields.Height: "Height" may hold only a-z, 0-9 and underscore`},
		"long value":      {one(`"n":1`, `"n":"`+strings.Repeat("x", 101)+`"`), at + ".fields.n: must be at most 100 characters, but is 101"},
		"twenty fields":   {one(`"n":1`, fields(20)), ""},
		"too many fields": {one(`"n":1`, fields(21)), at + ".fields: must be a mapping of at most 20 fields"},
		"two hundred":     {many(200), ""},
		"too many":        {many(201), "documents: a world may have at most 200 documents, and would have 201"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := kind{}.Bind(json.RawMessage(tc.state))
			if tc.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, tc.want)
		})
	}
}

// Worlds report the problems of a state that was not checked before.
func TestOpenChecksTheState(t *testing.T) {
	_, err := kind{}.Open(t.Context(), world.Start{State: []byte(`{"documents":[]}`)})
	require.EqualError(t, err, "documents: must map ids to documents")
	w, err := kind{}.Open(t.Context(), world.Start{State: []byte(`{"documents":{}}`)})
	require.NoError(t, err)
	require.Empty(t, w)
}
