package harness_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/research"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// architecture is a strategy with a prompt profile, named after both.
func architecture(name, model, provider string) goldens.Candidate {
	strategy, profile, _ := strings.Cut(name, "-")
	return goldens.Candidate{Name: name + "." + model + "." + provider, Agent: strategy, Profile: profile, Provider: provider, Model: model}
}

// onTwoWires returns the agents with models of three qualities on both of two wires, or
// alternately on one of them.
func onTwoWires(agents []string) (list []goldens.Candidate, wires int) {
	two := []string{"sim-openai", "sim-anthropic"}
	wires = testkit.Long(1, len(two))
	for i, agent := range agents {
		for _, model := range sim.Models()[:3] {
			for j := range wires {
				list = append(list, architecture(agent, model, two[(i+j)%len(two)]))
			}
		}
	}
	return list, wires
}

// unscripted returns the tasks for models.
func unscripted(s *goldens.Suite) []string {
	var ids []string
	for _, t := range s.Tasks {
		if !t.Scripted {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// anonymous removes the id of requests, which depends on the order of parallel steps, so that
// replies depend only on the prompt.
func anonymous(through func(string) http.RoundTripper) func(string) http.RoundTripper {
	return func(provider string) http.RoundTripper { return nameless{through(provider)} }
}

type nameless struct{ next http.RoundTripper }

func (n nameless) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("X-Client-Request-Id")
	return n.next.RoundTrip(req)
}

// confusedReplies counts the replies of models that did not recognise the request.
type confusedReplies struct {
	next  http.RoundTripper
	count *atomic.Int64
}

func (b confusedReplies) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read
	if err == nil && bytes.Contains(body, []byte("no playbook that it was given")) {
		b.count.Add(1)
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	return resp, err
}

// solvedBy counts the solved episodes by architecture and model. With freely it also counts those
// with more steps than the task allows, because that limit assumes one action per turn.
func solvedBy(rows ledger.Rows, freely bool) (solved, all map[string]int) {
	solved, all = map[string]int{}, map[string]int{}
	for _, e := range rows.Episodes {
		name := e.Candidate[:strings.LastIndex(e.Candidate, ".")]
		all[name]++
		failed := slices.ContainsFunc(e.Checks, func(c ledger.Check) bool { return !c.Passed && (!freely || c.Name != "max_steps") })
		if !failed && len(e.Checks) > 0 {
			solved[name]++
		}
	}
	return solved, all
}

// TestSimulatedArchitectures runs the suite with every strategy and models of three qualities over
// two wires. Better models solve more. For plans it ignores the limit on steps, because planning
// takes additional turns and a plan cannot ask the user in between.
func TestSimulatedArchitectures(t *testing.T) {
	testkit.Slow(t) // TestArchitecturesAreDeterministic runs the tasks, too
	o := recordOptions(t)
	o.Mode = recorder.Live
	var lost atomic.Int64
	through := o.Transport
	o.Transport = func(provider string) http.RoundTripper { return confusedReplies{through(provider), &lost} }
	o.Select.Tasks = unscripted(o.Suite)
	require.GreaterOrEqual(t, len(o.Select.Tasks), 85)
	agents := []string{"tools", "tools-react", "plan"}
	var wires int
	o.Candidates, wires = onTwoWires(agents)
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	for _, e := range rows.Episodes {
		require.Empty(t, e.ErrorText, "%s %s", e.Candidate, e.TaskID)
	}
	require.Zero(t, lost.Load(), "every prompt is understood")
	strictly, all := solvedBy(rows, false)
	freely, _ := solvedBy(rows, true)
	rate := func(solved map[string]int, agent, model string) float64 {
		name := agent + ".sim-" + model
		require.Equal(t, wires*len(o.Select.Tasks), all[name])
		return float64(solved[name]) / float64(all[name])
	}
	for _, agent := range agents {
		strong, erratic, weak := rate(freely, agent, "strong"), rate(freely, agent, "erratic"), rate(freely, agent, "weak")
		t.Logf("%-12s strong %.3f, erratic %.3f, weak %.3f; within the steps of one action a turn %.3f, %.3f, %.3f", agent, strong, erratic, weak,
			rate(strictly, agent, "strong"), rate(strictly, agent, "erratic"), rate(strictly, agent, "weak"))
		require.Greater(t, strong, erratic+0.03, agent)
		require.Greater(t, erratic, weak+0.03, agent)
		require.Greater(t, weak, 0.3, agent)
	}
	require.GreaterOrEqual(t, rate(strictly, "tools", "strong"), 0.95)
	require.GreaterOrEqual(t, rate(strictly, "tools-react", "strong"), 0.95)
	require.GreaterOrEqual(t, rate(freely, "plan", "strong"), 0.75)
}

// The replies of weak models depend only on their requests, not on other requests in flight or on
// expectations. The sample is a fifth of the tasks.
func TestArchitecturesAreDeterministic(t *testing.T) {
	if testing.Short() {
		t.Skip("many episodes; not with -short")
	}
	tasks := 0
	run := func(concurrency int, change func(*goldens.Suite)) []string {
		o := recordOptions(t)
		o.Mode, o.Concurrency, o.Transport = recorder.Live, concurrency, anonymous(o.Transport)
		o.Candidates = []goldens.Candidate{
			architecture("tools", "sim-weak", "sim-openai"), architecture("tools-react", "sim-weak", "sim-anthropic"),
			architecture("plan", "sim-erratic", "sim-openai"), architecture("plan", "sim-weak", "sim-anthropic"),
		}
		for i, id := range unscripted(o.Suite) {
			if i%testkit.SlowN(5, 1) == 0 {
				o.Select.Tasks = append(o.Select.Tasks, id)
			}
		}
		tasks = len(o.Select.Tasks)
		for i := range o.Suite.Tasks {
			// In a live run, parallel steps reach a cap in real time, so that the steps it stops are not deterministic.
			o.Suite.Tasks[i].Budgets.MaxSteps, o.Suite.Tasks[i].Budgets.MaxToolCalls = 50, 50
		}
		change(o.Suite)
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		var out []string
		for _, turn := range rowsOf(t, res).Turns {
			out = append(out, strings.Join([]string{turn.TaskID, turn.Candidate, turn.Role, turn.RequestDigest, turn.NextActionType, turn.NextActionName, strings.Join(turn.Violations, " ")}, "|"))
		}
		slices.Sort(out)
		return out
	}
	want := run(1, func(*goldens.Suite) {})
	require.Greater(t, len(want), 4*tasks)
	require.Equal(t, want, run(8, func(s *goldens.Suite) {
		for i := range s.Tasks {
			s.Tasks[i].Expect = []goldens.Expect{{Status: "answered"}}
		}
	}))
}

// The strong model solves a task with parallel calls over every wire: with native calls where the
// wire has them, and with text everywhere, recorded and replayed.
func TestArchitecturesOnEveryWire(t *testing.T) {
	o := recordOptions(t, "G01", "C12")
	o.Candidates, o.Transport = nil, anonymous(o.Transport)
	for _, wire := range simulated {
		o.Candidates = append(o.Candidates, architecture("tools-react", "sim-strong", wire))
		if wire != "sim-tgi" {
			streamed := architecture("tools", "sim-strong", wire)
			streamed.Name, streamed.Stream = streamed.Name+".streamed", true
			o.Candidates = append(o.Candidates, architecture("tools", "sim-strong", wire), streamed, architecture("plan", "sim-strong", wire))
		}
	}
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	for _, e := range rowsOf(t, recorded).Episodes {
		require.Empty(t, e.ErrorText, e.Candidate)
		for _, c := range e.Checks {
			require.True(t, c.Passed || c.Name == "max_steps" && strings.HasPrefix(e.Candidate, "plan"), "%s %s: %s", e.Candidate, c.Name, c.Detail)
		}
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, recorded.Manifest.LedgerDigest, replayed.Manifest.LedgerDigest)
	calls := map[string]int32{}
	for _, e := range rowsOf(t, replayed).Episodes {
		calls[e.TaskID] = cmp.Or(calls[e.TaskID], e.ToolCalls)
		require.Equal(t, calls[e.TaskID], e.ToolCalls, "%s: every architecture makes the same calls", e.Candidate)
	}
}

// An answer with a schema matches it when it comes from the special tool, in the text protocol
// and at the end of a plan. Weak models correct it after an error message.
func TestSimulatedFinalSchemas(t *testing.T) {
	o := recordOptions(t, "R46", "R47")
	var err error
	o.Suite, err = load.Suite(research.FS, "builtin:research", research.Worlds())
	require.NoError(t, err)
	o.Mode, o.Candidates, o.Trials, o.Transport = recorder.Live, nil, 2, anonymous(o.Transport)
	for _, name := range []string{"tools", "tools-react", "plan"} {
		for _, model := range sim.Models()[:3] {
			o.Candidates = append(o.Candidates, architecture(name, model, "sim-openai"))
		}
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	answers := map[string]int{}
	for _, e := range rowsOf(t, res).Episodes {
		if json.Valid([]byte(e.Answer)) && e.Status == "answered" {
			answers[e.Candidate]++
		}
		require.False(t, strings.HasSuffix(e.Candidate, "strong.sim-openai") && !e.Solved, "%s %s: %s", e.Candidate, e.TaskID, e.Answer)
	}
	for _, c := range o.Candidates {
		require.GreaterOrEqual(t, answers[c.Name], 1, c.Name)
	}
}
