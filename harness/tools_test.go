package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/agent"
	"github.com/cupel-eval/cupel/agent/tool"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/harness/episode"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/recorder"
)

const plantedKey = "plantedKey-7f3a9c0d5e"

// toolSuite returns a suite of one scripted task with one tool. use are further fields of the
// tool, more those of the task.
func toolSuite(t *testing.T, use, more string) *goldens.Suite {
	t.Helper()
	s, err := load.Suite(fstest.MapFS{"suite.yaml": {Data: []byte(`name: own
worlds: {w: {now: 2026-05-13T12:00:00Z, zone: UTC, kind: counts, state: {job_status: [done]}}}
defaults: {world: w}
tools:
  - name: get_job_status
    description: Status.
    schema: {type: object, properties: {id: {type: string}}, required: [id], additionalProperties: false}
` + use + `
tasks:
  - id: T
    request: Is it done?
    scripted: true
    script: [{call: {get_job_status: {id: "7"}}}, {respond: It is.}]
    expect: {status: answered}
` + more)}}, "own", counts.Worlds())
	require.NoError(t, err)
	return s
}

// ownOptions returns a run of the scripted task of a suite.
func ownOptions(t *testing.T, s *goldens.Suite) Options {
	t.Helper()
	prices, err := price.Default()
	require.NoError(t, err)
	return Options{
		Matrix:    Matrix{Suite: s, Select: Selection{Candidates: []string{episode.ScriptedCandidate}}, Seed: 1},
		Recording: Recording{Mode: recorder.Live},
		Rules:     Rules{Policy: policy.Default(), Prices: prices},
		Parts: Parts{
			Now:       func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) },
			LookupEnv: func(name string) (string, bool) { return plantedKey, name == "JOB_KEY" },
		},
	}
}

// finished runs o and returns the result with its rows, also for a run with a folder.
func finished(t *testing.T, o Options) Result {
	t.Helper()
	res, err := Run(context.Background(), o)
	require.NoError(t, err)
	if res.Dir != "" {
		res.Rows, err = ledger.Read(res.Dir)
		require.NoError(t, err)
	}
	return res
}

// runOne runs the one episode of o and returns its outcome by tool call.
func runOne(t *testing.T, o Options) (Result, []string) {
	t.Helper()
	res := finished(t, o)
	require.Len(t, res.Rows.Episodes, 1)
	var calls []string
	for _, c := range res.Rows.ToolCalls {
		calls = append(calls, strings.TrimSpace(c.Outcome+" "+c.ErrorCode))
	}
	return res, calls
}

// endpoint serves one handler and closes its idle connections at the end.
func endpoint(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		s.Close()
	})
	return s.URL
}

