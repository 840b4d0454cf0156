package mcp

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
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// testServer offers tools that repeat their arguments, fail, or have ended.
func testServer(t *testing.T) *httptest.Server {
	s := httptest.NewServer(Handler(ServerOptions{
		Name: "world", Version: "3",
		Tools: []Tool{
			{Name: "zebra", Description: "returns its arguments", Schema: json.RawMessage(`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`), ReadOnly: true},
			{Name: "word", Schema: json.RawMessage(`{"anyOf":[{"required":["x"]},{}]}`)},
			{Name: "list", Schema: json.RawMessage(`{}`)},
			{Name: "fails", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "today_range", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "get_counts", Schema: json.RawMessage(`{"type":"object"}`)},
			{Name: "ended", Schema: json.RawMessage(`{"type":"object"}`)},
		},
		Call: func(_ context.Context, name string, args json.RawMessage) (Answer, error) {
			switch name {
			case "word":
				return Answer{Value: json.RawMessage(`"a \"word\""`)}, nil
			case "list":
				return Answer{Value: json.RawMessage(`[1,2]`)}, nil
			case "fails":
				return Answer{Code: "E_ARGS", Message: "missing:start_date"}, nil
			case "ended":
				return Answer{}, errors.New("the episode has ended; calls are no longer run")
			}
			return Answer{Value: args}, nil
		},
	}))
	t.Cleanup(s.Close)
	return s
}

// The SDK's own client of the current and of the earlier protocol.
func TestServerWithTheSDKsClient(t *testing.T) {
	s := testServer(t)
	for _, version := range []string{"", "2025-11-25", "2025-03-26"} {
		t.Run("version "+version, func(t *testing.T) {
			client := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
			session, err := client.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: s.URL, MaxRetries: -1}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			require.NoError(t, err)
			defer func() { require.NoError(t, session.Close()) }()
			require.Equal(t, "world", session.InitializeResult().ServerInfo.Name)
			require.Nil(t, session.InitializeResult().Capabilities.Logging) //nolint:staticcheck // deprecated, but older clients react to it
			list, err := session.ListTools(t.Context(), nil)
			require.NoError(t, err)
			var names []string
			for _, tool := range list.Tools {
				names = append(names, tool.Name)
			}
			require.Equal(t, []string{"zebra", "word", "list", "fails", "today_range", "get_counts", "ended"}, names)
			require.True(t, list.Tools[0].Annotations.ReadOnlyHint)
			for name, want := range map[string]string{
				"zebra": `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`,
				"word":  `{"content":[{"type":"text","text":"a \"word\""}]}`,
				"list":  `{"content":[{"type":"text","text":"[1,2]"}]}`,
				"fails": `{"content":[{"type":"text","text":"E_ARGS: missing:start_date"}],"isError":true}`,
			} {
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{"a": 1}})
				require.NoError(t, err)
				res.Meta = nil
				text, err := json.Marshal(res)
				require.NoError(t, err)
				var got map[string]any
				require.NoError(t, json.Unmarshal(text, &got))
				delete(got, "resultType")
				text, err = json.Marshal(got)
				require.NoError(t, err)
				require.JSONEq(t, want, string(text))
			}
			for name, want := range map[string]jsonrpc.Error{
				"ended":   {Code: jsonrpc.CodeInternalError, Message: "the episode has ended; calls are no longer run"},
				"zebra_2": {Code: jsonrpc.CodeInvalidParams, Message: `unknown tool "zebra_2"`},
			} {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: map[string]any{}})
				var refused *jsonrpc.Error
				require.ErrorAs(t, err, &refused)
				require.Equal(t, want, *refused)
			}
		})
	}
}

func post(t *testing.T, url, body string, header map[string]string) (int, string) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(text)
}

