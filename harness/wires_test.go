package harness_test

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// simulated has the wires of the simulator.
var simulated = []string{"sim-anthropic", "sim-bedrock", "sim-cohere", "sim-gemini", "sim-ollama", "sim-openai", "sim-responses", "sim-tgi"}

// everyWire returns two candidates for each wire, one of them streamed.
func everyWire() []goldens.Candidate {
	var list []goldens.Candidate
	for _, provider := range simulated {
		list = append(list,
			goldens.Candidate{Name: provider, Provider: provider, Model: "sim-strong"},
			goldens.Candidate{Name: provider + "-streamed", Provider: provider, Model: "sim-strong", Stream: true})
	}
	return list
}

// Over every wire, streamed or not, the task is solved, tokens are counted and priced, and the
// replay has the same rows.
func TestEveryWireRecordsAndReplays(t *testing.T) {
	for _, name := range all.Names() {
		if len(name) > 4 && name[:4] == "sim-" {
			require.Contains(t, simulated, name)
		}
	}
	server, err := sim.Start(context.Background(), "", followers(2))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	o := recordOptions(t, "G01", "G09")
	o.Transport = through(t, server.URL())
	o.Candidates = everyWire()
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, rowsOf(t, recorded).Episodes, 2*2*len(simulated))
	for _, e := range rowsOf(t, recorded).Episodes {
		require.Empty(t, e.ErrorText, e.Candidate)
		require.True(t, e.Solved, "%s: %s: %v", e.Candidate, e.Status, e.Checks)
	}
	for _, turn := range rowsOf(t, recorded).Turns {
		if require.Equal(t, strings.HasSuffix(turn.Candidate, "-streamed"), turn.TTFTUs != nil, turn.Candidate); turn.TTFTUs != nil {
			require.Positive(t, *turn.TTFTUs, turn.Candidate)
			require.LessOrEqual(t, *turn.TTFTUs, *turn.DurationUs, turn.Candidate)
		}
		require.True(t, turn.ContractValid, turn.Candidate)
		if turn.Provider == "sim-tgi" && turn.In == nil {
			continue // a stream of that wire counts output only
		}
		require.NotNil(t, turn.CostNanoUSD, "%s: %v", turn.Candidate, turn.Warnings)
		require.Positive(t, *turn.CostNanoUSD)
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	require.Equal(t, withoutRun(rowsOf(t, recorded)), withoutRun(rowsOf(t, replayed)))
}

// With every fault of a server, an episode is either solved or has an infrastructure error of the
// kind in the table of faults. It never counts as a failure of the model.
func TestChaosIsNeverTheModelsFailure(t *testing.T) {
	t.Parallel() // it waits
	kinds := map[string][]string{}
	o := recordOptions(t, "G01")
	o.Mode = recorder.Live
	o.Retry.Attempts = 1
	o.Candidates = nil
	for i, c := range sim.Chaoses() {
		if c.Name == "hang" || c.Name == "stall" {
			continue // these last as long as the episode may
		}
		for j, plain := range everyWire() {
			if (i+j)%testkit.Long(4, 1) != 0 {
				continue // each fault meets some of the wires, and each wire some faults
			}
			plain.Name += "." + c.Name
			plain.Headers = map[string]string{sim.ChaosHeader: c.Name}
			o.Candidates = append(o.Candidates, plain)
			kinds[plain.Name] = c.Whole
			if plain.Stream {
				kinds[plain.Name] = c.Stream
			}
			if c.Name == "refused" {
				kinds[plain.Name] = append(kinds[plain.Name], "invalid_request") // of wires without a word for it
			}
		}
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Len(t, rowsOf(t, res).Episodes, len(o.Candidates))
	failed, wrong := 0, []string{}
	for _, e := range rowsOf(t, res).Episodes {
		if e.Solved {
			continue
		}
		failed++
		if !e.InfraError || !slices.Contains(kinds[e.Candidate], e.ErrorKind) {
			wrong = append(wrong, e.Candidate+" "+e.Status+" "+e.ErrorKind+" "+e.ErrorText)
		}
	}
	require.Empty(t, wrong)
	require.Greater(t, failed, len(o.Candidates)/3)
	for _, turn := range rowsOf(t, res).Turns {
		if turn.ErrorKind != "" {
			require.Empty(t, turn.Violations, "%s: a broken reply is not judged", turn.Candidate)
		}
	}
}

// With retries, no episode is lost if a server fails a third of the requests.
func TestRetriesSurviveChaos(t *testing.T) {
	t.Parallel() // it waits
	cfg := followers(3)
	cfg.Chaos = "rate-limit=0.1,unavailable=0.1,disconnect=0.1,overloaded=0.05"
	server, err := sim.Start(context.Background(), "", cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	o := recordOptions(t, []string{"G01", "G09", "G02", "G16"}[:testkit.Long(2, 4)]...)
	o.Transport = through(t, server.URL())
	o.Candidates = everyWire()
	o.Retry.Attempts = 8
	o.Retry.Sleep = noSleep
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	var attempts, turns int32
	for _, e := range rowsOf(t, recorded).Episodes {
		require.Empty(t, e.ErrorText, e.Candidate)
		require.True(t, e.Solved, "%s %s", e.TaskID, e.Candidate)
	}
	for _, turn := range rowsOf(t, recorded).Turns {
		turns++
		attempts += turn.Attempts
	}
	require.Greater(t, attempts, turns*5/4, "the server did fail")
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
}
