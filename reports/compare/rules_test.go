package compare

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/reports/stat"
)

func TestRulesResolved(t *testing.T) {
	day := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
	given := Rules{MaxDrop: 0.1, Today: day, Flaky: []KnownFlaky{{Task: "a", Expires: "2026-11-21"}, {Task: "b", Expires: "2026-11-20"}}}
	got := given.Resolved()
	require.Equal(t, Rules{
		Alpha: 0.05, MaxDrop: 0.1, MaxInvalid: 0.08, Detectable: 0.1, OnUnclear: OnUnclearPass, Changed: Refuse, Today: day,
		Flaky: []KnownFlaky{{Task: "a", Expires: "2026-11-21"}, {Task: "b", Expires: "2026-11-20", Expired: true}},
	}, got)
	require.False(t, given.Flaky[1].Expired, "the given rules are not changed")
	require.Equal(t, got, got.Resolved())
}

func TestRulesValidate(t *testing.T) {
	require.NoError(t, Rules{}.Validate())
	require.NoError(t, Rules{
		Alpha: 0.01, MaxDrop: 1, MaxInvalid: 1, MaxSteps: 0.5, MaxCost: 3, MaxLatency: 1000, Changed: Keep,
		Today: time.Unix(1, 0), Flaky: []KnownFlaky{{Task: "a", Owner: "kim", Expires: "2026-02-28"}},
	}.Validate())
	err := Rules{
		Alpha: 0.5, MaxDrop: 1.1, MaxInvalid: -0.1, MaxSteps: math.NaN(), MaxCost: math.Inf(1), MaxLatency: -1, Changed: "drop",
		Flaky: []KnownFlaky{{Expires: "2026-02-30"}},
	}.Validate()
	require.Error(t, err)
	for _, want := range []string{
		"alpha is 0.5, must be a level from 0.000001 to below 0.5 (0 means the default 0.05)", "max_drop is 1.1, must be a share from 0 to 1",
		"max_invalid is -0.1", "max_steps is NaN, must be a growth from 0 to 1000", "max_cost is +Inf", "max_latency is -1", `changed is "drop", must be refuse, skip or keep`,
		"known_flaky[0]: task is missing", "known_flaky[0] (): owner is missing", `expires is "2026-02-30", must be a date such as 2026-12-31`, "the day of the comparison is not known",
	} {
		require.ErrorContains(t, err, "regression: ")
		require.ErrorContains(t, err, want)
	}
	require.Len(t, strings.Split(err.Error(), "\n"), 11, "every problem at once")
	require.Error(t, Rules{Alpha: 1e-12}.Validate())
}

func TestNumbers(t *testing.T) {
	for want, got := range map[string]string{
		"12.5 points": points(0.125), "1 point": points(0.01), "0 points": points(0), "0.04 points": points(0.0004), "87.5%": percent(0.875), "100%": percent(1),
		"= 0.013": chance(0.0128), "= 1": chance(1), "< 0.0001": chance(1e-9), "= 0.00027": chance(0.00027194),
		"a, b": some([]string{"a", "b"}), "a, b, c, d, e and 2 more": some([]string{"a", "b", "c", "d", "e", "f", "g"}),
		"$0.00350":                          (&Metric{Unit: unitCost}).amount(3_500_000),
		"1.20 s":                            (&Metric{Unit: unitTime}).amount(-1_200_000),
		"3.33 steps":                        (&Metric{Unit: "steps"}).amount(10.0 / 3),
		"−5.0 points (95% CI −6.0 to +1.0)": (&Metric{Unit: unitShare, Effect: new(-0.05), Interval: &stat.Interval{Low: -0.06, High: 0.01}}).change(),
		"+6.7%":                             (&Metric{Unit: "steps", Effect: new(0.2), Relative: new(0.0667)}).change(),
		"0.0 points":                        (&Metric{Unit: unitShare, Effect: new(0.0)}).change(),
	} {
		require.Equal(t, want, got)
	}
}
