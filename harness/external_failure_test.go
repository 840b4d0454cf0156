package harness_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/admission"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/recorder"
)

// TestForeignAgentEnds: how an episode ends by what its agent does, in a recording and, where
// that is saved, in its replays.
func TestForeignAgentEnds(t *testing.T) {
	ask := func(ctx context.Context, s foreignStart, text string) error {
		_, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: text}}})
		return err
	}
	for _, c := range []struct {
		name                 string
		agent                func(context.Context, foreignStart) (string, error)
		status, reason, text string
		turns                int
	}{
		{"fails by itself", func(ctx context.Context, s foreignStart) (string, error) {
			_ = ask(ctx, s, "hello")
			return "", errors.New("broken")
		}, "stopped", "agent_failed", "500", 1},
		{"fails after the provider", func(ctx context.Context, s foreignStart) (string, error) { return "", ask(ctx, s, "fail 9") }, "infra_error", "", "overloaded", 1},
		{"fails after a redirect of the provider", func(ctx context.Context, s foreignStart) (string, error) { return "", ask(ctx, s, "status 307") }, "infra_error", "", "redirects are not followed", 1},
		{"fails as the provider lacks the model that is set", func(ctx context.Context, s foreignStart) (string, error) { return "", ask(ctx, s, "status 404") }, "infra_error", "", "not_found", 1},
		{"fails after a request that it got wrong", func(ctx context.Context, s foreignStart) (string, error) { return "", ask(ctx, s, "status 400") }, "stopped", "agent_failed", "500", 1},
		{"answers although the provider failed", func(ctx context.Context, s foreignStart) (string, error) {
			_ = ask(ctx, s, "fail 9")
			return "no idea", nil
		}, "answered", "", "", 1},
		{"asks no model", func(context.Context, foreignStart) (string, error) { return "42", nil }, "harness_error", "", "no model request of the agent reached the proxy", 0},
		{"never stops asking", func(ctx context.Context, s foreignStart) (string, error) {
			for ctx.Err() == nil {
				if err := ask(ctx, s, "more"); err != nil {
					return "", err
				}
			}
			return "", ctx.Err()
		}, "stopped", "max_steps", "", 4},
		{"never ends", func(ctx context.Context, s foreignStart) (string, error) {
			_ = ask(ctx, s, "hello")
			<-ctx.Done()
			return "", ctx.Err()
		}, "stopped", "max_seconds", "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := foreignOptions(t, foreignService(t, c.agent), "G01")
			o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
			for i := range o.Suite.Tasks {
				o.Suite.Tasks[i].Budgets.MaxSteps, o.Suite.Tasks[i].Budgets.MaxTime = 4, time.Second
			}
			begun := time.Now()
			res, err := harness.Run(context.Background(), o)
			require.NoError(t, err)
			require.Less(t, time.Since(begun), 20*time.Second)
			rows := rowsOf(t, res)
			e := rows.Episodes[0]
			require.Equal(t, c.status, e.Status, e.ErrorText)
			require.Equal(t, c.reason, e.StopReason)
			require.Contains(t, e.ErrorText, c.text)
			require.Len(t, rows.Turns, c.turns)
			if e.InfraError {
				return
			}
			o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
			for _, o.WithAgent = range []bool{false, true} {
				res, err := harness.Run(context.Background(), o)
				require.NoError(t, err)
				require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
			}
		})
	}
}

// TestForeignAgentRetries: each attempt is a turn, and each execution a row, which says how often
// the same failed before.
func TestForeignAgentRetries(t *testing.T) {
	model := &scriptedModel{failed: map[string]int{}}
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		for _, text := range []string{"fail 2", "fail 2", "hello", "fail 2", "fail 2"} {
			_, _, _ = foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: text}}})
		}
		tools, err := foreignTools(ctx, s)
		if err != nil {
			return "", err
		}
		for range 3 {
			_, _ = tools.CallTool(ctx, &mcp.CallToolParams{Name: "get_counts", Arguments: json.RawMessage(`{"start_date":"2026-05-10","end_date":"2026-05-10","label":"angry"}`)})
		}
		return "done", tools.Close()
	}), "G39") // whose first call of a tool fails
	o.Transport = func(string) http.RoundTripper { return model }
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	var turns, calls []int32
	for _, turn := range rows.Turns {
		turns = append(turns, turn.RetryIndex)
	}
	for _, call := range rows.ToolCalls {
		calls = append(calls, call.RetryIndex)
	}
	require.Equal(t, []int32{0, 1, 0, 2, 0}, turns)
	require.Equal(t, []int32{0, 1, 1}, calls)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, replayed)))
}

