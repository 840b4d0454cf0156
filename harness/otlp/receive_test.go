package otlp

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// spanText is a span as JSON; rest are further members.
func spanText(id int, name, rest string) string {
	return fmt.Sprintf(`{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b1%02x","name":%q,"startTimeUnixNano":"1795356212000000000","endTimeUnixNano":"1795356213000000000"%s}`, id, name, rest)
}

func traceText(spans ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[` + strings.Join(spans, ",") + `]}]}]}`
}

func attributeText(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, fmt.Sprintf(`{"key":%q,"value":{"stringValue":%q}}`, pairs[i], pairs[i+1]))
	}
	return `,"attributes":[` + strings.Join(list, ",") + `]`
}

// sendTo sends a body as an exporter does.
func sendTo(r *Receiver, path, kind string, body []byte) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
	req.Header.Set("Content-Type", kind)
	r.ServeHTTP(w, req)
	return w
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write(text)
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.Bytes()
}

// What exporters send is taken in each encoding, and a model call that two spans tell of is one.
func TestReceiver(t *testing.T) {
	var r Receiver
	require.Nil(t, r.Seen())
	chat := spanText(1, "chat", attributeText("gen_ai.operation.name", "chat", "gen_ai.request.model", "m", "server.address", "API.example.com")+`,"kind":3`)
	inner := spanText(2, "chat", attributeText("gen_ai.operation.name", "chat", "server.address", "127.0.0.1")+`,"parentSpanId":"eee19b7ec3c1b101"`)
	w := sendTo(&r, "/v1/traces", "application/json", []byte(traceText(chat, inner)))
	require.Equal(t, http.StatusOK, w.Code)
	require.Equal(t, "{}", w.Body.String())

	agent := spanText(3, "invoke_agent", attributeText("gen_ai.operation.name", "invoke_agent", "gen_ai.agent.name", "clerk"))
	web := spanText(4, "GET", attributeText("url.full", "https://docs.example.org/x")+`,"kind":"SPAN_KIND_CLIENT","parentSpanId":"aaaaaaaaaaaaaaaa"`)
	w = sendTo(&r, "/v1/traces", "application/json", zipped(t, []byte(traceText(agent, web))))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())

	data, err := proto.Marshal(&trace.TracesData{ResourceSpans: []*trace.ResourceSpans{{ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
		TraceId: bytes.Repeat([]byte{1}, 16), SpanId: bytes.Repeat([]byte{1}, 8), Name: "execute_tool", StartTimeUnixNano: 5, EndTimeUnixNano: 6,
		Attributes: []*common.KeyValue{
			{Key: "gen_ai.operation.name", Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: "execute_tool"}}},
			{Key: "gen_ai.tool.name", Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: "search"}}},
		},
	}}}}}}})
	require.NoError(t, err)
	w = sendTo(&r, "/v1/traces", "application/x-protobuf", data)
	require.Equal(t, http.StatusOK, w.Code)
	require.Empty(t, w.Body.String())
	for _, path := range []string{"/v1/metrics", "/v1/logs"} {
		require.Equal(t, http.StatusOK, sendTo(&r, path, "application/x-protobuf", nil).Code)
	}
	require.Equal(t, &Seen{Spans: 5, Agents: []string{"clerk", "shop"}, ModelCalls: 1, Tools: []string{"search"}, Hosts: []string{"api.example.com", "docs.example.org"}}, r.Seen())
}

// A bad body is answered with a status, and what came before and beside it is kept.
func TestReceiverRefuses(t *testing.T) {
	sound := spanText(1, "GET", attributeText("url.full", "https://a.example/x")+`,"kind":3`)
	for name, c := range map[string]struct {
		body   []byte
		status int
		says   string
	}{
		"no JSON":         {[]byte(`{"resourceSpans":[`), 400, "the file was cut"},
		"no protobuf":     {[]byte("\xff\xff\xff"), 400, "neither JSON nor the protobuf"},
		"other JSON":      {[]byte(`{"a":1}`), 400, "neither OTLP"},
		"broken gzip":     {[]byte("\x1f\x8b\x00"), 400, "EOF"},
		"negative time":   {[]byte(traceText(strings.Replace(spanText(2, "x", ""), `"1795356212000000000"`, `"-1"`, 1), sound)), 400, "-1"},
		"end first":       {[]byte(traceText(strings.Replace(spanText(2, "x", ""), "1795356213", "1", 1), sound)), 400, "before it starts"},
		"a zip bomb":      {zipped(t, bytes.Repeat([]byte{10}, 1<<20)), 413, "more than 1048576 bytes"},
		"too many spans":  {[]byte(traceText(strings.Repeat(sound+",", 5) + sound)), 413, "more than 3 spans"},
		"its own parents": {[]byte(traceText(spanText(2, "x", `,"parentSpanId":"eee19b7ec3c1b103"`), spanText(3, "x", `,"parentSpanId":"eee19b7ec3c1b102"`))), 200, "is its own ancestor"},
	} {
		t.Run(name, func(t *testing.T) {
			var r Receiver
			require.Equal(t, 200, sendTo(&r, "/v1/traces", "application/json", []byte(traceText(sound))).Code)
			r.c.maxBytes, r.c.maxSpans = 1<<20, 3
			w := sendTo(&r, "/v1/traces", "application/json", c.body)
			require.Equal(t, c.status, w.Code, w.Body.String())
			seen := r.Seen()
			require.Equal(t, 1, seen.Refused)
			require.Contains(t, seen.Problem, c.says)
			require.Equal(t, []string{"a.example"}, seen.Hosts)
		})
	}
	var r Receiver
	w := httptest.NewRecorder()
	req := httptest.NewRequest(http.MethodPost, "/v1/traces", strings.NewReader("{    }"))
	req.Body = http.MaxBytesReader(w, req.Body, 3)
	r.ServeHTTP(w, req)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	w = httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/v1/traces", nil))
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
}
