package batch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// replies serves canned replies by path, and remembers the paths that were asked for.
type replies struct {
	byPath map[string]string
	asked  []string
}

// RoundTrip implements http.RoundTripper.
func (r *replies) RoundTrip(req *http.Request) (*http.Response, error) {
	r.asked = append(r.asked, req.Method+" "+req.URL.Path)
	body, ok := r.byPath[req.URL.Path]
	status := http.StatusOK
	if !ok {
		status = http.StatusNotFound
	}
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
}

// wire is what tests need to know of a provider's results.
type wire struct {
	provider, address string
	// served are the replies that make text the results of batch b.
	served func(text string) map[string]string
	// good, failed, expired and empty are the result of an item.
	good, failed, expired, empty func(id string) string
	// list makes the results of several.
	list func(results ...string) string
}

func lines(results ...string) string { return strings.Join(results, "\n") + "\n" }

// item returns a function that writes an id into a form.
func item(form string) func(string) string {
	return func(id string) string { return fmt.Sprintf(form, id) }
}

var wires = []wire{
	{
		provider: "openai", address: "https://host/v1/chat/completions",
		served: func(text string) map[string]string {
			return map[string]string{"/v1/batches/b": `{"status":"completed","output_file_id":"out"}`, "/v1/files/out/content": text}
		},
		good: item(`{"custom_id":%q,"response":{"status_code":200,"request_id":"r-1","body":{"ok":1}},"error":null}`), list: lines,
		failed:  item(`{"custom_id":%q,"response":{"status_code":400,"body":{"error":{}}},"error":null}`),
		expired: item(`{"custom_id":%q,"response":null,"error":{"code":"batch_expired","message":"late"}}`),
		empty:   item(`{"custom_id":%q,"response":null,"error":null}`),
	},
	{
		provider: "anthropic", address: "https://host/v1/messages",
		served: func(text string) map[string]string {
			return map[string]string{"/v1/messages/batches/b": `{"processing_status":"ended"}`, "/v1/messages/batches/b/results": text}
		},
		good: item(`{"custom_id":%q,"result":{"type":"succeeded","message":{"ok":1}}}`), list: lines,
		failed:  item(`{"custom_id":%q,"result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"no"}}}}`),
		expired: item(`{"custom_id":%q,"result":{"type":"expired"}}`),
		empty:   item(`{"custom_id":%q,"result":{"type":"errored"}}`),
	},
	{
		provider: "gemini", address: "https://host/v1beta/models/m:generateContent",
		served: func(text string) map[string]string {
			return map[string]string{"/v1beta/b": `{"done":true,"metadata":{"state":"BATCH_STATE_SUCCEEDED"},"response":{"inlinedResponses":` + text + `}}`}
		},
		list:    func(results ...string) string { return "[" + strings.Join(results, ",") + "]" },
		good:    item(`{"metadata":{"key":%q},"response":{"ok":1}}`),
		failed:  item(`{"metadata":{"key":%q},"error":{"code":3,"message":"no"}}`),
		expired: item(`{"metadata":{"key":%q},"error":{"code":14,"message":"late"}}`),
		empty:   item(`{"metadata":{"key":%q}}`),
	},
}

func (w wire) client(t testing.TB, r http.RoundTripper) *Client {
	t.Helper()
	like, err := http.NewRequest(http.MethodPost, w.address, nil)
	require.NoError(t, err)
	c, err := New(w.provider, like, r)
	require.NoError(t, err)
	return c
}

// results reads the results that a text has.
func (w wire) results(t testing.TB, text string) (list []Result, err error) {
	t.Helper()
	c := w.client(t, &replies{byPath: w.served(text)})
	s, err := c.State(context.Background(), "b")
	if err != nil {
		return nil, err
	}
	require.True(t, s.Ended)
	return list, c.Results(context.Background(), "b", s, func(r Result) { list = append(list, r) })
}

