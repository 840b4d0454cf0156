package all

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
	"github.com/cupel-eval/cupel/providers/openai"
)

// The recordings are real traffic, recorded by others, with the values that a correct
// parser reads. The test replays every exchange through the whole provider and
// compares. The data is not part of the repository.

type recording struct {
	ID, Provider, API, Model string
	Tags                     []string
	Request                  struct{ URL string }
	Response                 struct {
		Status       int
		Headers      map[string][]string
		Body         string
		BodyEncoding string `json:"body_encoding"`
	}
}

type expectation struct {
	Text      string `json:"text"`
	Reasoning string `json:"reasoning_text"`
	ToolCalls []struct {
		ID        *string
		Name      string
		Arguments json.RawMessage // or {"__unparsed__": text} if the text is cut off
	} `json:"tool_calls"`
	Finish       json.RawMessage `json:"finish_reason"`
	In           *float64        `json:"tokens_in_total"`
	Out          *float64        `json:"tokens_out_total"`
	BilledIn     *float64        `json:"billed_in"` // if it differs from the processed tokens
	BilledOut    *float64        `json:"billed_out"`
	Cached       *float64        `json:"cached_tokens"`
	CacheWrite   *float64        `json:"cache_write_tokens"`
	ReasoningTok *float64        `json:"reasoning_tokens"`
	IsError      bool            `json:"is_error"`
	ErrorType    json.RawMessage `json:"error_type"`
	ErrorCode    json.RawMessage `json:"error_code"`
	ErrorMessage string          `json:"error_message"`
	Refusal      string          `json:"refusal"`
	Model        string          `json:"response_model"`
	Complete     bool            `json:"complete"`
	Stream       bool            `json:"stream"`
	RetryAfter   *float64        `json:"retry_after"`
	RetryAfterMs *float64        `json:"retry_after_ms"`
	Status       int             `json:"http_status"`
}

// wireOf returns the provider that reads an exchange, by its API and, for variants of
// an API, by the recorded provider.
func wireOf(r recording) string {
	switch api, _, _ := strings.Cut(r.API, "("); api {
	case "openai.chat", "openai.completions":
		for _, d := range openai.Dialects() {
			if d.Name == r.Provider || d.Name == r.Provider+"-compat" {
				return d.Name
			}
		}
		return "openai"
	case "embeddings": // an error, which all read alike
		return "openai"
	case "openai.responses":
		return "openai-responses"
	case "anthropic.messages", "anthropic.complete":
		return "anthropic"
	case "google.generate_content", "google.stream_generate_content":
		return "gemini"
	case "bedrock.converse", "bedrock.converse_stream", "bedrock.invoke", "bedrock.invoke_stream":
		return "bedrock"
	case "ollama.chat", "ollama.generate":
		return "ollama"
	case "tgi.generate", "hf.inference":
		return "tgi"
	case "cohere.chat":
		return "cohere"
	}
	return ""
}

// differing lists the exchanges that cupel reads differently on purpose, by a part of
// the id, with the reason.
var differing = map[string]string{
	"azure_grok-4-1-fast-non-reasoning_can_handle_multiple_tool_calls_in_a_single_response#1": "387 cached of 298 prompt tokens: we keep the larger figure, and do not understand the usage",
	"test_snowflake_openai_model#0":     "an empty function_call means no call: no name and no arguments, and the model stopped",
	"test_snowflake_thinking#1":         "an empty function_call means no call: no name and no arguments, and the model stopped",
	"test_cloudflare_data_extraction#0": "the content is a parsed object: we keep its JSON, they joined its keys",
	"test_cloudflare_data_extraction#1": "the content is a parsed object: we keep its JSON, they joined its keys",
	"test_cloudflare_data_extraction#2": "the content is a parsed object: we keep its JSON, they joined its keys",
}

