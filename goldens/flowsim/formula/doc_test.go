package formula

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// Every row of the page's table of expressions is true of the item above it.
func TestPage(t *testing.T) {
	page := testkit.Doc(t, "flowsim.md")
	_, section, found := strings.Cut(page, "## Expressions")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	item := regexp.MustCompile("`\\$json` is `(.*?)`").FindStringSubmatch(section)
	require.NotNil(t, item)
	env := &Env{JSON: parsed(t, item[1]), First: parsed(t, item[1]), Now: "2026-03-02T09:00:00Z", Node: func(string, bool) (map[string]any, error) { return parsed(t, `{"email": "ada@b.example"}`), nil }}
	checked := 0
	for _, row := range regexp.MustCompile("(?m)^\\| `(.*?)` \\| `(.*?)` \\|").FindAllStringSubmatch(section, -1) {
		template, err := Parse(strings.ReplaceAll(row[1], `\|`, "|"))
		require.NoError(t, err, row[1])
		v, err := template.Eval(env)
		require.NoError(t, err, row[1])
		got, err := json.Marshal(v)
		require.NoError(t, err)
		require.JSONEq(t, row[2], string(got), row[1])
		checked++
	}
	require.Greater(t, checked, 10)
	for name := range functions {
		require.Contains(t, section, name+"(")
	}
}
