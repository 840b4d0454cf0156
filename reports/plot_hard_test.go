package reports

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
)

// hardReports are runs that are hard to draw.
func hardReports() map[string]Report {
	wide := crowd(12)
	tiers := Build(demo(demoProfiles(), 3, 1))
	for i := range tiers.Tasks {
		tiers.Tasks[i].ID = strings.Repeat("a-very-long-task-name-", 3) + fmt.Sprint(i)
		tiers.Tasks[i].Tier = strings.Repeat("tier ", 10) + fmt.Sprint(i%2)
	}
	huge := func() Report {
		m, rows := demo(demoProfiles(), 6, 1)
		for i := range rows.Episodes {
			e := &rows.Episodes[i]
			e.CostNanoUSD = new(int64(math.MaxInt64 / 1000))
			e.Steps = int32(1 << 30)
			e.In = new(int64(math.MaxInt64 / 1000))
		}
		for i := range rows.Turns {
			rows.Turns[i].DurationUs = math.MaxInt64 >> (i % 60)
			rows.Turns[i].Violations = []string{strings.Repeat("x", 300), fmt.Sprint("code", i)}
		}
		return Build(m, rows)
	}
	one, oneRows := demo(demoProfiles()[:1], 1, 1)
	return map[string]Report{
		"one": Build(one, oneRows), "twelve": wide, "tiers": tiers, "huge": huge(), "empty": Build(manifest.Manifest{}, ledger.Rows{}),
		"foreign":    foreign("候補者その一", "gpt-候補-モデル", "مرشح أول", "उम्मीदवार एक", "🚀🚀🚀", "Ωmega-ασκός", "עברית", "ไทย"),
		"strategies": Build(research()), "foreign strategies": foreignStrategies(), "crowd of strategies": manyStrategies(),
		"hostile": foreign("<script>alert(1)</script>", "a\u202Egnp.exe", "", "   ", "\x00\xff\n", strings.Repeat("W", 500), strings.Repeat("i", 500), "same", "same "),
	}
}

// foreignStrategies have names that a picture cannot show, or that are too long.
func foreignStrategies() Report {
	return Build(arena{models: []string{"候補", strings.Repeat("W", 200)}, habits: sameHabits("工具", "計画x", strings.Repeat("long ", 30)), tasks: 3, trials: 1}.run())
}

// manyStrategies are more than a plot shows, and free of charge.
func manyStrategies() Report {
	var models []string
	for i := range 7 {
		models = append(models, fmt.Sprint("m", i))
	}
	return Build(arena{models: models, habits: sameHabits("contract", "tools", "plan"), tasks: 2, trials: 1, edit: func(e *ledger.Episode) { *e.CostNanoUSD = 0 }}.run())
}

// Whatever the run, the files are well formed and bounded, no picture draws over
// its edge, and every figure has a title and an alternative.
func TestHardPlots(t *testing.T) {
	for name, r := range hardReports() {
		t.Run(name, func(t *testing.T) {
			for _, f := range r.Figures {
				require.NotEmpty(t, f.Title)
				require.NotEmpty(t, f.Alt)
				require.Less(t, len(f.Alt), 8<<10, f.Name)
				svg := render(t, func(w io.Writer, r Report) error { return writeSVG(w, r, f) }, r)
				require.NoError(t, wellFormed(svg))
				require.Less(t, len(svg), 128<<10, f.Name)
				for _, bad := range []string{"NaN", "Inf", "<script", "\u202E"} {
					require.NotContains(t, svg, bad, f.Name)
				}
				inline, err := inlineSVG(r, f)
				require.NoError(t, err)
				require.NoError(t, wellFormed(inline))
				require.NotContains(t, inline, `="#`, "a colour that dark mode cannot change: %s", f.Name)
				var b bytes.Buffer
				require.NoError(t, writePNG(&b, r, f))
				require.Less(t, b.Len(), 128<<10, f.Name)
				img, err := png.Decode(&b)
				require.NoError(t, err)
				require.True(t, frameIsBlank(img), "%s draws over its edge", f.Name)
				require.Less(t, img.Bounds().Dy(), 3000, f.Name)
			}
		})
	}
}