func TestRecordings(t *testing.T) {
	compared := map[string]int{}
	for _, c := range readRecordings(t) {
		t.Run(c.ID, func(t *testing.T) {
			wire := wireOf(c.recording)
			require.NotEmpty(t, wire, "no provider reads %s", c.API)
			compared[wire]++
			got, err := replay(t, wire, c.recording, c.body, c.asked())
			if c.want == nil {
				requireNotMalformed(t, err)
				return
			}
			want := *c.want
			if reason := c.excuse(); reason != "" {
				requireExcused(t, reason, &want, got)
			}
			switch {
			case want.IsError:
				requireSameError(t, want, err)
			case !want.Complete:
				requireCutOff(t, err)
			default:
				require.NoError(t, err)
			}
			requireSameReply(t, want, got)
		})
	}
	t.Logf("compared %v", compared)
	for wire, n := range map[string]int{"openai": 50, "anthropic": 30, "groq": 20, "openai-responses": 20, "gemini": 10, "bedrock": 10, "ollama": 5, "cohere": 5} {
		require.GreaterOrEqual(t, compared[wire], n, wire)
	}
}

// TestRecordedStreamsInAnyChunks checks that the reply does not depend on how the bytes
// are split.
func TestRecordedStreamsInAnyChunks(t *testing.T) {
	for _, c := range readRecordings(t) {
		if !slices.Contains(c.Tags, "stream") || len(c.body) == 0 {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			wire := wireOf(c.recording)
			want, wantErr := replay(t, wire, c.recording, c.body, c.asked())
			same := func(body io.Reader) {
				got, err := exchange(t, wire, c.recording, body, c.asked())
				want.Frames, want.FirstToken, got.Frames, got.FirstToken = nil, 0, nil, 0
				require.Equal(t, want, got)
				require.Equal(t, wantErr == nil, err == nil)
			}
			if len(c.body) < 32<<10 {
				same(iotest.OneByteReader(bytes.NewReader(c.body)))
			}
			for at := 1; at < len(c.body); at += max(1, len(c.body)/testkit.Long(8, 64)) {
				same(io.MultiReader(bytes.NewReader(c.body[:at]), bytes.NewReader(c.body[at:])))
			}
		})
	}
}

// TestRecordedStreamsCutAnywhere checks that an incomplete stream is never taken for a
// complete one, and does not count against the model.
func TestRecordedStreamsCutAnywhere(t *testing.T) {
	for _, c := range readRecordings(t) {
		if !slices.Contains(c.Tags, "stream") || len(c.body) == 0 || c.want != nil && (c.want.IsError || !c.want.Complete) {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			wire := wireOf(c.recording)
			whole, err := replay(t, wire, c.recording, c.body, c.asked())
			if c.want == nil && err != nil {
				t.Skipf("no reply to cut: %v", err)
			}
			require.NoError(t, err)
			for at := 1; at < len(c.body); at += max(1, len(c.body)/testkit.Long(6, 24)) {
				broken := io.MultiReader(bytes.NewReader(c.body[:at]), iotest.ErrReader(errors.New("connection reset")))
				got, err := exchange(t, wire, c.recording, broken, c.asked())
				require.True(t, strings.HasPrefix(whole.Text, got.Text), "%q is not a prefix of %q", got.Text, whole.Text)
				if err == nil { // everything that is compared had arrived
					require.Equal(t, whole.Text, got.Text)
					require.Equal(t, whole.Calls, got.Calls)
					continue
				}
				var e *fault.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, fault.Transport, e.Kind, "cut at %d of %d: %v", at, len(c.body), err)
			}
		})
	}
}

// recorded is an exchange and the expected values.
type recorded struct {
	recording
	want *expectation // nil if the expected values are unknown
	body []byte
}

func (r recorded) asked() bool {
	return slices.Contains(r.Tags, "stream") || r.want != nil && r.want.Stream || strings.Contains(r.API, "stream")
}

func (r recorded) excuse() string {
	for part, why := range differing {
		if strings.Contains(r.ID, part) {
			return why
		}
	}
	return ""
}

// recordingsEnv names a folder of recordings besides the shared ones. It contains
// interactions.jsonl and, if the expected values are known, expected.jsonl.
const recordingsEnv = "CUPEL_RECORDINGS"

func readRecordings(t *testing.T) []recorded {
	t.Helper()
	dirs := []string{filepath.Join("..", "..", "..", "shared", "recordings")}
	if dir := os.Getenv(recordingsEnv); dir != "" {
		dirs = append(dirs, dir)
	}
	var list []recorded
	for _, dir := range dirs {
		list = append(list, readFolder(t, dir)...)
	}
	if len(list) == 0 {
		t.Skipf("recordings are not available: name a folder of them by %s", recordingsEnv)
	}
	return list
}