// TestToolRunners is the contract of everything that executes tools: Go functions, HTTP endpoints
// and worlds.
func TestToolRunners(t *testing.T) {
	// A runner returns value, or with fail an error with code E_X.
	runners := map[string]func(t *testing.T, fail bool) Options{
		"go": func(t *testing.T, fail bool) Options {
			o := ownOptions(t, toolSuite(t, "", ""))
			o.Tools = map[string]episode.ToolFunc{"get_job_status": func(_ context.Context, c tool.Call, info episode.CallInfo) (tool.Result, error) {
				require.JSONEq(t, `{"id":"7"}`, string(c.Args))
				require.Len(t, info.StepID, 26)
				require.Len(t, info.ParentStep, 26)
				require.Regexp(t, `^sha256:[0-9a-f]{64}$`, info.IdempotencyKey)
				if fail {
					return tool.Result{Outcome: tool.Error, Code: "E_HTTP_500", Duration: time.Second}, nil
				}
				return tool.Result{Outcome: tool.OK, Value: json.RawMessage(`{"id":"7","status":"done"}`)}, nil
			}}
			return o
		},
		"http": func(t *testing.T, fail bool) Options {
			url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery != "id=7" || fail {
					w.WriteHeader(http.StatusInternalServerError)
				}
				_, _ = io.WriteString(w, `{"id":"7","status":"done"}`)
			})
			return ownOptions(t, toolSuite(t, "    http: {url: '"+url+"/?id={id}'}", ""))
		},
		"world": func(t *testing.T, fail bool) Options {
			faults := ""
			if fail {
				faults = "    faults: [{tool: get_job_status, kind: error, code: E_HTTP_500}]\n"
			}
			return ownOptions(t, toolSuite(t, "", faults))
		},
	}
	for name, runner := range runners {
		t.Run(name, func(t *testing.T) {
			t.Run("value", func(t *testing.T) {
				res := callTool(t, runner(t, false), "get_job_status", `{"id":"7"}`)
				require.Equal(t, tool.OK, res.Outcome, res.Message)
				require.JSONEq(t, `{"id":"7","status":"done"}`, string(res.Value))
			})
			t.Run("failure is an outcome", func(t *testing.T) {
				res, calls := runOne(t, runner(t, true))
				require.Equal(t, []string{"error E_HTTP_500"}, calls)
				require.Equal(t, "respond_error", res.Rows.Episodes[0].Status)
				require.NotEmpty(t, res.Rows.ToolCalls[0].IdempotencyKey)
			})
			t.Run("refused before it runs", func(t *testing.T) {
				for _, args := range []string{`{"id":7}`, `{}`, `{"id":"7","x":1}`, `nonsense`} {
					res := callTool(t, runner(t, false), "get_job_status", args)
					require.Equal(t, tool.Rejected, res.Outcome, args)
				}
				res := callTool(t, runner(t, false), "constructor", "")
				require.Equal(t, "rejected name:unknown_tool", string(res.Outcome)+" "+res.Message)
			})
			t.Run("world around it", func(t *testing.T) {
				o := runner(t, false)
				o.Suite.Tasks[0].World.Latency = map[string]time.Duration{"get_job_status": 3 * time.Second}
				res, calls := runOne(t, o)
				require.Equal(t, []string{"ok"}, calls)
				require.GreaterOrEqual(t, res.Rows.ToolCalls[0].DurationUs, int64(3_000_000))
			})
		})
	}
}

// oneCall is a strategy that makes one tool call and ends.
type oneCall struct{ call tool.Call }

func (m oneCall) Step(ev agent.Event) agent.Ready {
	switch ev.(type) {
	case agent.Started:
		return agent.Ready{Commands: []agent.Command{agent.CallModel{ID: 1, Whom: ""}}}
	case agent.ModelReplied:
		return agent.Ready{Commands: []agent.Command{agent.CallTool{ID: 2, Parent: 1, Call: m.call, Key: "k"}}}
	}
	return agent.Ready{Commands: []agent.Command{agent.Finish{Status: agent.Answered}}}
}

// callTool makes one call without the checks of the built-in strategies.
func callTool(t *testing.T, o Options, name, args string) tool.Result {
	t.Helper()
	o.Suite.Tasks[0].Agent = "one-call"
	o.Strategies = map[string]agent.Strategy{"one-call": {New: func(agent.Params) (agent.Machine, error) {
		return oneCall{tool.Call{Name: name, Args: json.RawMessage(args)}}, nil
	}}}
	var result *tool.Result
	o.Traced = func(_ ledger.EpisodeRows, traces []episode.Trace) {
		for _, x := range traces {
			if x.Result != nil {
				result = x.Result
			}
		}
	}
	finished(t, o)
	require.NotNil(t, result)
	return *result
}

