package fleet_test

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/fleet"
)

// What status --json prints has one style of names.
func TestNamesOfStatus(t *testing.T) {
	spend, now := admission.Spend{CostNanoUSD: 1, Tokens: 2, Requests: 3}, time.Now()
	text, err := json.Marshal(fleet.Status{
		Spent: &spend, Granted: &spend, Run: &fleet.RunStatus{}, Limits: map[string]admission.Limits{"p": {}},
		Workers: []fleet.WorkerStatus{{Lanes: []fleet.LaneStatus{{Paused: &now, Spent: spend}}}},
	})
	require.NoError(t, err)
	names := regexp.MustCompile(`"([^"]*)":`).FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(names), 40)
	for _, name := range names {
		require.Regexp(t, `^[a-z_]+$`, name[1])
	}
}