// readFolder reads the exchanges of a folder that some provider reads.
func readFolder(t *testing.T, dir string) []recorded {
	t.Helper()
	expected := map[string]json.RawMessage{}
	for _, line := range readLines[json.RawMessage](t, filepath.Join(dir, "expected.jsonl")) {
		var e struct{ ID string }
		require.NoError(t, json.Unmarshal(line, &e))
		expected[e.ID] = line
	}
	var list []recorded
	for _, r := range readLines[recording](t, filepath.Join(dir, "interactions.jsonl")) {
		c := recorded{recording: r, body: []byte(r.Response.Body)}
		line, ok := expected[r.ID]
		switch {
		case ok:
			c.want = new(expectation)
			require.NoError(t, json.Unmarshal(line, c.want), r.ID)
		case len(expected) > 0 || wireOf(r) == "":
			continue // no provider reads it
		}
		if r.Response.BodyEncoding == "base64" {
			var err error
			c.body, err = base64.StdEncoding.DecodeString(r.Response.Body)
			require.NoError(t, err)
		}
		list = append(list, c)
	}
	return list
}

// requireExcused checks that the listed reason applies to a difference, and then sets
// the expected value to ours.
func requireExcused(t *testing.T, reason string, want *expectation, got providers.Reply) {
	t.Helper()
	switch kind, _, _ := strings.Cut(reason, ":"); kind {
	case "the content is a parsed object":
		require.Equal(t, want.Text, keysOf(got.Text))
		want.Text = got.Text
	case "387 cached of 298 prompt tokens":
		require.Greater(t, *want.Cached, *want.In)
		require.NotEmpty(t, got.Usage.NotUnderstood)
		*want.In = *want.Cached
	case "an empty function_call means no call":
		require.Len(t, want.ToolCalls, 1)
		require.Empty(t, want.ToolCalls[0].Name)
		require.JSONEq(t, "{}", string(want.ToolCalls[0].Arguments))
		want.ToolCalls = nil
	default:
		t.Fatalf("no check for the listed reason %q", reason)
	}
}

// keysOf joins the keys of a JSON object in their order; "" for anything else.
func keysOf(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	var keys strings.Builder
	for i := 0; ; i++ {
		token, err := dec.Token()
		if err != nil {
			return keys.String()
		}
		if name, ok := token.(string); ok && i%2 == 1 {
			keys.WriteString(name)
		}
	}
}

func requireSameReply(t *testing.T, want expectation, got providers.Reply) {
	t.Helper()
	require.Equal(t, want.Text, got.Text)
	require.Equal(t, want.Reasoning, got.Reasoning)
	require.Equal(t, want.Refusal, got.Refusal)
	require.Equal(t, want.Model, got.Model)
	require.Len(t, got.Calls, len(want.ToolCalls))
	ids := map[string]bool{}
	for i, w := range want.ToolCalls {
		g := got.Calls[i]
		require.Equal(t, w.Name, g.Name)
		require.NotEmpty(t, g.ID)
		require.False(t, ids[g.ID], "two calls with the id %s", g.ID)
		ids[g.ID] = true
		if w.ID != nil && *w.ID != "" && !repeated(want, *w.ID) {
			require.Equal(t, *w.ID, g.ID)
		}
		var cut struct {
			Text *string `json:"__unparsed__"`
		}
		if json.Unmarshal(w.Arguments, &cut) == nil && cut.Text != nil {
			require.Equal(t, *cut.Text, g.Args)
			require.False(t, json.Valid([]byte(g.Args)), "%q was expected to be cut", g.Args)
		} else {
			require.JSONEq(t, string(w.Arguments), g.Args)
		}
	}
	require.Equal(t, scalarText(want.Finish), got.FinishRaw)
	if want.IsError {
		return
	}
	require.Equal(t, want.In != nil && want.Out != nil || got.Usage.Reported, got.Usage.Reported)
	u := got.Usage
	if p := u.Processed; p != nil {
		require.Equal(t, value(want.In), float64(p.Input), "processed input")
		require.Equal(t, value(want.Out), float64(p.Output), "processed output")
		want.In, want.Out, want.Cached = want.BilledIn, want.BilledOut, nil
	}
	require.Equal(t, value(want.In), float64(u.Input+u.CacheRead+u.CacheWrite), "input")
	require.Equal(t, value(want.Out), float64(u.Output+u.Reasoning), "output")
	require.Equal(t, value(want.Cached), float64(u.CacheRead), "cache read")
	if want.CacheWrite != nil { // null if the other parser does not read it
		require.Equal(t, value(want.CacheWrite), float64(u.CacheWrite), "cache write")
	}
	require.Equal(t, value(want.ReasoningTok), float64(u.Reasoning), "reasoning")
}

