package expr

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/harness/ledger/manifest"
	"github.com/cupel-eval/cupel/harness/ledger/work"
)

// sampleEpisode returns the i-th episode of an endless run in ledger order: 20 episodes
// for each task, with 5 turns each.
func sampleEpisode(i int) ledger.EpisodeRows {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	c := i / 5 % 4
	rec := ledger.EpisodeRows{Episode: ledger.Episode{
		Key: ledger.Key{
			RunID: "01RUN", EpisodeID: fmt.Sprintf("01J%020d", i), Suite: "counts", TaskID: fmt.Sprintf("task-%06d", i/20),
			Candidate: fmt.Sprint("candidate-", c), Agent: "planner", Provider: []string{"anthropic", "openai"}[c/2], Model: fmt.Sprint("model-", c),
			OutputMode: "prompt", PromptProfile: "standard", Trial: int32(i%5 + 1), Seed: int64(r.Uint64() >> 1), Replayed: true,
		},
		Status: "done", ExpectedStatus: "done", Solved: r.IntN(4) > 0, Steps: 5, ToolCalls: int32(r.IntN(6)), TsStart: 1_700_000_000_000_000 + int64(i)*1e6,
		ElapsedUs: new(int64(r.IntN(9e6))), Answer: "42",
	}}
	for j := range 5 {
		role := "main"
		if j == 3 {
			role = "reflect"
		}
		t := ledger.Turn{
			Key: rec.Episode.Key, Turn: int32(j + 1), Role: role, Kind: "decide", TsStart: rec.Episode.TsStart, DurationUs: new(int64(r.ExpFloat64() * 2e6)), Attempts: 1,
			ContractValid: r.IntN(20) > 0, Thrash: r.IntN(50) == 0, StepsUsed: int32(j), TokensUsed: int64(r.IntN(5000)),
			ActionID: fmt.Sprintf("a%d-%d", i, j), RequestDigest: fmt.Sprintf("%064x", r.Uint64()),
		}
		if r.IntN(10) > 0 {
			t.CostNanoUSD = new(int64(r.IntN(3_000_000)))
			t.TTFTUs = new(*t.DurationUs / 3)
		}
		if j == 4 {
			t.Confidence = new(r.Float64())
		}
		rec.Turns = append(rec.Turns, t)
	}
	rec.Episode.CostNanoUSD = new(int64(r.IntN(9_000_000)))
	if i%3 > 0 {
		tone := r.Float64()
		rec.Episode.Scores = []ledger.Score{{Name: "judge.tone", Score: &tone, Pass: tone > 0.5}, {Name: "score.brief", Pass: i%2 == 0}}
		rec.Episode.Labels = []work.Label{{Labeller: "ann", Pass: i%5 > 0}, {Check: "judge.tone", Labeller: "ann", Pass: true, Score: new(1.0)}, {Check: "other", Labeller: "bo"}}
	}
	return rec
}

// sampleRun writes n episodes and returns the folder.
func sampleRun(t testing.TB, n int) string {
	dir := t.TempDir()
	w, err := ledger.NewWriter(dir)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, w.Append(sampleEpisode(i)))
	}
	m := manifest.Manifest{Format: manifest.Format, Status: "complete"}
	_, err = w.Close(func(totals manifest.Totals) (manifest.Manifest, error) {
		m.SetTotals(totals)
		return m, nil
	})
	require.NoError(t, err)
	return dir
}

func ask(t testing.TB, text string, dirs ...string) Result {
	q, err := ParseQuery(text)
	require.NoError(t, err)
	r, err := q.Run(context.Background(), dirs...)
	require.NoError(t, err)
	return r
}

// lines writes a result as text.
func lines(r Result) []string {
	var out []string
	for _, row := range r.Rows {
		line := ""
		for i, c := range row {
			if i > 0 {
				line += " "
			}
			switch {
			case c.Null:
				line += "null"
			case r.Columns[i].Type == Text:
				line += c.Text
			case r.Columns[i].Type == Bool:
				line += fmt.Sprint(c.Bool)
			default:
				line += fmt.Sprint(c.Number)
			}
		}
		out = append(out, line)
	}
	return out
}
