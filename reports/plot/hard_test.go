package plot

import (
	"bytes"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/reports/internal/reporttest"
	"github.com/cupel-eval/cupel/reports/model"
)

// hardReports returns runs that are difficult to draw.
func hardReports() map[string]model.Report {
	wide := crowd(12)
	tiers := build(reporttest.Demo(reporttest.DemoProfiles(), 3, 1))
	for i := range tiers.Tasks {
		tiers.Tasks[i].ID = strings.Repeat("a-very-long-task-name-", 3) + fmt.Sprint(i)
		tiers.Tasks[i].Tier = strings.Repeat("tier ", 10) + fmt.Sprint(i%2)
	}
	huge := func() model.Report {
		m, rows := reporttest.Demo(reporttest.DemoProfiles(), 6, 1)
		for i := range rows.Episodes {
			e := &rows.Episodes[i]
			e.CostNanoUSD = new(int64(math.MaxInt64 / 1000))
			e.Steps = int32(1 << 30)
			e.In = new(int64(math.MaxInt64 / 1000))
		}
		for i := range rows.Turns {
			rows.Turns[i].DurationUs = new(int64(math.MaxInt64 >> (i % 60)))
			rows.Turns[i].Violations = []string{strings.Repeat("x", 300), fmt.Sprint("code", i)}
		}
		return build(m, rows)
	}
	one, oneRows := reporttest.Demo(reporttest.DemoProfiles()[:1], 1, 1)
	return map[string]model.Report{
		"one": build(one, oneRows), "twelve": wide, "tiers": tiers, "huge": huge(), "empty": build(manifest.Manifest{}, ledger.Rows{}),
		"foreign":    foreign("候補者その一", "gpt-候補-モデル", "مرشح أول", "उम्मीदवार एक", "🚀🚀🚀", "Ωmega-ασκός", "עברית", "ไทย"),
		"strategies": build(reporttest.Research()), "foreign strategies": foreignStrategies(), "crowd of strategies": manyStrategies(),
		"hostile": foreign("<script>alert(1)</script>", "a\u202Egnp.exe", "", "   ", "\x00\xff\n", strings.Repeat("W", 500), strings.Repeat("i", 500), "same", "same "),
	}
}

// foreignStrategies returns strategies with names that a picture cannot show, or that
// are too long.
func foreignStrategies() model.Report {
	return build(reporttest.Arena{Models: []string{"候補", strings.Repeat("W", 200)}, Habits: reporttest.SameHabits("工具", "計画x", strings.Repeat("long ", 30)), Tasks: 3, Trials: 1}.Run())
}

// manyStrategies returns more strategies than a plot shows, all without cost.
func manyStrategies() model.Report {
	var models []string
	for i := range 7 {
		models = append(models, fmt.Sprint("m", i))
	}
	return build(reporttest.Arena{Models: models, Habits: reporttest.SameHabits("contract", "tools", "plan"), Tasks: 2, Trials: 1, Edit: func(e *ledger.Episode) { *e.CostNanoUSD = 0 }}.Run())
}

// For every run, the files are well formed and bounded, no picture draws beyond its
// edge, and every figure has a title and an alternative text.
func TestHardPlots(t *testing.T) {
	testkit.Slow(t)
	for name, r := range hardReports() {
		t.Run(name, func(t *testing.T) {
			for _, f := range r.Figures {
				require.NotEmpty(t, f.Title)
				require.NotEmpty(t, f.Alt)
				require.Less(t, len(f.Alt), 8<<10, f.Name)
				svg := reporttest.Render(t, func(w io.Writer, r model.Report) error { return writeSVG(w, r, f) }, r)
				require.NoError(t, wellFormed(svg))
				require.Less(t, len(svg), 128<<10, f.Name)
				for _, bad := range []string{"NaN", "Inf", "<script", "\u202E"} {
					require.NotContains(t, svg, bad, f.Name)
				}
				inline, err := Inline(r, f)
				require.NoError(t, err)
				require.NoError(t, wellFormed(inline))
				require.NotContains(t, inline, `="#`, "a colour that dark mode cannot change: %s", f.Name)
				var b bytes.Buffer
				require.NoError(t, writePNG(&b, r, f))
				require.Less(t, b.Len(), 256<<10, f.Name)
				img, err := png.Decode(&b)
				require.NoError(t, err)
				require.True(t, frameIsBlank(img), "%s draws over its edge", f.Name)
				require.Less(t, img.Bounds().Dy(), 3000, f.Name)
			}
		})
	}
}