// repeated reports whether several calls were sent with one id.
func repeated(want expectation, id string) bool {
	n := 0
	for _, c := range want.ToolCalls {
		if c.ID != nil && *c.ID == id {
			n++
		}
	}
	return n > 1
}

// scalarText returns a JSON string or number as text, and null as the empty text.
func scalarText(raw json.RawMessage) string {
	text := strings.Trim(string(raw), `"`)
	if text == "null" {
		return ""
	}
	return text
}

// requireNotMalformed requires that a reply or an error could be read.
func requireNotMalformed(t *testing.T, err error) {
	t.Helper()
	if e := new(fault.Error); errors.As(err, &e) {
		require.NotEqual(t, fault.Malformed, e.Kind, "%v", err)
	}
}

// requireCutOff requires that an incomplete reply is recognised as such.
func requireCutOff(t *testing.T, err error) {
	t.Helper()
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, fault.Transport, e.Kind)
}

func requireSameError(t *testing.T, want expectation, err error) {
	t.Helper()
	var e *fault.Error
	require.ErrorAs(t, err, &e)
	require.NotEqual(t, fault.Malformed, e.Kind)
	require.NotEqual(t, fault.Transport, e.Kind)
	if want.Status >= 300 {
		require.Equal(t, want.Status, e.Status)
	}
	require.Equal(t, cmp.Or(scalarText(want.ErrorCode), scalarText(want.ErrorType)), e.Code)
	message := strings.Join(strings.Fields(want.ErrorMessage), " ")
	require.True(t, strings.HasPrefix(message, strings.TrimSuffix(e.Message, "…")), "want %q\ngot  %q", message, e.Message)
	wait := time.Duration(value(want.RetryAfterMs) * float64(time.Millisecond))
	if wait == 0 {
		wait = time.Duration(value(want.RetryAfter) * float64(time.Second))
	}
	require.Equal(t, wait, e.RetryAfter)
}

// replay makes a call with a transport that answers as recorded.
func replay(t *testing.T, wire string, r recording, body []byte, stream bool) (providers.Reply, error) {
	t.Helper()
	return exchange(t, wire, r, bytes.NewReader(body), stream)
}

func exchange(t *testing.T, wire string, r recording, body io.Reader, stream bool) (providers.Reply, error) {
	t.Helper()
	factory := Factories()[wire]
	require.NotNil(t, factory, "there is no wire %s", wire)
	m, err := factory(providers.Options{BaseURL: "http://recorded.test/v1", Region: "us-east-1", HTTP: &http.Client{Transport: played{r, body}}})
	require.NoError(t, err)
	return m.Call(context.Background(), providers.Call{
		Model: cmp.Or(r.Model, "some-model"), Messages: []providers.Message{{Role: providers.RoleUser, Text: "hi"}}, Stream: stream,
	})
}

type played struct {
	recording
	body io.Reader
}

func (r played) RoundTrip(req *http.Request) (*http.Response, error) {
	header := http.Header{}
	for name, values := range r.Response.Headers {
		header[http.CanonicalHeaderKey(name)] = values
	}
	return &http.Response{StatusCode: cmp.Or(r.Response.Status, 200), Header: header, Body: io.NopCloser(r.body), Request: req}, nil
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// readLines reads a file of JSON lines. It returns nothing if the file does not exist.
func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var list []T
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadBytes('\n')
		if len(strings.TrimSpace(string(line))) > 0 {
			var v T
			require.NoError(t, json.Unmarshal(line, &v))
			list = append(list, v)
		}
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return list
		}
	}
}
