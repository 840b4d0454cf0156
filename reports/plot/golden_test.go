package plot

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

// The drawings of a small run; rewrite them with
// go test ./reports/plot -run PlotGolden -update, and look at them.
func TestPlotGolden(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	for _, f := range r.Figures {
		t.Run(f.Name, func(t *testing.T) {
			got := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
			path := filepath.Join("testdata", "plots", f.Name+".svg")
			if testkit.Update() {
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
				require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), got)
		})
	}
}

var textElement = regexp.MustCompile(`<text [^>]*>([^<]*)</text>`)

// texts returns the texts of a drawing, in order.
func texts(t *testing.T, r model.Report, name string) (said []string) {
	t.Helper()
	for _, f := range r.Figures {
		if f.Name != name {
			continue
		}
		svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
		for _, m := range textElement.FindAllStringSubmatch(svg, -1) {
			said = append(said, m[1])
		}
	}
	return said
}

func TestDrawingsSayTheirNumbers(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	require.Contains(t, texts(t, r, figCost), "1 candidate without a known cost")
	require.Contains(t, texts(t, r, figCost), "north-mini-prose", "marks are named")
	require.Contains(t, texts(t, r, figTokens), "more, not reported")
	require.Contains(t, texts(t, r, figLatency), "open-weights-8b")
	require.NotContains(t, texts(t, r, figTTFT), "open-weights-8b", "it does not stream")
	require.Contains(t, texts(t, r, figTTFT), "harbour-large")
	require.Contains(t, texts(t, r, figCalibration), "Brier 0.021")
}

// Many tasks are shown by tier, with the hardest below.
func TestHeatMapIsBounded(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles()[:2], 400, 1))
	said := strings.Join(texts(t, r, figTasks), "|")
	require.Contains(t, said, "|by tier|core|")
	require.Contains(t, said, "|hardest 8|")
	require.Len(t, hardest(&r, 24), 24)
	require.Less(t, strings.Count(said, "|G"), 25)
	for i, k := range hardest(&r, 400)[1:] {
		require.GreaterOrEqual(t, share(all(k)), share(all(hardest(&r, 400)[i])))
	}
	sum := 0
	for _, tier := range tiers(&r) {
		sum += all(tier).Scored
	}
	require.Equal(t, 800, sum)
}
