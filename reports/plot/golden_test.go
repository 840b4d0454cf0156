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
			got := reporttest.Render(t, func(w io.Writer, r model.Report) error { return WriteSVG(w, r, f) }, r)
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

// texts are what a drawing says, in its order.
func texts(t *testing.T, r model.Report, name string) (said []string) {
	t.Helper()
	for _, f := range r.Figures {
		if f.Name != name {
			continue
		}
		svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return WriteSVG(w, r, f) }, r)
		for _, m := range textElement.FindAllStringSubmatch(svg, -1) {
			said = append(said, m[1])
		}
	}
	return said
}

// between is what is said after one word and before another.
func between(said []string, from, to string) string {
	_, rest, _ := strings.Cut(strings.Join(said, "|"), "|"+from+"|")
	rest, _, _ = strings.Cut(rest, "|"+to)
	return rest
}

func TestDrawingsSayTheirNumbers(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles(), 6, 1))
	require.Equal(t, "north-mini|$0.000414|100.0%|yes|north-mini-prose|$0.000601|100.0%|harbour-large|$0.00522|100.0%|open-weights-8b|unknown|66.7%",
		between(texts(t, r, figCost), "frontier", "nothing more"))
	require.Contains(t, strings.Join(texts(t, r, figTasks), "|"), "|G01|100|100|100|0|G02|100|100|100|100|")
	require.Contains(t, texts(t, r, figTokens), "more, not reported")
	require.Contains(t, texts(t, r, figLatency), "open-weights-8b")
	require.NotContains(t, texts(t, r, figTTFT), "open-weights-8b", "it does not stream")
	require.Contains(t, texts(t, r, figTTFT), "harbour-large")
	require.Contains(t, texts(t, r, figCalibration), "Brier 0.021, 6 episodes")
}

// Many tasks are shown by tier, with the hardest below.
func TestHeatMapIsBounded(t *testing.T) {
	r := build(reporttest.Demo(reporttest.DemoProfiles()[:2], 400, 1))
	said := strings.Join(texts(t, r, figTasks), "|")
	require.Contains(t, said, "|by tier|core|")
	require.Contains(t, said, "|hardest 24|")
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