// Each result is read by itself: what is not a result takes nothing away from the others.
func TestResults(t *testing.T) {
	for _, w := range wires {
		long := strings.Repeat(" ", maxLine)
		garbage := map[string][]string{
			"wrong types":   {`{"custom_id":7,"metadata":3}`, `[]`, `"x"`, `null`, `7`},
			"unknown items": {w.good("somebody else's"), w.good("")},
			"twice":         {w.good("a"), w.failed("a")},
		}
		if w.provider != "gemini" { // whose results are one JSON text
			garbage["not JSON"] = []string{`{`, `<html>`, "\x00", `{"custom_id":"a"`}
			garbage["oversized"] = []string{long + w.good("z")}
		}
		for name, between := range garbage {
			t.Run(w.provider+" "+name, func(t *testing.T) {
				list, err := w.results(t, w.list(append(append([]string{w.good("b"), w.expired("c")}, between...), w.failed("d"), w.empty("e"), w.good("f"))...))
				require.NoError(t, err)
				status, seen := map[string]int{}, map[string]int{}
				for _, r := range list {
					if seen[r.ID]++; seen[r.ID] == 1 {
						status[r.ID] = r.Status
					}
					require.Equal(t, "application/json", r.Header.Get("Content-Type"))
					require.True(t, json.Valid(r.Body), "%s", r.Body)
				}
				require.Equal(t, http.StatusOK, status["b"])
				require.Equal(t, http.StatusServiceUnavailable, status["c"], "it is asked again")
				require.Equal(t, http.StatusBadRequest, status["d"])
				require.GreaterOrEqual(t, status["e"], 500)
				require.Equal(t, http.StatusOK, status["f"], "what follows is read")
				require.Zero(t, seen["z"])
				if name == "twice" {
					require.Equal(t, 2, seen["a"])
					require.Equal(t, http.StatusOK, status["a"])
				}
			})
		}
	}
}

// A status that HTTP does not have, and an id of a request that is not one, do not become a reply.
func TestResultsOfOpenAIAreBounded(t *testing.T) {
	for _, status := range []int{-1, 1, 99, 600, 1 << 40} {
		list, err := wires[0].results(t, fmt.Sprintf(`{"custom_id":"a","response":{"status_code":%d,"request_id":"x\r\nSet-Cookie: y","body":{}}}`, status))
		require.NoError(t, err)
		require.Equal(t, http.StatusBadGateway, list[0].Status)
		require.Len(t, list[0].Header, 1)
	}
}

// A stream that breaks off is an error, so that it is read again; its last line is not a result.
func TestResultsThatBreakOff(t *testing.T) {
	broken := errors.New("connection reset")
	for _, w := range wires[:2] {
		text := w.good("a") + "\n" + w.good("b")
		resp := &http.Response{Body: io.NopCloser(io.MultiReader(strings.NewReader(text), &failingReader{broken}))}
		var got []string
		err := eachLine("download", resp, func(line []byte) error { got = append(got, string(line)); return nil })
		require.ErrorIs(t, err, broken)
		require.ErrorIs(t, err, errEarly)
		require.Equal(t, []string{w.good("a")}, got)
	}
}

type failingReader struct{ err error }

func (r *failingReader) Read([]byte) (int, error) { return 0, r.err }

