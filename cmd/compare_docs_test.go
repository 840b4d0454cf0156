package cmd

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/cmd/internal/rundir"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// Every command of docs/compare.md does what the page says, and its YAML loads.
func TestCompareDocs(t *testing.T) {
	page := testkit.Doc(t, "compare.md")
	t.Chdir(t.TempDir())
	for _, candidates := range []string{"strong", "strong,weak"} {
		code, _, stderr := runCupel("run", "--task", "G0*", "--candidate", candidates, "--quiet")
		require.Zero(t, code, stderr)
	}
	nights(t)
	commands, files := 0, 0
	for _, block := range regexp.MustCompile("(?s)```(sh|yaml)\n(.*?)```").FindAllStringSubmatch(page, -1) {
		if block[1] == "yaml" {
			c, err := configOf(t, block[2])
			require.NoError(t, err, block[2])
			require.NotZero(t, c.Regression)
			files++
			continue
		}
		for line := range strings.Lines(block[2]) {
			args := strings.Fields(strings.TrimSpace(line))
			code, stdout, stderr := runCupel(args[1:]...)
			want := exit.Accepted
			switch {
			case args[1] == "gate":
				want = exit.Inconclusive // ten tasks are few, also for weak, which solves half of them
				require.Regexp(t, `^Inconclusive: acceptance inconclusive, regression pass\n`, stdout, line)
			case strings.Contains(line, " -o "):
				require.Empty(t, stdout, line)
				require.FileExists(t, "compare.xml")
			default:
				require.Regexp(t, `^(No regression: both replay the same recordings|Improved: \d+ points more tasks solved|Inconclusive: more trials needed)\n`, stdout, line)
			}
			require.Equal(t, strings.Contains(line, "night-1"), strings.Contains(stdout, "baseline: 3 runs pooled"), line)
			require.Equal(t, want, code, "%s\n%s%s", line, stdout, stderr)
			commands++
		}
	}
	require.Equal(t, []int{7, 2}, []int{commands, files})
}

// nights makes night-1 to night-4 of one run, as if each had been recorded.
func nights(t *testing.T) {
	t.Helper()
	latest, err := rundir.Find("runs", "previous")
	require.NoError(t, err)
	m, err := manifest.Read(latest)
	require.NoError(t, err)
	rows, err := ledger.Read(latest)
	require.NoError(t, err)
	for _, night := range []string{"night-1", "night-2", "night-3", "night-4"} {
		m.RunID = night
		rows.Turns[0].DurationUs++ // no two nights are equal
		require.NoError(t, os.Mkdir(night, 0o755))
		require.NoError(t, ledger.Write(night, m, rows))
	}
}
