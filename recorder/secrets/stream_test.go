package secrets

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// awsMessage returns a payload as an AWS message with one header and no checksums.
func awsMessage(payload string) string {
	header := "\x0b:event-type\x07\x00\x05chunk"
	b := binary.BigEndian.AppendUint32(nil, uint32(16+len(header)+len(payload)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(header)))
	return string(b) + "crc1" + header + payload + "crc2"
}

// A credential that is streamed in pieces is found in the format of every provider.
func TestStreamedSecretIsFound(t *testing.T) {
	bytesOf := func(event string) string {
		return fmt.Sprintf(`{"bytes":%q,"p":"abc"}`, base64.StdEncoding.EncodeToString([]byte(event)))
	}
	const anthropic = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`
	wires := map[string]struct {
		form  string // of one event, with the piece as JSON
		frame func(event string) string
	}{
		"OpenAI":              {`{"id":"c","choices":[{"index":0,"delta":{"content":%s}}]}`, sse},
		"OpenAI arguments":    {`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]}}]}`, sse},
		"OpenAI, lines apart": {"{\"choices\":[{\"index\":0,\ndata: \"delta\":{\"content\":%s}}]}", sse},
		"Responses":           {`{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":%s}`, sse},
		"Anthropic":           {anthropic, func(e string) string { return "event: content_block_delta\n" + sse(e) }},
		"Anthropic input":     {`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":%s}}`, sse},
		"Gemini":              {`{"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}]}`, sse},
		"Gemini, an array":    {`{"candidates":[{"content":{"parts":[{"text":%s}]}}]}`, func(e string) string { return "," + e + "\r\n" }},
		"Ollama":              {`{"model":"m","message":{"role":"assistant","content":%s},"done":false}`, func(e string) string { return e + "\n" }},
		"TGI":                 {`{"index":1,"token":{"id":5,"text":%s,"logprob":-0.1},"generated_text":null}`, func(e string) string { return "data:" + e + "\n\n" }},
		"Cohere":              {`{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":%s}}}}`, sse},
		"Converse":            {`{"contentBlockIndex":0,"delta":{"text":%s},"p":"abcdefgh"}`, awsMessage},
		"Bedrock bytes":       {anthropic, func(e string) string { return awsMessage(bytesOf(e)) }},
		"no JSON":             {`%s`, func(e string) string { return "data: " + strings.Trim(e, `"`) + "\n\n" }},
	}
	for name, w := range wires {
		t.Run(name, func(t *testing.T) {
			const secret = "canary-0123456789"
			for cut := 1; cut < len(secret); cut++ {
				body := ""
				for _, piece := range []string{"so: ", secret[:cut], secret[cut:], " it is"} {
					body += w.frame(fmt.Sprintf(w.form, quote(piece)))
				}
				field, kind := New(secret).FindInMessage(nil, body)
				require.Equal(t, ".body (in pieces)", field, "cut at %d", cut)
				require.Equal(t, configured, kind)
				field, _ = New("another-0123456789").FindInMessage(nil, body)
				require.Empty(t, field)
			}
		})
	}
}

func sse(event string) string { return "data: " + event + "\n\n" }

func TestPartsOfOneReplyAreJoined(t *testing.T) {
	for name, body := range map[string]string{
		"Anthropic": `{"content":[{"type":"text","text":"a can"},{"type":"text","text":"ary-0123456789 b"}]}`,
		"Gemini":    `{"candidates":[{"content":{"parts":[{"text":"can"},{"text":"ary-"},{"text":"0123456789"}]}}]}`,
		"two choices at once": sse(`{"choices":[{"index":0,"delta":{"content":"can"}}]}`) + sse(`{"choices":[{"index":1,"delta":{"content":"xyz"}}]}`) +
			sse(`{"choices":[{"index":0,"delta":{"content":"ary-0123456789"}}]}`) + sse(`{"choices":[{"index":1,"delta":{"content":"xyz"}}]}`),
	} {
		t.Run(name, func(t *testing.T) {
			field, kind := New("canary-0123456789").FindInMessage(nil, body)
			require.Equal(t, ".body (in pieces)", field)
			require.Equal(t, configured, kind)
		})
	}
}

func TestStreamedJoinsOnlyValuesAtOnePlace(t *testing.T) {
	body := "event: x\ndata: {\"a\":\"1\",\"b\":{\"a\":\"x\"},\"n\":5}\n\ndata:{\"a\":\"2\",\"b\":{\"a\":\"y\"}}\r\n\r\n{\"a\":\"3\"}\ndata: [DONE]\ndata: {\"a\":\"4\", broken"
	require.Equal(t, []string{"123", "xy", `{"a":"4", broken`}, streamedTexts(body))
	require.Empty(t, streamedTexts(""))
	require.Empty(t, streamedTexts(`{"a":"1","b":["2"]}`), "a single text needs no joining")
	for _, cut := range []string{"\x00", awsMessage("{}")[:14], awsMessage("{}")[:30], "\x00\x00\x00\x08\x00\x00\x00\x00aaaaaaaa", "\x00\x00\x00\x10\xff\xff\xff\xffaaaaaaaa"} {
		require.Empty(t, streamedTexts(cut))
	}
}

// net/http joins the lines of a folded header with a space.
func TestHeaderContinuation(t *testing.T) {
	for _, values := range [][]string{{"can ary-012 3456789"}, {"canary-", "0123456789"}, {"x canary-0123456789"}} {
		field, kind := New("canary-0123456789").FindInMessage(http.Header{"X-Request-Id": values}, "")
		require.Equal(t, ".headers.X-Request-Id", field)
		require.Equal(t, configured, kind)
	}
	field, _ := New("canary-0123456789").FindInMessage(http.Header{"X-Ratelimit-Canary-0123456789": {"1"}}, "")
	require.Equal(t, ".headers", field)
}

func TestPackedBodies(t *testing.T) {
	const text = `{"a":"canary-0123456789"}`
	pack := func(w io.WriteCloser, b *bytes.Buffer) string {
		_, err := io.WriteString(w, text)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return b.String()
	}
	var a, b bytes.Buffer
	zipped, deflated := pack(gzip.NewWriter(&a), &a), pack(zlib.NewWriter(&b), &b)
	for _, c := range []struct{ coding, body, kind string }{
		{"gzip", zipped, configured},
		{"GZIP", zipped[:len(zipped)-6], configured}, // truncated
		{"deflate", deflated, configured},
		{"identity", text, configured},
		{"gzip", text, configured}, // not compressed
		{"br", "anything", unreadable},
		{"br", "", ""},
		{"gzip", "", ""},
	} {
		_, kind := New("canary-0123456789").FindInMessage(http.Header{"Content-Encoding": {c.coding}}, c.body)
		require.Equal(t, c.kind, kind, "%s %q", c.coding, c.body)
	}
}

// FuzzStreamed reads arbitrary bytes as a stream.
func FuzzStreamed(f *testing.F) {
	f.Add("data: {\"a\":\"1\"}\n\n{\"a\":\"2\"}")
	f.Add(awsMessage(`{"bytes":"e30="}`))
	f.Fuzz(func(t *testing.T, body string) {
		size := 0
		for _, text := range streamedTexts(body) {
			size += len(text)
		}
		require.LessOrEqual(t, size, 8*len(body)) // joined in two ways, in base64, with U+FFFD for invalid bytes
		quoted, err := json.Marshal(body)
		require.NoError(t, err)
		require.Len(t, streamedTexts(`{"a":`+string(quoted)+"}\n"+`{"a":""}`), 1)
	})
}
