package expr

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger/column"
)

func TestParseQueryRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", `1:1: expected a value, a column or a function, not the end`},
		{"a column in no table", "mean(duraton_us)", `1:6: unknown column "duraton_us"; did you mean duration_us?`},
		{"nothing near", "mean(xyzzyplugh)", `1:6: unknown column "xyzzyplugh"; docs/ledger.md lists the columns of each table`},
		{"another table's column", "mean(turns.steps)", `1:6: turns has no column "steps"; episodes has`},
		{"an unknown table", "mean(turn.steps)", `1:6: unknown table "turn"; did you mean turns? (known: episodes, turns, tool_calls, scores, labels)`},
		{"two tables", "mean(steps) where tool_name == 'x'", `1:19: tool_name is not in the table of the columns before it (episodes)`},
		{"a column of two tables", "sum(cost_nanousd) <= 2", `which table is this about, episodes or turns? Say it, as in episodes.cost_nanousd`},
		{"no column at all", "count()", `which table is this about, episodes or turns or tool_calls or scores or labels? Say it, as in count(episodes)`},
		{"not aggregated", "steps", `1:1: steps differs from row to row: aggregate it, as in mean(steps)`},
		{"a constant", "mean(steps), 4", `1:14: nothing is aggregated`},
		{"nested aggregates", "mean(sum(steps))", `1:6: an aggregate cannot be inside another aggregate`},
		{"an aggregate behind where", "mean(steps) where max(steps) > 4", `1:19: an aggregate cannot be inside`},
		{"an unknown function", "meen(steps)", `1:1: unknown function "meen"; did you mean mean? (known: count, share`},
		{"of nothing", "p95()", `1:1: p95() of what?`},
		{"a percentile of 100", "p100(steps)", `percentiles lie between p0 and p100`},
		{"a percentile of 0", "p0(steps)", `percentiles lie between`},
		{"text averaged", "mean(status)", `1:6: mean(…) takes a number, not text`},
		{"a share of numbers", "share(steps)", `1:7: share(…) takes a condition, not a number`},
		{"a count of numbers", "count(steps)", `rows that have a value are count(… is not null)`},
		{"a list", "count(turns.violations is null)", `1:7: violations is a list`},
		{"text and number", `count(status == 4)`, `1:14: "==" compares text with a number`},
		{"a duration and steps", `count(steps > 4s)`, `1:13: a plain number beside a duration`},
		{"money and a duration", `count(elapsed_us > $2)`, `a duration beside money`},
		{"money times a duration", `sum(cost_nanousd * elapsed_us)`, `1:18: money times a duration`},
		{"a number for a condition", `mean(steps) where steps`, `1:19: where takes a condition, not a number`},
		{"a number negated", `count(not steps)`, `1:11: "not" takes a condition, not a number`},
		{"a condition summed", `sum(solved + 1)`, `1:5: "+" takes numbers, not a condition`},
		{"numbers joined", `count(steps and solved)`, `1:7: "and" takes conditions, not a number`},
		{"ordered conditions", `count(solved < true)`, `conditions have no order`},
		{"a chain", `count(1 < steps < 4)`, `1:17: comparisons cannot be chained`},
		{"single equals", `count(steps = 4)`, `1:13: unexpected character '='; equality is ==`},
		{"null compared", `count(turns.ttft_us == null)`, `null is tested with: is null`},
		{"columns in a list", `count(steps in (steps))`, `in (…) takes values, not columns`},
		{"an unknown unit", `count(elapsed_us > 4sec)`, `1:21: unknown unit "sec"`},
		{"not a number", `count(steps > 1.2.3)`, `1:15: not a number: "1.2.3"`},
		{"a huge number", `count(steps > 99999999999999999)`, `numbers go up to 2^53`},
		{"an open text", `count(status == "x)`, `1:17: the text has no closing "`},
		{"not a time", `count(ts_start > "yesterday" and solved)`, `1:18: not a time: write 2026-11-21`},
		{"a parenthesis short", `mean((steps)`, `1:13: expected ")", not the end`},
		{"grouped by a value", `mean(steps) group by mean(steps)`, `1:22: group by takes columns`},
		{"grouped by nothing", `mean(steps) group candidate`, `1:19: expected "by", not "candidate"`},
		{"a word behind", `mean(steps) were solved`, `1:13: unexpected "were"; did you mean where?`},
		{"twice", "mean( steps), mean(  steps)", `1:15: mean( steps) is there twice`},
		{"on the second line", "mean(steps)\n  where stepz > 4", `2:9: unknown column "stepz"; did you mean steps?` + "\n    where stepz > 4\n          ^"},
		{"behind wide characters", `count(status == "äöü" and stepz)`, "1:27: unknown column"},
		{"too long", "mean(steps)" + strings.Repeat(" ", maxSource), "more than 4096"},
		{"too deep", strings.Repeat("(", 300), "nested too deeply"},
		{"deeply negative", "sum(" + strings.Repeat("-", 600) + "steps)", "nested too deeply"},
		{"too wide", "sum(steps" + strings.Repeat("+1", 600) + ")", "more than 512 parts"},
		{"too many values", "sum(steps)" + strings.Repeat(", sum(steps)", 40), "is there twice"},
		{"not UTF-8", "mean(\xff)", "not valid UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ParseQuery(tt.text)
			require.ErrorContains(t, err, strings.TrimSuffix(tt.want, "\n"))
			var problem *Error
			require.True(t, errors.As(err, &problem))
			if strings.HasSuffix(tt.want, "\n") {
				require.True(t, strings.HasPrefix(err.Error(), tt.want), err)
			}
		})
	}
}