// A broken runner is an infrastructure failure, not the agent's.
func TestGoToolThatBreaks(t *testing.T) {
	tests := map[string]struct {
		f    episode.ToolFunc
		want string
	}{
		"error": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{}, errors.New("boom")
		}, "tool get_job_status: boom"},
		"panic":      {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) { panic("boom") }, "its Go function panicked: boom"},
		"no outcome": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) { return tool.Result{}, nil }, `outcome ""`},
		"no value": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.OK}, nil
		}, "not JSON"},
		"value of a fault": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.Error, Value: []byte("1")}, nil
		}, "only ok has one"},
		"negative time": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.OK, Value: []byte("1"), Duration: -1}, nil
		}, "is negative"},
		"long": {func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			return tool.Result{Outcome: tool.OK, Value: []byte(`"` + strings.Repeat("x", 16<<20) + `"`)}, nil
		}, "longer than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := ownOptions(t, toolSuite(t, "", ""))
			o.Tools = map[string]episode.ToolFunc{"get_job_status": tt.f}
			res, calls := runOne(t, o)
			ep := res.Rows.Episodes[0]
			require.Equal(t, ledger.StatusHarnessError, ep.Status)
			require.True(t, ep.InfraError)
			require.Contains(t, ep.ErrorText, tt.want)
			require.Empty(t, calls)
			require.Len(t, res.Rows.Turns, 1, "what was paid for is kept")
		})
	}
}

func TestGoToolsAdvanceTheVirtualClock(t *testing.T) {
	o := ownOptions(t, toolSuite(t, "", ""))
	o.Mode = recorder.Replay // Go functions run there, too
	o.Tools = map[string]episode.ToolFunc{"get_job_status": func(_ context.Context, _ tool.Call, info episode.CallInfo) (tool.Result, error) {
		require.Equal(t, "2026-05-13T12:00:00Z", info.At.UTC().Format(time.RFC3339))
		return tool.Result{Outcome: tool.Timeout, Code: "E_TIMEOUT", Duration: 5*time.Second + 999*time.Nanosecond}, nil
	}}
	res, calls := runOne(t, o)
	require.Equal(t, []string{"timeout E_TIMEOUT"}, calls)
	require.Equal(t, int64(5_000_000), *res.Rows.Episodes[0].ElapsedUs)
}

func TestGoToolForAnUnknownTool(t *testing.T) {
	o := ownOptions(t, toolSuite(t, "", ""))
	o.Tools = map[string]episode.ToolFunc{"get_jobs": nil, "get_job_status": nil}
	_, err := Run(context.Background(), o)
	var config *ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorContains(t, err, `tool "get_jobs": a Go function must be non-nil and have the name of one of the suite's tools: get_job_status`)
	require.ErrorContains(t, err, `tool "get_job_status"`)
}

func TestCancelledToolEndsTheEpisode(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	o := ownOptions(t, toolSuite(t, "", ""))
	o.Tools = map[string]episode.ToolFunc{"get_job_status": func(ctx context.Context, _ tool.Call, _ episode.CallInfo) (tool.Result, error) {
		cancel()
		return tool.Result{}, ctx.Err()
	}}
	res, err := Run(ctx, o)
	require.NoError(t, err)
	require.True(t, res.Interrupted)
	require.Empty(t, res.Rows.Episodes, "a later run repeats it")
}

// A Go test registers its tools with Params.
func TestParamsTools(t *testing.T) {
	called := 0
	Test(t, Params{Loaded: toolSuite(t, "", ""), Tools: map[string]episode.ToolFunc{
		"get_job_status": func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
			called++
			return tool.Result{Outcome: tool.OK, Value: []byte("null")}, nil
		},
	}})
	require.Equal(t, 1, called)
}

// files returns every file below dir.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[path] = string(text)
		return err
	}))
	return out
}

// A tool that is checked but not executed returns its fixed result. Neither a Go function nor the
// world executes it.
func TestToolThatIsNotExecuted(t *testing.T) {
	o := ownOptions(t, toolSuite(t, "    run: never\n    result: {status: fixed}", ""))
	o.Tools = map[string]episode.ToolFunc{"get_job_status": func(context.Context, tool.Call, episode.CallInfo) (tool.Result, error) {
		return tool.Result{}, errors.New("it ran")
	}}
	require.JSONEq(t, `{"status":"fixed"}`, string(callTool(t, o, "get_job_status", `{"id":"7"}`).Value))
	require.Equal(t, tool.Rejected, callTool(t, o, "get_job_status", `{"x":1}`).Outcome, "its calls are judged")
}