func TestServerRawRequests(t *testing.T) {
	s := testServer(t)
	call := func(params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":` + params + `}`
	}
	for _, c := range []struct {
		name, body, want string
		status           int
	}{
		{"list, schemas as declared", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"inputSchema":{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}},"name":"zebra"`, 200},
		{"type added", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `"inputSchema":{"type":"object","anyOf":[{"required":["x"]},{}]}`, 200},
		{"no arguments", call(`{"name":"zebra"}`), `"structuredContent":{}`, 200},
		{"null arguments", call(`{"name":"zebra","arguments":null}`), `"structuredContent":{}`, 200},
		{"arguments of a wrong type", call(`{"name":"zebra","arguments":[1]}`), `"code":-32602,"message":"the arguments of zebra must be an object"`, 200},
		{"name of a wrong type", call(`{"name":5}`), `-32602`, 200},
		{"unknown tool", call(`{"name":"MCP_zebra","arguments":{}}`), `"code":-32602,"message":"unknown tool \"MCP_zebra\""`, 200},
		{"unknown method", `{"jsonrpc":"2.0","id":1,"method":"tools/eat"}`, `not handled`, 400},
		{"garbage", `{"jsonrpc":`, `malformed payload`, 400},
		{"nothing", ``, `non-empty body`, 400},
		{"large", call(`{"name":"zebra","arguments":{"a":"` + strings.Repeat("x", maxBody) + `"}}`), "request body exceeds 4194304 bytes", 413},
		{"prompts", `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`, `prompts`, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, text := post(t, s.URL, c.body, nil)
			require.Equal(t, c.status, status, text)
			require.Contains(t, text, c.want)
		})
	}
	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		req, err := http.NewRequestWithContext(t.Context(), method, s.URL, nil)
		require.NoError(t, err)
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	}
}

// Clients of newer revisions refuse a result that does not say that it is complete, as
// @modelcontextprotocol/client 2 does.
func TestServerCompletesResults(t *testing.T) {
	body := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"zebra","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	status, text := post(t, testServer(t).URL, body, map[string]string{"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "zebra"})
	require.Equal(t, http.StatusOK, status, text)
	require.Contains(t, text, `"resultType":"complete"`)
	require.Contains(t, text, `"structuredContent":{}`)
}

// What real agents sent, each file all its sessions, with ids of sessions that this server
// never gave.
func TestServerWithRecordedRequests(t *testing.T) {
	files, err := filepath.Glob("../../../shared/external/requests/*.json")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("the recorded requests are not part of the repository")
	}
	s := testServer(t)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var sent []struct {
				Kind, Method, Body string
				Header             map[string][]string
			}
			require.NoError(t, json.Unmarshal(text, &sent))
			var group sync.WaitGroup
			for _, one := range sent {
				if one.Kind != "mcp" || one.Method != http.MethodPost {
					continue
				}
				header := map[string]string{}
				for _, name := range []string{"Accept", "Mcp-Session-Id", "Mcp-Protocol-Version", "Mcp-Method", "Mcp-Name"} {
					if values := one.Header[name]; len(values) > 0 {
						header[name] = values[0]
					}
				}
				group.Go(func() {
					status, text := post(t, s.URL, one.Body, header)
					if strings.Contains(one.Body, `"notifications/`) {
						require.Equal(t, http.StatusAccepted, status, text)
						return
					}
					require.Equal(t, http.StatusOK, status, text)
					require.Contains(t, text, `"result":`, one.Body)
					require.NotContains(t, text, `"isError":true`)
				})
			}
			group.Wait()
		})
	}
}

// BenchmarkCall is a call of a tool as agents make it.
func BenchmarkCall(b *testing.B) {
	h := Handler(ServerOptions{
		Name: "world", Version: "3", Tools: []Tool{{Name: "add", Schema: json.RawMessage(`{"type":"object"}`)}},
		Call: func(_ context.Context, _ string, args json.RawMessage) (Answer, error) {
			return Answer{Value: args}, nil
		},
	})
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
