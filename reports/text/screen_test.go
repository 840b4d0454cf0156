package text

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/compare"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
	"github.com/cupel-eval/cupel/reports/view/compared"
)

// Colour neither changes the text nor uses a column.
func TestColourIsOnlyColour(t *testing.T) {
	sequences := regexp.MustCompile("\x1b\\[[0-9;]*m")
	coloured, bare := Screen{Width: 80, Colour: true}, Screen{Width: 80}
	for name, render := range map[string]func(Screen) string{
		"run": func(s Screen) string {
			return reporttest.Render(t, func(w io.Writer, r model.Report) error { return Summary(w, r, s) }, build(reporttest.Research()))
		},
		"comparison": func(s Screen) string {
			return reporttest.Render(t, func(w io.Writer, c compare.Comparison) error { return CompareSummary(w, c, s) }, reporttest.ComparisonFixture())
		},
	} {
		t.Run(name, func(t *testing.T) {
			out := render(coloured)
			require.Equal(t, render(bare), sequences.ReplaceAllString(out, ""))
			require.Contains(t, out, red)
			require.Equal(t, strings.Count(out, plain), len(sequences.FindAllString(out, -1))/2, "every colour ends")
			require.NotContains(t, render(bare), "\x1b")
		})
	}
}

// A significant change has the colour of its direction. Other changes have none.
func TestSignificantChangesAreColoured(t *testing.T) {
	c := reporttest.OneRunFixture()
	m := &c.Pairs[0].Metrics[0]
	render := func() string {
		return reporttest.Render(t, func(w io.Writer, c compare.Comparison) error {
			return CompareSummary(w, c, Screen{Width: 100, Colour: true})
		}, c)
	}
	change := compared.Change(*m)
	m.Improved, m.Adjusted = false, new(0.5)
	require.NotContains(t, render(), green+change+plain)
	m.Improved = true
	require.Contains(t, render(), green+change+plain)
	m.Improved, m.Adjusted = false, new(0.001)
	require.Contains(t, render(), red+change+plain)
}
