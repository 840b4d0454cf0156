package agents

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent/strategy"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/cassettes"
)

// TestVolatileUnreadable: recordings that cannot be compared are passed over: their states say
// what is wrong with them.
func TestVolatileUnreadable(t *testing.T) {
	var o harness.Options
	o.Cassettes = fstest.MapFS{"mine/F01/1.yaml": {Data: []byte("cut")}, "mine/F01/2.yaml": {Data: []byte("cut")}}
	o.Candidates = []goldens.Candidate{{Name: "mine", Agent: strategy.External}, {Name: "own", Agent: strategy.Tools}}
	said, err := Volatile(o, []cassettes.Status{
		{Path: "mine/F01/1.yaml", State: cassettes.Fresh}, {Path: "mine/F01/2.yaml", State: cassettes.Stale},
		{Path: "mine/F02/1.yaml", State: cassettes.Missing}, {Path: "other.yaml", State: cassettes.Orphan},
		{Path: "own/F01/1.yaml", State: cassettes.Fresh},
	})
	require.NoError(t, err)
	require.Empty(t, said)
}
