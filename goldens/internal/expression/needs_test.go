package expression

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNeeds: what a program reads of its names, and that it gives the same value where
// they have no more than that.
func TestNeeds(t *testing.T) {
	const env = `{"found":{"total":2,"results":[{"id":"a","title":"A light","date":"d"},{"id":"b","title":"B light","date":"e"}]},
		"n":[{"value":3,"label":"x","more":[1]},{"value":1,"label":"y","more":[2]}],"name":"B","by":{"a":{"v":1,"w":2},"b":{"v":3,"w":4}}}`
	for text, want := range map[string]string{
		"1 + 2":                                  `{}`,
		"found.total":                            `{"found":{"total":null}}`,
		"found?.results[0].id":                   `{"found":{"results":{"*":{"id":null}}}}`,
		"by[found.results[1].id].v":              `{"by":{"*":{"v":null}},"found":{"results":{"*":{"id":null}}}}`,
		"by.a.v + by[name == 'B' ? 'b' : 'a'].w": `{"by":{"*":{"w":null},"a":{"v":null}},"name":null}`,
		"find(found.results, .title startsWith name).id": `{"found":{"results":{"*":{"id":null,"title":null}}},"name":null}`,
		"find(found.results, .title startsWith name)":    `{"found":{"results":{"*":null}},"name":null}`,
		"sum(n, .value)": `{"n":{"*":{"value":null}}}`,
		"mean(map(filter(n, .value > 1), .value))":      `{"n":{"*":{"value":null}}}`,
		"map(n, ({'l': .label, 'i': #index}))[0].l":     `{"n":{"*":{"label":null}}}`,
		"sortBy(n, .value, 'desc')[0].label":            `{"n":{"*":{"label":null,"value":null}}}`,
		"len(filter(n, .value == max(map(n, .value))))": `{"n":{"*":{"value":null}}}`,
		"len(n)":                                            `{"n":{"*":{}}}`,
		"len(by) + len(by.a)":                               `{"by":{"*":{},"a":{"*":{}}}}`,
		"len(keys(groupBy(n, .label)))":                     `{"n":{"*":null}}`,
		"(found.total > 1 ? n[0] : n[1]).value":             `{"found":{"total":null},"n":{"*":{"value":null}}}`,
		"found.missing ?? name":                             `{"found":{"missing":null},"name":null}`,
		"name + string(n)":                                  `{"n":null,"name":null}`,
		"let x = found.results; x[0].id + name[:1] + 'é'":   `{"found":{"results":null},"name":null,"x":{"*":{"id":null}}}`,
		"[found.total, -n[0].value, {'k': by.a.v}, 1 in n]": `{"by":{"a":{"v":null}},"found":{"total":null},"n":null}`,
	} {
		p, err := Compile(text, []string{"found", "n", "name", "by"})
		require.NoError(t, err, text)
		needs := p.Needs(nil)
		got, err := json.Marshal(needs)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got), text)

		values, err := Decode([]byte(env))
		require.NoError(t, err)
		whole, err := p.Eval(values.(map[string]any))
		require.NoError(t, err, text)
		values, err = Decode([]byte(env))
		require.NoError(t, err)
		some, err := p.Eval(needs.Trim(values).(map[string]any))
		require.NoError(t, err, text)
		require.Equal(t, whole, some, text)
	}
	p, err := Template("{{n[0].value}} of {{found.total}}", []string{"found", "n"})
	require.NoError(t, err)
	require.Equal(t, Need{"n": {"*": {"value": nil}}, "found": {"total": nil}}, p.Needs(nil))
	p, err = Compile("filter(n, .value > 1)", []string{"n"})
	require.NoError(t, err)
	require.Equal(t, Need{"n": {"*": {"value": nil, "label": nil}}}, p.Needs(Need{Elements: {"label": nil}}))
	require.Equal(t, Need{"n": {"*": {"value": nil}}}, p.Needs(Need{}))
}
