package listing

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/cmd/internal/exit"
	"github.com/cupel-eval/cupel/harness/ledger"
)

// rowsOf returns episodes by task and candidate; those of candidate weak are not solved.
func rowsOf(tasks ...string) (rows []ledger.Episode) {
	for _, task := range tasks {
		for _, candidate := range []string{"strong", "weak"} {
			nano := int64(1_234_567)
			e := ledger.Episode{
				Key:    ledger.Key{TaskID: task, Candidate: candidate, Trial: 1, EpisodeID: "01KRH12000FAY0TTQAKWDX6FNR"},
				Status: "answered", Solved: candidate == "strong", Steps: 3, ElapsedUs: new(int64(2_680_000)), CostNanoUSD: &nano,
			}
			if !e.Solved {
				e.StopReason, e.CostNanoUSD, e.HarmReason = "max_steps", nil, "it deleted a ticket"
			}
			rows = append(rows, e)
		}
	}
	return rows
}

func TestFilter(t *testing.T) {
	rows := rowsOf("G01", "G02", "H01")
	for _, c := range []struct {
		filter Filter
		want   int
	}{
		{Filter{}, 6},
		{Filter{Failed: true}, 3},
		{Filter{Tasks: []string{"G*"}}, 4},
		{Filter{Tasks: []string{"G01", "H??"}, Candidates: []string{"weak"}}, 2},
		{Filter{Failed: true, Candidates: []string{"strong"}}, 0},
	} {
		taken, err := c.filter.Select(rows)
		require.NoError(t, err)
		require.Len(t, taken, c.want, c.filter)
		require.Equal(t, c.want < 6, c.filter.On())
	}
	_, err := Filter{Tasks: []string{"X*", "[", "G01"}, Candidates: []string{"none"}}.Select(rows)
	require.Equal(t, exit.BadUsage, exit.Code(err))
	require.EqualError(t, err, `--task "X*" matches no episode of this run; it has: G01, G02, H01`+"\n"+
		`--candidate "none" matches no episode of this run; it has: strong, weak`)
	_, err = Filter{Tasks: []string{"["}}.Select(rows)
	require.ErrorContains(t, err, `--task "[": syntax error in pattern`)
}

// A list fits its width without truncating a name, and says what it omits.
func TestWriteFits(t *testing.T) {
	rows := rowsOf("G01", "a-task-with-a-rather-long-name")
	for width, want := range map[int]string{
		0:   "01KRH12000FAY0TTQAKWDX6FNR\n4 episodes, 2 solved\n",
		200: "01KRH12000FAY0TTQAKWDX6FNR\n4 episodes, 2 solved\n",
		105: "  2.68\n4 episodes, 2 solved\nids left out: they need 130 columns\n",
		70:  "\na-task-with-a-rather-long-name/weak/1\n  solved no · answered max_steps (harm) · 3 steps · unknown · 2.68 s\n4 episodes, 2 solved\nids left out: they need 130 columns\n",
	} {
		var b strings.Builder
		require.NoError(t, Write(&b, rows, 4, width))
		require.True(t, strings.HasSuffix(b.String(), want), b.String())
		require.Contains(t, b.String(), "a-task-with-a-rather-long-name/strong/1")
		for line := range strings.Lines(b.String()) {
			require.True(t, width == 0 || utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) <= width, line)
		}
	}
	var b strings.Builder
	require.NoError(t, Write(&b, rows[:1], 4, 0))
	require.Contains(t, b.String(), "$0.00123")
	require.Contains(t, b.String(), "1 of 4 episodes, 1 solved\n")
	b.Reset()
	require.NoError(t, Write(&b, nil, 4, 80))
	require.Equal(t, "none of 4 episodes matches\n", b.String())
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"   │   one two three four five\n", "   │   one two three\n   │   four five\n"},
		{"── tool get_counts of turn 3 → ok\nend", "── tool get_counts\n   of turn 3 → ok\nend"},
		{"   │ " + strings.Repeat("x", 25) + "\n", "   │ " + strings.Repeat("x", 17) + "\n   │ " + strings.Repeat("x", 8) + "\n"},
		{"   │ " + strings.Repeat("世", 10), "   │ " + strings.Repeat("世", 8) + "\n   │ 世世"},
	} {
		require.Equal(t, c.want, Wrap(c.text, 22))
		require.Equal(t, c.text, Wrap(c.text, 0))
	}
}

// FuzzWrap checks that wrapping at any width only removes blanks.
func FuzzWrap(f *testing.F) {
	f.Add("   │ one two\n\n│││ │x\n", 22)
	f.Add("\xff wide 世界 and\ttabs", 3)
	f.Fuzz(func(t *testing.T, s string, width int) {
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if strings.ContainsRune(" │\n", r) {
					return -1
				}
				return r
			}, s)
		}
		require.Equal(t, letters(s), letters(Wrap(s, min(width, 1000))))
	})
}