// TestForeignAgentChanged: an agent that does something else than it did is a miss, and one
// that does less makes its recording stale; neither matters without the agent.
func TestForeignAgentChanged(t *testing.T) {
	var says atomic.Value
	says.Store("hello")
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		text, _ := says.Load().(string)
		for _, line := range strings.Fields(text) {
			if _, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "user": time.Now().String(), "messages": []chatMessage{{Role: "user", Content: line + " " + s.Base + " " + s.Key}}}); err != nil {
				return "", err
			}
		}
		return "answer to " + text, nil
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes, o.WithAgent, o.Runs = recorder.Replay, os.DirFS(o.CassetteDir), true, ""
	for _, c := range []struct{ says, status, kind, want string }{
		{"hello", "answered", "", ""},
		{"goodbye", "harness_error", "replay_miss", "goodbye"},
		{"", "harness_error", "cassette_stale", "1 of its recordings unused"},
	} {
		says.Store(c.says)
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		e := rowsOf(t, res).Episodes[0]
		require.Equal(t, []string{c.status, c.kind}, []string{e.Status, e.ErrorKind}, e.ErrorText)
		require.Contains(t, e.ErrorText, c.want)
	}
}

// TestForeignAgentSlower: an agent that is slower in a replay, as on a busy machine, has the rows
// of its recording.
func TestForeignAgentSlower(t *testing.T) {
	var slow atomic.Bool
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		if slow.Load() {
			time.Sleep(4 * time.Second)
		}
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
		return m.Content, err
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	for i := range o.Suite.Tasks {
		o.Suite.Tasks[i].Budgets.MaxTime = 3 * time.Second
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	slow.Store(true)
	o.Mode, o.Cassettes, o.WithAgent = recorder.Replay, os.DirFS(o.CassetteDir), true
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, again)))
}

// TestForeignAgentFaster: an agent that was stopped by its time and comes to an answer in a replay
// has the rows of its recording.
func TestForeignAgentFaster(t *testing.T) {
	var fast atomic.Bool
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
		if !fast.Load() {
			<-ctx.Done()
			return "", ctx.Err()
		}
		return m.Content, err
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	for i := range o.Suite.Tasks {
		o.Suite.Tasks[i].Budgets.MaxTime = time.Second
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "max_seconds", rows.Episodes[0].StopReason)
	fast.Store(true)
	o.Mode, o.Cassettes, o.WithAgent = recorder.Replay, os.DirFS(o.CassetteDir), true
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, again)))
}

// TestForeignAgentVolatile: a miss because of texts without a meaning proposes the rules
// under which the recording as it is has the request.
func TestForeignAgentVolatile(t *testing.T) {
	var id, day atomic.Value
	id.Store("6f1c2a34-0b7e-4c55-9d1e-1234567890ab")
	day.Store("2026-11-23")
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		_, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "session": id.Load(), "messages": []chatMessage{
			{Role: "system", Content: fmt.Sprintf("Today's date is %s. Run run_%.8s", day.Load(), id.Load())}, {Role: "user", Content: s.Request}}})
		return "done", err
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	_, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	o.Mode, o.Cassettes, o.WithAgent, o.Runs = recorder.Replay, os.DirFS(o.CassetteDir), true, ""
	again := func() ledger.Episode {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		return rowsOf(t, res).Episodes[0]
	}
	id.Store("0a9b8c7d-1111-4222-8333-abcdefabcdef")
	e := again()
	require.Equal(t, "replay_miss", e.ErrorKind)
	require.Contains(t, e.ErrorText, "add to the candidate:\n  ignore: [/session]\n  replace: ['\\. Run run_[0-9A-Za-z]*(?:\\d[A-Za-z]|[A-Za-z]\\d)[0-9A-Za-z]*']\n")
	o.Candidates[0].Ignore, o.Candidates[0].Replace = []string{"/session"}, []string{`\. Run run_[0-9A-Za-z]*(?:\d[A-Za-z]|[A-Za-z]\d)[0-9A-Za-z]*`}
	e = again()
	require.Equal(t, "answered", e.Status, e.ErrorText)
	day.Store("2026-11-24")
	e = again()
	require.Equal(t, "replay_miss", e.ErrorKind)
	require.NotContains(t, e.ErrorText, "add to the candidate")
}

