package admission

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// An open reservation of a killed process counts with its worst case until the recorded
// reply gives the actual spending. A reply can only belong to the last reservation of
// its request, and a settled reservation is not settled again.
func TestSettleFromARecordedReply(t *testing.T) {
	path := t.TempDir() + "/spend.log"
	log := openLog(t, path)
	lane := New(Options{Log: log}).Lane("p", "k")
	worst := Request{Input: 900, Output: 100, CostNanoUSD: 1000}
	reply := Result{Usage: providers.Usage{Reported: true, Input: 7}, CostNanoUSD: cost(70)}
	for _, id := range []string{"lost", "a", "a", "b"} {
		worst.ID = id
		p := acquire(t, lane, worst)
		if id == "b" {
			p.Done(reply)
		}
	}
	require.NoError(t, log.Close())

	log = openLog(t, path)
	c := New(Options{Log: log, Caps: Caps{CostNanoUSD: 3100}, Providers: map[string]Limits{"p": {Caps: Caps{Tokens: 5000}}}})
	require.Equal(t, Spend{3070, 3007, 4}, c.Snapshot().Spent)
	lane = c.Lane("p", "k")
	for range 2 {
		lane.Settle("a", reply)
		lane.Settle("b", reply)
		lane.Settle("never asked", reply)
		require.Equal(t, Spend{2140, 2014, 4}, c.Snapshot().Spent)
		require.Equal(t, Spend{2140, 2014, 4}, log.Spent()["p"])
		require.Equal(t, Spend{2140, 2014, 4}, lane.budget.spent)
	}
	acquire(t, lane, Request{Input: 1, CostNanoUSD: 960}).Done(failure(fault.RateLimit)) // a rate limit returns the reservation
	require.NoError(t, log.Close())
	log = openLog(t, path)
	require.Equal(t, Spend{2140, 2014, 5}, log.Spent()["p"])
	require.NoError(t, log.Close())
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, payloads(content), `|r 4 1000 1000 1 "p" "b"|s 4 70 7 1|s 3 70 7 1|r 5`)
}

// A recorded refusal settles to zero, and a reply of unknown usage to the worst case.
func TestSettleFromARecordedFailure(t *testing.T) {
	path := t.TempDir() + "/spend.log"
	log := openLog(t, path)
	lane := New(Options{Log: log}).Lane("p", "k")
	for _, id := range []string{"refused", "broken"} {
		acquire(t, lane, Request{ID: id, Input: 10, CostNanoUSD: 10})
	}
	require.NoError(t, log.Close())
	log = openLog(t, path)
	c := New(Options{Log: log})
	c.Lane("p", "k").Settle("refused", failure(fault.RateLimit))
	c.Lane("p", "k").Settle("broken", failure(fault.Transport))
	require.Equal(t, Spend{10, 10, 2}, c.Snapshot().Spent)
	require.NoError(t, log.Close())
	New(Options{}).Lane("p", "k").Settle("x", Result{}) // without a log, Settle does nothing
}
