package manifest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidateOwnCriteria(t *testing.T) {
	good := Criterion{Name: "slow-turns_2", Expr: "p95(duration_us) <= 4s where role == 'main'", Rule: "upper", Per: "provider_model"}
	change := func(f func(*Criterion)) []Criterion {
		c := good
		f(&c)
		return []Criterion{c}
	}
	tests := []struct {
		name string
		list []Criterion
		want string
	}{
		{"good", []Criterion{good}, ""},
		{"no name", change(func(c *Criterion) { c.Name = "" }), `criterion 1: name is ""`},
		{"a long name", change(func(c *Criterion) { c.Name = strings.Repeat("a", 41) }), "1 to 40 characters"},
		{"markup for a name", change(func(c *Criterion) { c.Name = "<b>" }), "must be 1 to 40 characters"},
		{"a built-in name", change(func(c *Criterion) { c.Name = "valid_json" }), "built-in"},
		{"no expression", change(func(c *Criterion) { c.Expr = " " }), "expr has 1 bytes"},
		{"a long expression", change(func(c *Criterion) { c.Expr = strings.Repeat("x", 5000) }), "expr has 5000 bytes"},
		{"an unknown rule", change(func(c *Criterion) { c.Rule = "best" }), `slow-turns_2: rule is "best"`},
		{"an unknown grouping", change(func(c *Criterion) { c.Per = "task" }), `slow-turns_2: per is "task"`},
		{"twice", []Criterion{good, good}, `criterion 2: the name "slow-turns_2" is taken`},
		{"too many", make([]Criterion, 65), "65 custom criteria, more than 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Acceptance{Criteria: tt.list}.Validate()
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
		})
	}
}

// A manifest without custom criteria has no member for them; one with them reads back unchanged.
func TestManifestKeepsOwnCriteria(t *testing.T) {
	dir, m := t.TempDir(), sampleManifest()
	require.NoError(t, Write(dir, m))
	text, err := os.ReadFile(filepath.Join(dir, File))
	require.NoError(t, err)
	require.NotContains(t, string(text), `"criteria"`)

	m.Acceptance.Criteria = []Criterion{{Name: "slow", Expr: "p95(elapsed_us) <= 4s"}, {Name: "cost", Expr: "mean(episodes.cost_nanousd) < $1", Rule: "lower", Per: "candidate"}}
	require.NoError(t, Write(dir, m))
	got, err := Read(dir)
	require.NoError(t, err)
	require.Equal(t, m, got)

	m.Acceptance.Criteria[0].Name = "valid_json"
	require.NoError(t, Write(dir, m))
	_, err = Read(dir)
	require.ErrorContains(t, err, "built-in")
}
