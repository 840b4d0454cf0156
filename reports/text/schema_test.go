package text

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

type published struct {
	file, title string
	root        reflect.Type
}

// publishedSchemas are the files in docs/schema.
func publishedSchemas() []published {
	return []published{
		{"report.json", "report.json of a cupel run", reflect.TypeFor[model.Report]()},
		{"comparison.json", "The comparison of two cupel runs as JSON", reflect.TypeFor[compare.Comparison]()},
	}
}

// Schemas are made from the Go types; rewrite them with:
// go test ./reports/text -run PublishedSchemas -update
func TestPublishedSchemas(t *testing.T) {
	for _, p := range publishedSchemas() {
		t.Run(p.file, func(t *testing.T) {
			got := generateSchema(t, "https://github.com/cupel-eval/cupel/docs/schema/"+p.file, p.title, p.root)
			path := filepath.Join("..", "..", "docs", "schema", p.file)
			if testkit.Update() {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "go test ./reports/text -run PublishedSchemas -update")
		})
	}
}

// readSchema compiles a published schema, and returns it decoded as well.
func readSchema(t testing.TB, file string) (*jsonschema.Schema, map[string]any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "schema", file))
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("https://github.com/cupel-eval/cupel/docs/schema/"+file, doc))
	s, err := c.Compile("https://github.com/cupel-eval/cupel/docs/schema/" + file)
	require.NoError(t, err)
	return s, doc.(map[string]any)
}

func decoded(t testing.TB, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return v
}

func TestReportsFitTheirSchema(t *testing.T) {
	s, _ := readSchema(t, "report.json")
	golden, err := os.ReadFile("../testdata/report.json")
	require.NoError(t, err)
	nobody := reporttest.NewWorld("a")
	nobody.Add(1, "t", false, 0, nil)
	for name, text := range map[string]string{
		"golden": string(golden), "hostile": reporttest.Render(t, JSON, build(reporttest.Hostile())), "ways to fail": reporttest.Render(t, JSON, build(reporttest.Ways().M, reporttest.Ways().Rows)),
		"nothing solved": reporttest.Render(t, JSON, build(nobody.M, nobody.Rows)), "no episodes": reporttest.Render(t, JSON, build(manifest.Manifest{}, ledger.Rows{})),
	} {
		t.Run(name, func(t *testing.T) { require.NoError(t, s.Validate(decoded(t, text))) })
	}
}

// With any fields set or unset, the JSON fits the schema. JSON with a changed type or
// null does not.
func TestSchemasFitAnyValue(t *testing.T) {
	for _, p := range publishedSchemas() {
		for _, full := range []bool{true, false} {
			v := reflect.New(p.root)
			populate(t, v.Elem(), full)
			var b bytes.Buffer
			require.NoError(t, writeJSON(&b, "JSON", v.Elem().Interface(), json.FormatNilSliceAsNull(false)))
			s, _ := readSchema(t, p.file)
			require.NoError(t, s.Validate(decoded(t, b.String())), "%s, full %t", p.file, full)
			for _, change := range []struct{ from, to string }{
				{`"format": 7`, `"format": null`}, {`"format": 7`, `"format": 7.5`}, {`"verdict": "fail"`, `"verdict": "maybe"`}, {`"notes": [`, `"notes": {}, "other": [`}, {`"headline":`, `"other":`},
			} {
				require.Contains(t, b.String(), change.from)
				require.Error(t, s.Validate(decoded(t, strings.Replace(b.String(), change.from, change.to, 1))), "%s: %s", p.file, change.to)
			}
		}
	}
}

// Every name in the JSON of a value with everything in it is in the schema, in its
// place, and the other way round. This looks at neither tags nor types.
func TestSchemasNameEveryField(t *testing.T) {
	for _, p := range publishedSchemas() {
		t.Run(p.file, func(t *testing.T) {
			v := reflect.New(p.root)
			populate(t, v.Elem(), true)
			var b bytes.Buffer
			require.NoError(t, writeJSON(&b, "JSON", v.Elem().Interface(), json.FormatNilSliceAsNull(false)))
			_, schema := readSchema(t, p.file)
			w := walker{t: t, root: schema}
			w.walk("", schema, decoded(t, b.String()))
			require.Greater(t, w.fields, 60)
			require.Greater(t, 4*w.described, 3*w.fields, "most fields are described")
		})
	}
}

// walker visits a value and its schema together.
type walker struct {
	t                 *testing.T
	root              map[string]any
	fields, described int
}

func (w *walker) walk(at string, schema map[string]any, value any) {
	if either, ok := schema["anyOf"].([]any); ok {
		w.walk(at, either[0].(map[string]any), value)
		return
	}
	if ref, ok := schema["$ref"].(string); ok {
		name, ok := strings.CutPrefix(ref, "#/$defs/")
		require.True(w.t, ok)
		w.walk(at, w.root["$defs"].(map[string]any)[name].(map[string]any), value)
		return
	}
	switch v := value.(type) {
	case map[string]any:
		properties := schema["properties"].(map[string]any)
		require.Equal(w.t, slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(v)), "fields of %s", at)
		for name, inner := range v {
			p := properties[name].(map[string]any)
			w.fields++
			if p["description"] != nil {
				w.described++
			}
			w.walk(at+"."+name, p, inner)
		}
	case []any:
		require.Len(w.t, v, 1, at)
		w.walk(at+"[]", schema["items"].(map[string]any), v[0])
	}
}
