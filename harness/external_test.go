package harness_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	settings "github.com/cupel-eval/cupel/agent/external"
	"github.com/cupel-eval/cupel/goldens"
	"github.com/cupel-eval/cupel/harness"
	"github.com/cupel-eval/cupel/recorder"
)

// foreignChild makes this test binary a trivial agent, which asks its model once, after the
// address that the variable has if that is one.
const foreignChild = "CUPEL_TEST_FOREIGN_CHILD"

// actAsForeignChild is that agent.
func actAsForeignChild() {
	if other := os.Getenv(foreignChild); strings.HasPrefix(other, "https:") {
		if resp, err := http.Get(other); err == nil { //nolint:noctx // a program of its own
			_ = resp.Body.Close()
		}
	}
	s := foreignStart{Base: os.Getenv("OPENAI_BASE_URL")[:len(os.Getenv("OPENAI_BASE_URL"))-len("/v1")], Key: os.Getenv("OPENAI_API_KEY")}
	m, _, err := foreignChat(context.Background(), s, map[string]any{"model": "any", "messages": []chatMessage{{Role: "user", Content: "hello"}}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(m.Content)
}

// foreignStart is what a foreign agent gets for an episode.
type foreignStart struct {
	Request string `json:"request"`
	Base    string `json:"base_url"`
	Key     string `json:"api_key"`
	MCP     string `json:"mcp_url"`
	// Trace is the header Traceparent of the request for an answer. It is passed on if OnlyTrace
	// is set, in place of the key.
	Trace     string `json:"-"`
	OnlyTrace bool   `json:"-"`
}

// RoundTrip implements http.RoundTripper.
func (s foreignStart) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	if s.OnlyTrace {
		req.Header.Set("Traceparent", s.Trace)
	} else {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	return http.DefaultTransport.RoundTrip(req)
}

// foreignService serves a foreign agent: a function that answers requests.
func foreignService(t *testing.T, agent func(context.Context, foreignStart) (string, error)) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var start foreignStart
		if err := json.NewDecoder(r.Body).Decode(&start); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		start.Trace = r.Header.Get("Traceparent")
		answer, err := agent(r.Context(), start)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"answer": answer})
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// foreignTools connects to the tools of an episode.
func foreignTools(ctx context.Context, s foreignStart) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "foreign", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: s.MCP, HTTPClient: &http.Client{Transport: s}, MaxRetries: -1, DisableStandaloneSSE: true}, nil)
}

type chatMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// foreignChat asks a model once.
func foreignChat(ctx context.Context, s foreignStart, body any) (m chatMessage, status int, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return m, 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Base+"/v1/chat/completions", bytes.NewReader(text))
	if err != nil {
		return m, 0, err
	}
	resp, err := s.RoundTrip(req)
	if err != nil {
		return m, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err = io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return m, resp.StatusCode, fmt.Errorf("HTTP %d %s: %w", resp.StatusCode, text, err)
	}
	var reply struct {
		Choices []struct{ Message chatMessage }
	}
	if err := json.Unmarshal(text, &reply); err != nil || len(reply.Choices) == 0 {
		return m, resp.StatusCode, fmt.Errorf("%s: %w", text, err)
	}
	return reply.Choices[0].Message, resp.StatusCode, nil
}

// simpleForeign is a foreign agent as people write it: it calls the tools that the model
// wants until the model answers.
func simpleForeign(ctx context.Context, s foreignStart) (string, error) {
	tools, err := foreignTools(ctx, s)
	if err != nil {
		return "", err
	}
	defer func() { _ = tools.Close() }()
	list, err := tools.ListTools(ctx, nil)
	if err != nil {
		return "", err
	}
	var offered []map[string]any
	for _, t := range list.Tools {
		offered = append(offered, map[string]any{"type": "function", "function": map[string]any{"name": t.Name, "description": t.Description, "parameters": t.InputSchema}})
	}
	messages := []chatMessage{{Role: "system", Content: "You are a helpful assistant"}, {Role: "user", Content: s.Request}}
	for range 20 {
		m, _, err := foreignChat(ctx, s, map[string]any{"model": "any", "messages": messages, "tools": offered})
		if err != nil {
			return "", err
		}
		if len(m.ToolCalls) == 0 {
			return m.Content, nil
		}
		messages = append(messages, m)
		for _, c := range m.ToolCalls {
			res, err := tools.CallTool(ctx, &mcp.CallToolParams{Name: c.Function.Name, Arguments: json.RawMessage(c.Function.Arguments)})
			if err != nil {
				return "", err
			}
			text := res.Content[0].(*mcp.TextContent).Text
			messages = append(messages, chatMessage{Role: "tool", ToolCallID: c.ID, Content: text})
		}
	}
	return "", fmt.Errorf("no answer")
}

// foreignOptions record an external candidate that is the service at a URL.
func foreignOptions(t testing.TB, url string, tasks ...string) harness.Options {
	t.Helper()
	o := recordOver(t, inMemory, tasks...)
	o.Candidates = []goldens.Candidate{{
		Name: "foreign", Agent: "external", Provider: "sim-openai", Model: "sim-strong",
		Settings: settings.Settings{HTTP: settings.HTTP{URL: url}},
	}}
	o.Select.Candidates = []string{"foreign"}
	return o
}

// TestForeignAgent: a recording and its replay have the same rows.
func TestForeignAgent(t *testing.T) {
	o := foreignOptions(t, foreignService(t, simpleForeign), "G01", "G05")
	recorded, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	rows := rowsOf(t, recorded)
	for _, e := range rows.Episodes {
		require.Equal(t, "answered", e.Status, "%s: %s", e.ErrorKind, e.ErrorText)
		require.True(t, e.Solved)
	}
	o.Mode, o.Cassettes = recorder.Replay, os.DirFS(o.CassetteDir)
	replayed, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, replayed)))

	o.WithAgent = true
	again, err := harness.Run(context.Background(), o)
	require.NoError(t, err)
	require.Equal(t, withoutRun(rows), withoutRun(rowsOf(t, again)))
}
