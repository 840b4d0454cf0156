package reports

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The drawings of a small run; rewrite them with
// go test ./reports -run PlotGolden -update, and look at them.
func TestPlotGolden(t *testing.T) {
	r := Build(demo(demoProfiles(), 6, 1))
	for _, f := range r.Figures {
		t.Run(f.Name, func(t *testing.T) {
			got := render(t, func(w io.Writer, r Report) error { return writeSVG(w, r, f) }, r)
			path := filepath.Join("testdata", "plots", f.Name+".svg")
			if *update {
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
func texts(t *testing.T, r Report, name string) (said []string) {
	t.Helper()
	for _, f := range r.Figures {
		if f.Name != name {
			continue
		}
		svg := render(t, func(w io.Writer, r Report) error { return writeSVG(w, r, f) }, r)
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
	r := Build(demo(demoProfiles(), 6, 1))
	require.Equal(t, "north-mini|$0.000414|100%|yes|north-mini-prose|$0.000601|100%|harbour-large|$0.00522|100%|open-weights-8b|unknown|66.7%",
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
	r := Build(demo(demoProfiles()[:2], 400, 1))
	said := strings.Join(texts(t, r, figTasks), "|")
	require.Contains(t, said, "|by tier|core|")
	require.Contains(t, said, "|hardest 24|")
	require.Len(t, r.hardest(24), 24)
	require.Less(t, strings.Count(said, "|G"), 25)
	for i, k := range r.hardest(400)[1:] {
		require.GreaterOrEqual(t, k.all().share(), r.hardest(400)[i].all().share())
	}
	sum := 0
	for _, tier := range r.tiers() {
		sum += tier.all().Scored
	}
	require.Equal(t, 800, sum)
}