// The state of a batch in each provider's words.
func TestState(t *testing.T) {
	openAI := func(s string) map[string]string { return map[string]string{"/v1/batches/b": s} }
	gemini := func(s string) map[string]string { return map[string]string{"/v1beta/b": s} }
	for name, tt := range map[string]struct {
		w      wire
		served map[string]string
		want   State
	}{
		"openai in progress":     {wires[0], openAI(`{"status":"in_progress"}`), State{}},
		"openai unknown":         {wires[0], openAI(`{"status":"a new one"}`), State{}},
		"openai expired":         {wires[0], openAI(`{"status":"expired","output_file_id":"o","error_file_id":"e"}`), State{Ended: true, Cut: "expired", files: []string{"o", "e"}}},
		"openai failed":          {wires[0], openAI(`{"status":"failed","errors":{"data":[{"code":"c","message":"m","line":2}]}}`), State{Ended: true, Rejected: "c: m", Lines: map[int]string{1: "c: m"}}},
		"openai failed, no word": {wires[0], openAI(`{"status":"failed"}`), State{Ended: true, Rejected: "the batch failed", Lines: map[int]string{}}},
		"openai full":            {wires[0], openAI(`{"status":"failed","errors":{"data":[{"code":"token_limit_exceeded"}]}}`), State{Ended: true, Rejected: "token_limit_exceeded: ", Lines: map[int]string{}, Full: true}},
		"gemini running":         {wires[2], gemini(`{"metadata":{"state":"BATCH_STATE_RUNNING"}}`), State{}},
		"gemini failed":          {wires[2], gemini(`{"done":true,"error":{"code":3,"message":"m"}}`), State{Ended: true, Rejected: "m"}},
		"gemini cancelled":       {wires[2], gemini(`{"metadata":{"state":"JOB_STATE_CANCELLED"}}`), State{Ended: true, Cut: "cancelled"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.w.client(t, &replies{byPath: tt.served}).State(context.Background(), "b")
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// A reply that is not what the API documents is distinguished from one that did not come, and an id
// that would lead elsewhere is not asked for.
func TestUnreadableReplies(t *testing.T) {
	for _, w := range wires {
		for _, text := range []string{"<html>", `{"id":`, strings.Repeat(" ", maxReply) + "{}"} {
			if w.provider == "gemini" && len(text) > maxReply {
				continue // its results are in the reply
			}
			path := map[string]string{"openai": "/v1/batches/b", "anthropic": "/v1/messages/batches/b", "gemini": "/v1beta/b"}[w.provider]
			_, err := w.client(t, &replies{byPath: map[string]string{path: text}}).State(context.Background(), "b")
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.True(t, failed.Unreadable())
			require.False(t, failed.Refused())
			require.True(t, failed.Created(), "a batch may exist")
		}
	}
	evil := &replies{byPath: map[string]string{"/v1/batches/b": `{"status":"completed","output_file_id":"../../admin"}`}}
	_, err := wires[0].client(t, evil).State(context.Background(), "b")
	require.ErrorContains(t, err, `the id of a file is "../../admin"`)
	for _, id := range []string{"", "..", "a/../b", "a b", "a?b", "a/b/c", strings.Repeat("a", 201)} {
		_, err := wires[1].client(t, &replies{byPath: map[string]string{"/v1/messages/batches": fmt.Sprintf(`{"id":%q}`, id)}}).Submit(context.Background(), "key", nil)
		require.ErrorContains(t, err, "the id of the batch is", "%q", id)
	}
}

// A batch whose first result is not JSON is found nevertheless, so that it is not submitted twice.
func TestFindSkipsGarbage(t *testing.T) {
	c := wires[1].client(t, &replies{byPath: map[string]string{
		"/v1/messages/batches":           `{"data":[{"id":"b","processing_status":"ended","created_at":"2030-01-01T00:00:00Z","request_counts":{"succeeded":2}}]}`,
		"/v1/messages/batches/b/results": "<garbage>\n" + wires[1].good("key_1") + "\n",
	}})
	for key, want := range map[string]string{"key": "b", "other": ""} {
		id, err := c.Find(context.Background(), Lost{Key: key, Items: 2, Known: func(string) bool { return false }})
		require.NoError(t, err)
		require.Equal(t, want, id)
	}
}

// What a request for a single reply becomes at the batch APIs, and which requests have none.
func TestNew(t *testing.T) {
	for _, tt := range []struct{ provider, address, says string }{
		{"cohere", "https://host/v2/chat", "provider cohere has no batch API; those that have: anthropic, gemini, openai"},
		{"openai", "https://host/v1/embeddings", "provider openai has no batch API for /v1/embeddings"},
		{"gemini", "https://host/v1beta/models/m:streamGenerateContent", "has no batch API for /v1beta/models/m:streamGenerateContent"},
	} {
		like, err := http.NewRequest(http.MethodPost, tt.address, nil)
		require.NoError(t, err)
		_, err = New(tt.provider, like, nil)
		require.ErrorContains(t, err, tt.says)
	}
}

// FuzzResults reads any text as the results of each provider: whatever it is, each result that
// comes out is a reply that HTTP has, and a reader of lines finds the results around it.
func FuzzResults(f *testing.F) {
	for _, w := range wires {
		f.Add([]byte(w.list(w.good("a"), w.failed("b"), w.expired("c"), w.empty("d"))))
	}
	f.Add([]byte(`{"inlinedResponses":[{"error":{"code":-3}}]}`))
	f.Add([]byte("{\n\r\n[]\n\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, w := range wires {
			if w.provider == "gemini" && !json.Valid(text) {
				continue // the reply as a whole is refused, see TestUnreadableReplies
			}
			list, err := w.results(t, string(text))
			for _, r := range list {
				require.True(t, r.Status >= 200 && r.Status <= 599)
				require.True(t, len(r.Body) == 0 || json.Valid(r.Body))
			}
			if w.provider == "gemini" {
				continue
			}
			require.NoError(t, err)
			around, err := w.results(t, w.good("first")+"\n"+string(bytes.TrimSuffix(text, []byte("\\")))+"\n"+w.good("last"))
			require.NoError(t, err)
			require.Equal(t, "first", around[0].ID)
			require.Equal(t, "last", around[len(around)-1].ID)
			require.Len(t, around, len(list)+2)
		}
	})
}
