package load

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
	"github.com/cupel-eval/cupel/goldens/world"
)

// shelved is head with a library for its world, from line 18 on, and a task.
func shelved(documents string) string {
	return strings.Replace(suitetest.Head, "\ndefaults:", "\n    documents:\n"+documents+"\ndefaults:", 1) + "tasks: [" + suitetest.Task + "]\n"
}

func TestLoadDocuments(t *testing.T) {
	text := shelved(`      - {id: a-1, title: A, date: 2020-01-02, text: Hi there, fields: {n: 1.50, s: x, d: 2020-02-29, gone: }}
      - {id: "2", title: B, date: 2020-01-03, text: Ho}
  more:
    from: may
    documents:
      - {id: c, title: C, date: 2020-01-04, text: New}
      - {id: a-1, title: A, date: 2020-01-02, text: Other}`)
	text = strings.Replace(text, "["+suitetest.Task, "["+suitetest.Task+", {id: B, request: Hi, world: more, expect: {status: answered}}", 1)
	s, err := Suite(suitetest.Folder(text), "s")
	require.NoError(t, err)
	a := world.Document{ID: "a-1", Title: "A", Date: "2020-01-02", Text: "Hi there", Fields: map[string]any{"n": json.Number("1.50"), "s": "x", "d": "2020-02-29", "gone": nil}}
	b := world.Document{ID: "2", Title: "B", Date: "2020-01-03", Text: "Ho"}
	require.Equal(t, []world.Document{a, b}, s.Tasks[0].World.Documents)
	require.Equal(t, []world.Document{{ID: "a-1", Title: "A", Date: "2020-01-02", Text: "Other"}, b, {ID: "c", Title: "C", Date: "2020-01-04", Text: "New"}}, s.Tasks[1].World.Documents)
}

func TestLoadDocumentProblems(t *testing.T) {
	const at = "s/suite.yaml:19: worlds.may.documents[0]"
	one := func(change, to string) string {
		return strings.Replace("      - {id: a, title: A, date: 2020-01-02, text: Hi, fields: {n: 1}}", change, to, 1)
	}
	many := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("      - {id: d%d, title: D, date: 2020-01-02, text: Hi}", i))
		}
		return strings.Join(out, "\n")
	}
	fields := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprintf("f%d: %d", i, i))
		}
		return strings.Join(out, ", ")
	}
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"sound":            {one("", ""), nil},
		"no list":          {"      id: a", []string{"s/suite.yaml:18: worlds.may.documents: must be a list, but is a mapping"}},
		"nothing":          {"      - {}", []string{at + ".id: is missing", at + ".title: is missing", at + ".date: is missing", at + ".text: is missing"}},
		"unknown field":    {one("title", "titel"), []string{at + ".titel: unknown field (did you mean title?); allowed: id, title, date, text, fields", at + ".title: is missing"}},
		"capital id":       {one("id: a", "id: Alder"), []string{at + `.id: "Alder" may hold only a-z, 0-9 and dash`}},
		"long id":          {one("id: a", "id: "+strings.Repeat("a", 65)), []string{at + ".id: must be at most 64 characters, but is 65"}},
		"id as a number":   {one("id: a", "id: 1"), []string{at + ".id: must be a string, but is a number: put 1 in quotes"}},
		"twice":            {one("", "") + "\n" + one("", ""), []string{"s/suite.yaml:20: worlds.may.documents[1].id: document a is here already, on line 19"}},
		"blank title":      {one("title: A", "title: ' '"), []string{at + ".title: must not be blank"}},
		"no such day":      {one("2020-01-02", "2021-02-29"), []string{at + `.date: "2021-02-29" is not a date of the calendar`}},
		"no date":          {one("2020-01-02", "May"), []string{at + `.date: "May" is not written YYYY-MM-DD`}},
		"empty date":       {one("2020-01-02", "''"), []string{at + ".date: must not be blank"}},
		"text at its end":  {one("Hi", strings.Repeat("ö", 450)), nil},
		"long text":        {one("Hi", strings.Repeat("ö", 451)), []string{at + ".text: must be at most 450 characters, but is 451"}},
		"list as a value":  {one("n: 1", "n: [1]"), []string{at + ".fields.n: must be a number, a string or empty, but is a list"}},
		"flag as a value":  {one("n: 1", "n: true"), []string{at + ".fields.n: must be a number, a string or empty, but is a boolean"}},
		"hexadecimal":      {one("n: 1", "n: 0x10"), []string{at + ".fields.n: 0x10 is not a number in decimal from -9007199254740991 to 9007199254740991"}},
		"infinite":         {one("n: 1", "n: .inf"), []string{at + ".fields.n: .inf is not a number in decimal from -9007199254740991 to 9007199254740991"}},
		"huge":             {one("n: 1", "n: 1e300"), []string{at + ".fields.n: 1e300 is not a number in decimal from -9007199254740991 to 9007199254740991"}},
		"name of a field":  {one("n: 1", "Height: 1"), []string{at + `.fields.Height: "Height" may hold only a-z, 0-9 and underscore`}},
		"long value":       {one("n: 1", "n: "+strings.Repeat("x", 101)), []string{at + ".fields.n: must be at most 100 characters, but is 101"}},
		"twenty fields":    {one("n: 1", fields(20)), nil},
		"too many fields":  {one("n: 1", fields(21)), []string{at + ".fields: a document may have at most 20 fields"}},
		"two hundred":      {many(200), nil},
		"too many":         {many(201), []string{"s/suite.yaml:18: worlds.may.documents: a world may have at most 200 documents, and would have 201"}},
		"too many at last": {many(199) + "\n  more:\n    from: may\n    documents:\n      - {id: x, title: X, date: 2020-01-02, text: X}\n      - {id: y, title: Y, date: 2020-01-02, text: Y}", []string{"s/suite.yaml:220: worlds.more.documents: a world may have at most 200 documents, and would have 201"}},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, problemsOf(t, suitetest.Folder(shelved(tc.text)))) })
	}
}

// A library is part of a task's world, and of nothing else; a world without one is
// digested as it was before there were any.
func TestDigestOfDocuments(t *testing.T) {
	load := func(text string) *goldens.Suite {
		s, err := Suite(suitetest.Folder(text), "s")
		require.NoError(t, err)
		return s
	}
	plain := load(suitetest.Head + "tasks: [" + suitetest.Task + "]\n")
	require.Equal(t, plain.Digest, load(strings.Replace(suitetest.Head, "\ndefaults:", "\n    documents: []\ndefaults:", 1)+"tasks: ["+suitetest.Task+"]\n").Digest)

	const doc = "      - {id: a, title: A, date: 2020-01-02, text: Hi, fields: {n: 1}}"
	base := load(shelved(doc))
	require.NotEqual(t, plain.Digest, base.Digest)
	for _, change := range [][2]string{{"id: a", "id: b"}, {"title: A", "title: B"}, {"01-02", "01-03"}, {"Hi", "Ho"}, {"n: 1", "n: 2"}, {"n: 1", "n: '1'"}, {"n: 1", "n: "}, {"{n: 1}", "{}"}} {
		other := load(shelved(strings.Replace(doc, change[0], change[1], 1)))
		require.NotEqual(t, base.Digest, other.Digest, change)
		is, was := other.TaskParts(other.Tasks[0]), base.TaskParts(base.Tasks[0])
		require.NotEqual(t, was.World, is.World, change)
		is.World = was.World
		require.Equal(t, was, is)
	}
}
