package all

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/openai"
)

// words are the names of the output modes on the page.
var words = map[providers.Mode]string{providers.JSONObject: "object", providers.JSONSchema: "schema", providers.ForcedTool: "tool"}

// TestThePageListsEveryProvider checks that the page's table equals entries, line by
// line.
func TestThePageListsEveryProvider(t *testing.T) {
	rows := map[string][]string{}
	for line := range strings.Lines(testkit.Doc(t, "providers.md")) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		if len(cells) != 6 || !strings.HasPrefix(line, "| `") {
			continue
		}
		require.NotContains(t, rows, name, "listed twice")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows[name] = cells
	}
	dialects := map[string]openai.Dialect{}
	for _, d := range openai.Dialects() {
		dialects[d.Name] = d
	}
	for _, e := range entries() {
		t.Run(e.name, func(t *testing.T) {
			row := rows[e.name]
			require.NotNil(t, row, "not in the table of docs/providers.md")
			key := "`" + e.key + "`"
			switch {
			case e.key == "":
				key = "none"
			case e.optional:
				key += ", optional"
			}
			m, err := e.new(providers.Options{BaseURL: "http://127.0.0.1:1/v1", Key: "k", Region: "eu-west-1"})
			require.NoError(t, err)
			var modes []string
			for _, mode := range m.(providers.Formatter).Modes() {
				modes = append(modes, words[mode])
			}
			require.Equal(t, []string{"`" + e.version + "`", key, strings.Join(modes, " ")}, []string{row[1], row[2], row[4]})
			d, ok := dialects[e.name]
			if !ok {
				return
			}
			if d.Base != "" {
				require.Equal(t, "`"+d.Base+"`", row[3])
			} else {
				require.Contains(t, row[3], "`base_url`")
			}
			for _, f := range d.Lacks {
				if f != openai.StreamUsage && f != openai.ObjectMode && f != openai.SchemaMode { // the column of modes shows these
					require.Contains(t, row[5], string(f))
				}
			}
		})
	}
	require.Len(t, rows, len(entries()), "the table lists one that there is not")
}

// TestTheExamplesOfThePage checks that every example candidate can make a request, and
// that the request has the headers, the query and the fields of the example.
func TestTheExamplesOfThePage(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(testkit.Doc(t, "providers.md"), -1)
	require.NotEmpty(t, blocks)
	n := 0
	for _, block := range blocks {
		var config struct {
			Candidates []struct {
				Name, Provider, Model, Region, Mode string
				Stream                              bool
				MaxTokens                           int    `yaml:"max_tokens"`
				BaseURL                             string `yaml:"base_url"`
				KeyEnv                              string `yaml:"key_env"`
				Headers, Query                      map[string]string
				Body                                map[string]any
			}
		}
		dec := yaml.NewDecoder(strings.NewReader(block[1]))
		dec.KnownFields(true)
		require.NoError(t, dec.Decode(&config), block[1])
		for _, c := range config.Candidates {
			t.Run(c.Name, func(t *testing.T) {
				n++
				var extra json.RawMessage
				if len(c.Body) > 0 {
					text, err := json.Marshal(c.Body)
					require.NoError(t, err)
					extra = text
				}
				seen := &testkit.Server{Status: http.StatusTeapot}
				require.Contains(t, Names(), c.Provider)
				m, err := Factories()[c.Provider](providers.Options{
					BaseURL: c.BaseURL, Region: c.Region, Header: c.Headers, Query: c.Query, Extra: extra, Key: "k", HTTP: &http.Client{Transport: seen},
				})
				require.NoError(t, err)
				_, err = m.Call(context.Background(), providers.Call{Model: c.Model, Stream: c.Stream, Messages: []providers.Message{{Role: providers.RoleUser, Text: "hi"}}})
				require.Error(t, err)
				require.NotNil(t, seen.Got, "%v", err)
				for name, value := range c.Headers {
					require.Equal(t, value, seen.Got.Header.Get(name))
				}
				for name, value := range c.Query {
					require.Equal(t, value, seen.Got.URL.Query().Get(name))
				}
				var sent any
				require.NoError(t, json.Unmarshal([]byte(seen.Sent), &sent))
				requirePart(t, extra, sent)
				require.Contains(t, seen.Sent, "hi")
			})
		}
	}
	require.Greater(t, n, 8)
}

// requirePart requires that the fields that an example adds to the body are in it.
func requirePart(t *testing.T, part json.RawMessage, sent any) {
	t.Helper()
	var fields map[string]json.RawMessage
	if json.Unmarshal(part, &fields) != nil { // a value other than an object
		if len(part) > 0 {
			text, err := json.Marshal(sent)
			require.NoError(t, err)
			require.JSONEq(t, string(part), string(text))
		}
		return
	}
	object, ok := sent.(map[string]any)
	require.True(t, ok || len(fields) == 0)
	for name, value := range fields {
		require.Contains(t, object, name)
		requirePart(t, value, object[name])
	}
}
