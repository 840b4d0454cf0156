package load

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/internal/suitetest"
)

// A row gives the task that the same values give when they are written out.
func TestDatasetIsTasks(t *testing.T) {
	written, err := Suite(suitetest.Folder(suitetest.Head+`tasks:
  - {id: q-1, request: "How many praise, on 12 May?", tags: [easy], expect: {status: answered, numbers: [3], calls: [get_counts: {label: praise, start_date: 2026-05-12, end_date: 2026-05-12}], contains_any: [3, three]}}
  - {id: q-2, request: "7", tags: [hard], expect: {status: answered, numbers: [2.5], calls: [], contains_any: ["2,5"]}}
`), "s", suitetest.Worlds())
	require.ErrorContains(t, err, "must be a string, but is a number: put 3 in quotes")
	require.Nil(t, written)
	written, err = Suite(suitetest.Folder(suitetest.Head+`tasks:
  - {id: q-1, request: "How many praise, on 12 May?", tags: [easy], expect: {status: answered, numbers: [3], calls: [get_counts: {label: praise, start_date: 2026-05-12, end_date: 2026-05-12}], contains_any: ["3", three]}}
  - {id: q-2, request: "7", tags: [hard], expect: {status: answered, numbers: [2.5], calls: [], contains_any: ["2,5"]}}
`), "s", suitetest.Worlds())
	require.NoError(t, err)
	const csvRows = `n,question,level,number,calls,texts
1,"How many praise, on 12 May?",easy,3,"[{""get_counts"": {""label"": ""praise"", ""start_date"": ""2026-05-12"", ""end_date"": ""2026-05-12""}}]","[""3"", ""three""]"
2,7,hard,2.5,[],"[""2,5""]"
`
	const lines = `{"n": 1, "question": "How many praise, on 12 May?", "level": "easy", "number": 3, "calls": [{"get_counts": {"label": "praise", "start_date": "2026-05-12", "end_date": "2026-05-12"}}], "texts": ["3", "three"]}

{"n": 2, "question": 7, "level": "hard", "number": 2.5, "calls": [], "texts": ["2,5"]}
`
	const task = `id: "q-{n}", request: "{question}", tags: ["{level}"], expect: {status: answered, numbers: ["{number}"], `
	for name, suite := range map[string]struct{ file, text, tasks string }{
		"csv":         {"data/rows.csv", csvRows, `{from: data/rows.csv, ` + task + `calls: "{calls:json}", contains_any: "{texts:json}"}}`},
		"lines":       {"rows.jsonl", lines, `{from: rows.jsonl, ` + task + `calls: "{calls}", contains_any: "{texts}"}}`},
		"in a list":   {"rows.ndjson", lines, `[{from: rows.ndjson, ` + task + `calls: "{calls}", contains_any: "{texts}"}}]`},
		"json of any": {"rows.jsonl", lines, `{from: rows.jsonl, ` + task + `calls: "{calls:json}", contains_any: "{texts:json}"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			read, err := Suite(suitetest.Folder(suitetest.Head+"tasks: "+suite.tasks+"\n", suite.file, suite.text), "s", suitetest.Worlds())
			require.NoError(t, err)
			require.Equal(t, written.Digest, read.Digest)
			require.Equal(t, "s/"+suite.file, read.Tasks[1].File)
			require.Equal(t, 2+strings.Count(suite.text[:strings.LastIndex(suite.text, "2,5")], "\n")-1, read.Tasks[1].Line)
			require.NoError(t, compiledSchema(t).Validate(asJSON(t, []byte(suitetest.Head+"tasks: "+suite.tasks+"\n"))))
		})
	}
}

func TestDatasetProblems(t *testing.T) {
	const rest = `id: "{id}", request: "{q}", expect: {status: answered, numbers: ["{n}"]}}`
	tests := []struct {
		name, tasks, file string
		want              []string
	}{
		{"every row", "{from: d.csv, " + rest, "id,q,n\na,x,1\n,y,2\nc/d,z,three\na,x,4\ne,\n", []string{
			"s/d.csv:6: has 2 cells, but the header has 3 columns",
		}},
		{"every value", "{from: d.csv, " + rest, "id,q,n\na,x,1\n,y,2\nc/d,z,three\na,x,4\n", []string{
			"s/d.csv:3: id: must not be blank",
			`s/d.csv:4: id: "c/d" may hold only letters, digits, dot, dash and underscore`,
			`s/d.csv:4: expect.numbers[0]: must be a number written in plain digits, such as 1234567 or 25.5, but is "three"`,
			"s/d.csv:5: task id a is taken by the task at s/d.csv:2",
		}},
		{"null", "{from: d.jsonl, " + rest, `{"id": "a", "q": null, "n": 1}`, []string{"s/d.jsonl:1: request: must be a string, but is empty"}},
		{"unprovable", `{from: d.jsonl, id: "{id}", request: x, expect: {status: answered, numbers: ["{n}"], not_numbers: ["{n}"]}}`, `{"id": "a", "n": 1}`, []string{"s/d.jsonl:1: expect.numbers[0]: no episode can meet this and expect.not_numbers[0] (s/d.jsonl:1): "}},
		{"columns", "{from: d.csv, " + rest, "id,quest,n\n", []string{"s/d.csv:1: must have at least one row below the header"}},
		{"column", "{from: d.csv, " + rest, "id,quest,n\n1,2,3\n", []string{`s/suite.yaml:19: tasks.request: the file has no column "q" (did you mean n?); it has: id, quest, n; write {{q}} for a text in braces`}},
		{"not JSON", `{from: d.csv, id: "{id}", request: "{q:json}", expect: {status: answered}}`, "id,q\na,1\nb,[\n", []string{`s/d.csv:3: column q must be JSON, but is "["`}},
		{"format", "{from: d.txt, " + rest, "", []string{`s/suite.yaml:19: tasks.from: "d.txt" must be a .csv or .jsonl file`}},
		{"no file", "{from: ../d.csv, " + rest, "", []string{`s/suite.yaml:19: tasks.from: "../d.csv": there is no such file`}},
		{"fields", "{from: d.csv, ids: x}", "id\n1\n", []string{
			"s/suite.yaml:19: tasks.ids: unknown field (did you mean id?); allowed: from, " + strings.Join(taskFields, ", "), "s/suite.yaml:19: tasks.id: is missing", "s/suite.yaml:19: tasks.request: is missing", "s/suite.yaml:19: tasks.expect: is missing",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Suite(suitetest.Folder(suitetest.Head+"tasks: "+tt.tasks+"\n", "d.csv", tt.file, "d.jsonl", tt.file, "d.txt", tt.file), "s", suitetest.Worlds())
			require.Error(t, err)
			lines := strings.Split(err.Error(), "\n")
			require.Len(t, lines, len(tt.want), err.Error())
			for i, want := range tt.want {
				require.True(t, strings.HasPrefix(lines[i], want), lines[i])
			}
		})
	}
}

func TestDatasetIsBounded(t *testing.T) {
	var bad, good strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&bad, "{\"id\": \"a/%d\"}\n", i)
		fmt.Fprintf(&good, "{\"id\": \"a%d\", \"n\": %d}\n", i, i)
	}
	const suite = suitetest.Head + `tasks: {from: d.jsonl, id: "{id}", request: x, expect: {status: answered, numbers: [7]}}` + "\n"
	_, err := Suite(suitetest.Folder(suite, "d.jsonl", bad.String()), "s", suitetest.Worlds())
	require.ErrorContains(t, err, "s/d.jsonl:100: and 2900 more problems of this file")
	require.Equal(t, maxRowProblems, strings.Count(err.Error(), "\n"))

	var s *goldens.Suite
	s, err = Suite(suitetest.Folder(suite, "d.jsonl", good.String()), "s", suitetest.Worlds())
	require.NoError(t, err)
	require.Len(t, s.Tasks, 3_000)
}