func TestErrorsShowNoControlCharacters(t *testing.T) {
	_, err := ParseQuery("mean(stepz) where status == '\x1b[31m\u202e'")
	require.ErrorContains(t, err, "�[31m�")
	require.NotContains(t, err.Error(), "\x1b")
}

func TestParseQueryFindsTheTable(t *testing.T) {
	tests := map[string]string{
		`p95(duration_us) where role == "main"`: "turns",
		`mean(steps)`:                           "episodes",
		`max(tool_calls)`:                       "episodes",
		`count() where thrash`:                  "turns",
		`count(tool_calls)`:                     "tool_calls",
		`count(turns) group by candidate`:       "turns",
		`sum(episodes.cost_nanousd)`:            "episodes",
		`mean(duration_us) where deduped`:       "tool_calls",
		`share(contract_valid)`:                 "turns",
		`sum(elapsed_us) / sum(steps)`:          "episodes",
		`p99.9(elapsed_us), p50(elapsed_us)`:    "episodes",
	}
	for text, table := range tests {
		q, err := ParseQuery(text)
		require.NoError(t, err, text)
		require.Equal(t, table, q.Table(), text)
	}
	q, err := ParseQuery(`p95(duration_us), mean(duration_us), rate(thrash) where role == "main" group by role, model`)
	require.NoError(t, err)
	require.Equal(t, []string{"role", "duration_us", "thrash", "episode_id", "model"}, q.columns, "and no other is read")
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]Unit{
		`p95(elapsed_us)`: Duration, `sum(episodes.cost_nanousd) / count(solved)`: Money, `share(solved)`: Percent, `mean(steps)`: None,
		`sum(elapsed_us) / sum(elapsed_us + 1s)`: None, `mean(elapsed_us) * 2`: Duration, `1 - share(solved)`: None,
		`mean(elapsed_us) + 1s`: Duration, `rate(steps)`: None, `count(solved)`: None, `sum(elapsed_us) / sum(steps)`: Duration, `-max(elapsed_us)`: Duration,
	} {
		q, err := ParseQuery(text)
		require.NoError(t, err, text)
		require.Equal(t, want, q.items[0].node.unit, text)
	}
}

func TestFormat(t *testing.T) {
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Duration, 0, "0us"}, {Duration, 850, "850us"}, {Duration, 250_000, "250ms"}, {Duration, 3_214_900, "3.215s"}, {Duration, -4e6, "-4s"}, {Duration, 120e6, "120s"},
		{Money, 0, "$0"}, {Money, 2e9, "$2"}, {Money, 2_372_500, "$0.00237"}, {Money, 1, "$0.000000001"}, {Money, 52_195_000, "$0.0522"},
		{Percent, 0.985, "98.5%"}, {Percent, 1, "100%"}, {None, 2.625, "2.625"}, {None, 12, "12"}, {None, 1. / 3, "0.3333"},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, tt.unit.Format(tt.v))
	}
	text, at := Column{Type: Text}, Column{Type: Time}
	require.Equal(t, "a�b", text.Format(Cell{Text: "a\x1bb"}))
	require.Equal(t, "a\x1bb", text.Value(Cell{Text: "a\x1bb"}))
	require.Equal(t, "2023-11-14T22:13:20Z", at.Format(Cell{Number: 1.7e15}))
	require.Equal(t, "2023-11-14T22:13:20Z", at.Value(Cell{Number: 1.7e15}))
	require.Nil(t, text.Value(Cell{Null: true}))
	require.Equal(t, "", text.Format(Cell{Null: true}))
	require.Equal(t, true, Column{Type: Bool}.Value(Cell{Bool: true}))
	require.Equal(t, "true", Column{Type: Bool}.Format(Cell{Bool: true}))
	require.Equal(t, 1.5, Column{Type: Number}.Value(Cell{Number: 1.5}))
}

// Every text can be run, or is refused with a position in it.
func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{
		benchQuery, `count(turns)`, `share(solved and not infra_error) group by provider, model`, `p99.9(ttft_us) where ttft_us is not null`,
		`sum(episodes.cost_nanousd)/count(solved)`, `max(ts_start) where ts_start in ("2026-01-01")`, `rate(role in ('a', "b\"c")), min(-turns.turn * 2%)`, "mean(\n\tsteps", `$`, `1.`,
	} {
		f.Add(s)
	}
	rec := sampleEpisode(3)
	f.Fuzz(func(t *testing.T, text string) {
		q, err := ParseQuery(text)
		if err != nil {
			var problem *Error
			require.True(t, errors.As(err, &problem), "%q: %v", text, err)
			require.Positive(t, problem.Column)
			return
		}
		require.NotEmpty(t, q.table)
		rows, columns, _ := column.NewRows(q.table, q.columns).Set(&rec)
		require.LessOrEqual(t, len(q.fold(rows, columns, q.group)), max(rows, 1))
	})
}