type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// TestForeignAgentPlan: what is refused before the first episode.
func TestForeignAgentPlan(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*goldens.Candidate, *harness.Options)
		want string
	}{
		{"a cap without an output limit", func(_ *goldens.Candidate, o *harness.Options) { o.Caps.Tokens = 1000 }, "candidate foreign: a spending cap needs an output limit of model sim-strong, because agents rarely send one; set max_output of sim-strong in models"},
		{"a cap and unknown models", func(c *goldens.Candidate, o *harness.Options) { c.Model, o.Caps.Tokens = "", 1000 }, "candidate foreign: under a spending cap (tokens are capped) the models of an external agent must be known"},
		{"a cap and no price", func(c *goldens.Candidate, o *harness.Options) {
			c.Models, o.Caps = map[string]settings.Model{"sim-strong": {Model: "x", MaxOutput: 10}}, admission.Caps{CostNanoUSD: 1}
		}, "the price table has no price of model x of provider sim-openai"},
		{"a secret that is not set", func(c *goldens.Candidate, _ *harness.Options) {
			c.Proxy = settings.Proxy{Listen: "127.0.0.1:4100", TokenEnv: "NO_SECRET"}
		}, "candidate foreign: proxy: NO_SECRET is not set, or shorter than 16 characters; set it to a secret of your own"},
		{"a provider whose requests are signed", func(c *goldens.Candidate, o *harness.Options) {
			c.Provider, c.Region, o.Key = "bedrock", "us-east-1", func(goldens.Candidate) (string, error) { return "", nil }
		}, "candidate foreign: requests of external agents to provider bedrock are not signed with AWS credentials; set AWS_BEARER_TOKEN_BEDROCK"},
		{"an unknown provider", func(c *goldens.Candidate, _ *harness.Options) {
			c.Models = map[string]settings.Model{"m": {Provider: "nobody"}}
		}, `candidate foreign: models: unknown provider "nobody"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := foreignOptions(t, "http://127.0.0.1:1/", "G01")
			c.set(&o.Candidates[0], &o)
			_, err := harness.Run(context.Background(), o)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// TestForeignAgentEmbeddings: embeddings are rows that are not judged and take no step; lists of
// models and counts of tokens are no rows. All are replayed.
func TestForeignAgentEmbeddings(t *testing.T) {
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		for _, path := range []string{"/v1/models", "/v1/embeddings"} {
			method, body := http.MethodGet, ""
			if strings.HasSuffix(path, "embeddings") {
				method, body = http.MethodPost, `{"model":"small","input":"text"}`
			}
			req, err := http.NewRequestWithContext(ctx, method, s.Base+path, strings.NewReader(body))
			if err != nil {
				return "", err
			}
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				return "", err
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
				return "", errors.New(resp.Status)
			}
		}
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
		return m.Content, err
	}), "G01")
	chat := &scriptedModel{failed: map[string]int{}}
	o.Transport = func(string) http.RoundTripper {
		return roundTrip(func(req *http.Request) (*http.Response, error) {
			text := map[string]string{"/v1/models": `{"data":[]}`, "/v1/embeddings": `{"model":"small","data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":7,"total_tokens":7}}`}[req.URL.Path]
			if text == "" {
				return chat.RoundTrip(req)
			}
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)), Body: io.NopCloser(strings.NewReader(text)), Request: req}, nil
		})
	}
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, res)
	require.Equal(t, "answered", rows.Episodes[0].Status, rows.Episodes[0].ErrorText)
	require.Len(t, rows.Turns, 2)
	require.Equal(t, "compress", rows.Turns[0].Role)
	require.Equal(t, int64(7), *rows.Turns[0].In, rows.Turns[0].ErrorKind)
	require.Equal(t, int32(1), rows.Episodes[0].Steps)
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	for _, o.WithAgent = range []bool{false, true} {
		res, err := harness.Run(context.Background(), o)
		require.NoError(t, err)
		require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, res)))
	}
}

// TestForeignAgentsAtOnce: 64 episodes act at the same time.
func TestForeignAgentsAtOnce(t *testing.T) {
	var acting, most atomic.Int64
	o := foreignOptions(t, foreignService(t, func(ctx context.Context, s foreignStart) (string, error) {
		most.Store(max(most.Load(), acting.Add(1)))
		for begun := time.Now(); most.Load() < 64 && time.Since(begun) < 10*time.Second; {
			time.Sleep(time.Millisecond)
		}
		acting.Add(-1)
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: s.Request}}})
		return m.Content, err
	}), "G01")
	o.Transport = func(string) http.RoundTripper { return &scriptedModel{failed: map[string]int{}} }
	o.Trials, o.Concurrency = 64, 64
	res, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, int64(64), most.Load())
	require.Equal(t, "complete", res.Manifest.Status)
}
