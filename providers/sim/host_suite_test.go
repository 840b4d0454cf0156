package sim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/goldens/counts"
	"github.com/cupel-eval/cupel/goldens/load"
	"github.com/cupel-eval/cupel/goldens/playbook"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/harness/ledger"
	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/all"
	"github.com/cupel-eval/cupel/providers/policy"
	"github.com/cupel-eval/cupel/providers/price"
	"github.com/cupel-eval/cupel/providers/sim"
	"github.com/cupel-eval/cupel/recorder"
)

// host changes the requests of an agent as an agent host would. It replaces the system
// prompt, adds words around the request, a prefix to names, envelopes around results,
// and its own members to earlier calls, of which one replaces an argument.
type host struct{ next http.RoundTripper }

const hostPrefix = "MCP_Client_"

type hostCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	} `json:"function"`
}

type hostMessage struct {
	Role    string     `json:"role"`
	Content any        `json:"content"`
	Calls   []hostCall `json:"tool_calls,omitempty"`
	CallID  string     `json:"tool_call_id,omitempty"`
}

func (h host) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	var messages []hostMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return nil, err
	}
	var list []struct {
		Function map[string]any `json:"function"`
	}
	if err := json.Unmarshal(members["tools"], &list); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(members["messages"], &messages); err != nil {
		return nil, err
	}
	out := []any{}
	for _, t := range list {
		t.Function["name"] = hostPrefix + t.Function["name"].(string)
		out = append(out, map[string]any{"type": "function", "function": t.Function})
	}
	asked := false
	for i := range messages {
		m := &messages[i]
		text, _ := m.Content.(string)
		switch m.Role {
		case "system":
			m.Content = "You are a helpful assistant. Weeks start on Monday."
		case "user":
			if !asked {
				m.Content = "The user asks through the dashboard.\n\nQuestion: " + text + "\n"
			}
			asked = true
		case "tool":
			m.Content = enveloped(text)
		}
		for j := range m.Calls {
			c := &m.Calls[j]
			c.Function.Name = hostPrefix + c.Function.Name
			var args map[string]any
			if json.Unmarshal([]byte(c.Function.Args), &args) == nil {
				args["tool"], args["id"] = c.Function.Name, c.ID
				text, _ := json.Marshal(args)
				c.Function.Args = string(text)
			}
		}
	}
	members["tools"], _ = json.Marshal(out)
	members["messages"], _ = json.Marshal(messages)
	body, err = json.Marshal(members)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	res, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	reply, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	plain := strings.ReplaceAll(string(reply), hostPrefix, "")
	res.Body, res.ContentLength = io.NopCloser(strings.NewReader(plain)), int64(len(plain))
	res.Header.Del("Content-Length")
	return res, nil
}

// enveloped returns a result as a host shows the result of an MCP server, with a
// failure in words.
func enveloped(text string) string {
	var failed struct {
		Error *struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(strings.TrimPrefix(text, "error: ")), &failed) == nil && failed.Error != nil {
		return "There was an error: " + failed.Error.Code + ": " + failed.Error.Message
	}
	out, _ := json.Marshal([]any{map[string]any{"response": []any{map[string]string{"type": "text", "text": text}}}})
	return string(out)
}

// TestOracleSolvesThroughAHost checks that the model without slips solves in a host the
// same tasks as in native calls.
func TestOracleSolvesThroughAHost(t *testing.T) {
	suite, err := load.Suite(counts.FS, "counts", counts.Worlds())
	require.NoError(t, err)
	book, err := load.Playbook(suite)
	require.NoError(t, err)
	prices, err := price.Default()
	require.NoError(t, err)
	direct := testkit.Handled(sim.Handler(sim.Config{Seed: 1, Books: []*playbook.Book{book}}))
	solved := map[bool]map[string]bool{}
	for _, through := range []bool{false, true} {
		var models http.RoundTripper = direct
		if through {
			models = host{direct}
		}
		res, err := harness.Run(context.Background(), harness.Options{
			Matrix:    harness.Matrix{Suite: suite, Candidates: []goldens.Candidate{{Name: "native", Agent: "tools", Provider: "sim-openai", Model: "sim-oracle"}}, Seed: 1},
			Recording: harness.Recording{Mode: recorder.Live},
			RunFolder: harness.RunFolder{Runs: t.TempDir()},
			Parts:     harness.Parts{Providers: all.Factories(), Transport: func(string) http.RoundTripper { return models }},
			Rules:     harness.Rules{Policy: policy.Default(), Prices: prices, CodeVersion: "test"},
		})
		require.NoError(t, err)
		rows, err := ledger.Read(res.Dir)
		require.NoError(t, err)
		solved[through] = map[string]bool{}
		for _, e := range rows.Episodes {
			solved[through][e.TaskID] = e.Solved
		}
	}
	require.Equal(t, solved[false], solved[true])
}
