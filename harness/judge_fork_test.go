package harness

import (
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/recorder"
)

// A forked episode is judged by its own result, not by the verdict on the episode that it continues;
// a replay of the fork asks no judge.
func TestJudgeOfAFork(t *testing.T) {
	dir, c := t.TempDir(), &court{verdicts: []string{`{"reason": "rude", "score": 0, "pass": false}`, polite}}
	o := judged(t, dir, judgedSuite, c)
	answer, asked := o.Transport, 0
	o.Transport = func(provider string) http.RoundTripper {
		next := answer(provider)
		return testkit.Transport(func(r *http.Request) (*http.Response, error) {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			if provider == "groq" {
				asked++
				if !strings.Contains(string(text), `"tool_calls"`) {
					return testkit.Reply(r, http.StatusOK, `{"model":"m","choices":[{"message":{"tool_calls":[{"id":"a","type":"function","function":{"name":"get_job_status","arguments":"{\"id\":\"7\"}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":100,"completion_tokens":10}}`), nil
				}
			}
			return next.RoundTrip(r)
		})
	}
	first := finished(t, o).Rows
	require.Empty(t, first.Episodes[0].ErrorText)
	require.False(t, first.Episodes[0].Solved)
	require.Len(t, first.Turns, 2)
	require.Equal(t, []int{2, 1}, []int{asked, len(c.asked)})

	o.Fork, o.Cassettes = &Fork{Task: "T", Candidate: "c", Trial: 1, Turn: 1}, os.DirFS(o.CassetteDir)
	res := finished(t, o)
	e := res.Rows.Episodes[0]
	require.Empty(t, e.ErrorText)
	require.True(t, e.Solved, e.Checks)
	require.Equal(t, "says please", e.Scores[0].Reason)
	require.EqualValues(t, 1, e.JudgeCalls)
	require.Equal(t, []int{3, 2}, []int{asked, len(c.asked)}, "one turn and the judge, again")
	require.Contains(t, c.asked[1], "get_job_status", "the judge sees the calls of the replayed turns")

	o.Mode, o.Transport = recorder.Replay, nil
	replayed := finished(t, o)
	require.Empty(t, replayed.Rows.Episodes[0].ErrorText)
	require.Equal(t, e.Scores, replayed.Rows.Episodes[0].Scores)
	require.Equal(t, res.Rows.Digest(), replayed.Rows.Digest())
}
