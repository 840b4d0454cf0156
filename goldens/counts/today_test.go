package counts

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens/world"
	"github.com/cupel-eval/cupel/internal/testkit"
)

// TestTodayConformance runs the today_range rows of the conformance data. The date is
// that of the world's zone, for any zone of the process.
func TestTodayConformance(t *testing.T) {
	type testCase struct {
		ID     string
		Now    time.Time
		Zone   string `json:"wanted_tz"`
		Expect struct {
			OK  bool
			Out json.RawMessage
		}
	}
	rows := testkit.Conformance[testCase](t, "contract-cases.jsonl", "fn", "today_range")
	require.Len(t, rows, 32)
	for _, row := range rows {
		t.Run(row.ID, func(t *testing.T) {
			zone, err := time.LoadLocation(row.Zone)
			require.NoError(t, err)
			w := opened(world.Spec{Now: row.Now, Zone: zone}, "")
			got := w.Call(tool.Call{Name: "today_range", Args: json.RawMessage("{}")}, row.Now)
			require.True(t, row.Expect.OK)
			require.JSONEq(t, string(row.Expect.Out), string(got.Value))
		})
	}
}

func TestCivilDate(t *testing.T) {
	for in, want := range map[string]string{
		"2026-05-13": "2026-05-13", "1582-10-15": "1582-10-15",
		"1582-10-14": "1582-10-04", // the day before the reform
		"1500-03-10": "1500-02-29", // a leap day that only the Julian calendar has
		"0999-06-01": "0999-05-27", "0001-01-01": "0001-01-03",
	} {
		day, err := time.Parse(time.DateOnly, in)
		require.NoError(t, err)
		require.Equal(t, want, civilDate(day), in)
	}
}
