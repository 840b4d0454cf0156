package sim

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// saidTo returns the text of the reply to an unchanged request.
func saidTo(t testing.TB, g wireClient, path, body string) heard {
	t.Helper()
	w := post(t, Handler(Config{}), path, body, g.header...)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return g.whole(t, w.Body.Bytes())
}

// TestOtherFormsOfRequests sends what each API accepts in addition to the requests of
// the minimal clients of these tests.
func TestOtherFormsOfRequests(t *testing.T) {
	const chatCall = `{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	const settled = "max_tokens=9 temperature=0.5 seed=7 "
	g := map[string]wireClient{}
	for _, one := range wireClients() {
		g[one.name] = one
	}
	for _, c := range []struct{ name, wire, path, body, want string }{
		{"settings", "openai", "/v1/chat/completions", `{"model":"sim-probe","messages":[{"role":"user","content":"settings"}],"max_tokens":9,"max_completion_tokens":99,"temperature":0.5,"seed":7,"stop":"x"}`, settled + `stop=["x"]`},
		{"content in parts", "openai", "/v1/chat/completions", `{"model":"sim-probe","messages":[{"role":"developer","content":[{"type":"text","text":"s"}]},{"role":"user","content":[{"type":"text","text":"system\n"},{"type":"text","text":"say b"}]}]}`, "s\nb"},
		{"result in parts", "openai", "/v1/chat/completions", `{"model":"sim-probe","messages":[{"role":"user","content":"then\nresults"},` + chatCall + `,{"role":"tool","tool_call_id":"c1","content":[{"type":"text","text":"r"}]}]}`, "f -> r"},
		{"refusal of before", "openai", "/v1/chat/completions", `{"model":"sim-probe","messages":[{"role":"user","content":"then\nsay b"},{"role":"assistant","content":null,"refusal":"no"}]}`, "b"},

		{"text as input", "responses", "/v1/responses", `{"model":"sim-probe","input":"say a"}`, "a"},
		{"settings", "responses", "/v1/responses", `{"model":"sim-probe","input":"settings","max_output_tokens":16,"temperature":0.5,"text":{"format":{"type":"text"}}}`, "max_tokens=16 temperature=0.5 seed=unset stop=unset choice=auto"},
		{"a developer's message", "responses", "/v1/responses", `{"model":"sim-probe","instructions":"a","input":[{"role":"developer","content":"b"},{"type":"message","role":"user","content":"system"}]}`, "ab"},
		{
			"items of one turn", "responses", "/v1/responses",
			`{"model":"sim-probe","input":[{"role":"user","content":"then\nresults"},{"type":"reasoning","id":"rs_1","summary":[]},{"role":"assistant","content":[{"type":"output_text","text":"a"}]},` +
				`{"type":"function_call","call_id":"1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"2","name":"g","arguments":"{}"},` +
				`{"type":"function_call_output","call_id":"2","output":[{"type":"input_text","text":"two"}]},{"type":"function_call_output","call_id":"1","output":"one"}]}`,
			"g -> two\nf -> one",
		},

		{"settings", "anthropic", "/v1/messages", `{"model":"sim-probe","max_tokens":9,"temperature":0.5,"stop_sequences":["x"],"messages":[{"role":"user","content":"settings"}]}`, "max_tokens=9 temperature=0.5 seed=unset stop=[\"x\"]"},
		{"system in blocks", "anthropic", "/v1/messages", `{"model":"sim-probe","max_tokens":99,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"system"}]}`, "ab"},
		{
			"result with an image and a text beside it", "anthropic", "/v1/messages",
			`{"model":"sim-probe","max_tokens":99,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]},` +
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"url","url":"https://example.com/a"}}]},{"type":"text","text":"results\ndescribe"}]}]}`,
			"f -> r\nimage 1: https://example.com/a",
		},

		{"settings", "gemini", "/v1/models/sim-probe:generateContent", `{"contents":[{"parts":[{"text":"settings"}]}],"generationConfig":{"maxOutputTokens":9,"temperature":0.5,"seed":7,"stopSequences":["x"],"responseMimeType":"application/json"}}`, settled + `stop=["x"] choice=auto tools=0 format=json_object`},
		{
			"responses of any members", "gemini", "/v1beta/models/sim-probe:generateContent",
			`{"contents":[{"role":"user","parts":[{"text":"then\nresults"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"x"},{"functionCall":{"id":"9","name":"f","args":{}}}]},` +
				`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"a":1,"b":2}}},{"functionResponse":{"id":"9","name":"f","response":{"output":{"c":3}}}}]}]}`,
			"f -> {\"a\":1,\"b\":2}\nf -> {\"c\":3}",
		},

		{"settings", "bedrock", "/model/sim-probe/converse", `{"messages":[{"role":"user","content":[{"text":"settings"},{"cachePoint":{"type":"default"}}]}],"inferenceConfig":{"maxTokens":9,"temperature":0.5,"stopSequences":["x"]}}`, "max_tokens=9 temperature=0.5 seed=unset stop=[\"x\"]"},
		{
			"result of JSON", "bedrock", "/model/sim-probe/converse",
			`{"toolConfig":{"tools":[{"toolSpec":{"name":"f","inputSchema":{"json":{"type":"object"}}}}]},"messages":[{"role":"user","content":[{"text":"then\nresults"}]},` +
				`{"role":"assistant","content":[{"toolUse":{"toolUseId":"1","name":"f","input":{}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"1","content":[{"json":{"a":1}}]}}]}]}`,
			`f -> {"a":1}`,
		},

		{"settings", "ollama", "/api/chat", `{"model":"sim-probe","stream":false,"format":"json","messages":[{"role":"user","content":"settings"}],"options":{"num_predict":9,"temperature":0.5,"seed":7,"stop":["x"]}}`, settled + `stop=["x"] choice=auto tools=0 format=json_object`},
		{"no limit", "ollama", "/api/chat", `{"model":"sim-probe","stream":false,"format":"","messages":[{"role":"user","content":"settings"}],"options":{"num_predict":-1}}`, "max_tokens=unset"},
		{"result of no call", "ollama", "/api/chat", `{"model":"sim-probe","stream":false,"messages":[{"role":"user","content":"results"},{"role":"tool","content":"x","tool_name":"f"}]}`, "f -> x"},

		{"settings", "tgi", "/models/sim-probe/generate", `{"inputs":"settings","parameters":{"details":true,"max_new_tokens":9,"temperature":0.5,"seed":7,"stop":["x"]}}`, settled + `stop=["x"]`},
		{"model in the body", "tgi", "/generate", `{"model":"sim-strong","inputs":"say a"}`, unknown},
		{"no model", "tgi", "/generate", `{"inputs":"say a"}`, "a"},

		{"settings", "cohere", "/v2/chat", `{"model":"sim-probe","max_tokens":9,"temperature":0.5,"seed":7,"stop_sequences":["x"],"messages":[{"role":"user","content":"settings"}],"response_format":{"type":"json_object"}}`, settled + `stop=["x"] choice=auto tools=0 format=json_object`},
		{
			"result in documents", "cohere", "/v2/chat",
			`{"model":"sim-probe","messages":[{"role":"user","content":[{"type":"text","text":"then\nresults"}]},{"role":"assistant","tool_plan":"p","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"1","content":[{"type":"document","document":{"data":"d"}},{"type":"document","document":{"data":{"e":1}}}]}]}`,
			`f -> d{"e":1}`,
		},
	} {
		t.Run(c.wire+"/"+c.name, func(t *testing.T) {
			got := saidTo(t, g[c.wire], c.path, c.body).text
			if strings.HasPrefix(c.want, "max_tokens=9 ") {
				c.want = c.want[:min(len(c.want), 36)] // the limit is nine tokens
			}
			require.True(t, strings.HasPrefix(got, c.want), got)
		})
	}
}

// TestFrameBytes: the documentation of the format describes the parts of this message
// only; the bytes are computed by hand.
func TestFrameBytes(t *testing.T) {
	got := awsFrame([]byte("{}"), [2]string{"a", "bc"})
	require.Equal(t, "00000019"+"00000007", hex.EncodeToString(got[:8]), "25 bytes, 7 of them headers")
	require.Equal(t, "0161"+"07"+"0002"+"6263"+"7b7d", hex.EncodeToString(got[12:21]))
	require.Len(t, got, 25)
	empty := awsFrame(nil)
	require.Equal(t, "00000010"+"00000000"+"05c248eb"+"7d98c8ff", hex.EncodeToString(empty), "as in the AWS SDKs' own test of an empty message")
}

func TestIDsOfCallsDiffer(t *testing.T) {
	d := drawsFor(1, Probe, "x", nil)
	require.Equal(t, d.id("call_sim"), d.nth("call_sim", 0))
	seen := map[string]bool{}
	for i := range 50 {
		id := d.nth("call_sim", i)
		require.Regexp(t, `^call_sim[0-9a-f]{24}$`, id)
		require.False(t, seen[id])
		seen[id] = true
	}
}

// FuzzProbe checks that for any input, the reply of each API can be read as a whole and
// as a stream, and that both are equal.
func FuzzProbe(f *testing.F) {
	for _, said := range []string{"say a", strange, "think a\nsay b\ncall get {\"a\":1}\ncall get [", "refuse a\nsay b", "fill 30", "cached 9 9", "cached 99999999999999999999 1", "say \"\\ud800\"", "then\n", "call", "settings\nsystem\ndescribe\nresults"} {
		for i := range wireClients() {
			f.Add(uint8(i), said, uint8(0))
			f.Add(uint8(i), said, uint8(17))
		}
	}
	h := Handler(Config{Seed: 9})
	all := wireClients()
	f.Fuzz(func(t *testing.T, which uint8, said string, limit uint8) {
		g := all[int(which)%len(all)]
		if strings.TrimSpace(said) == "" || g.name == "responses" && limit > 0 && limit < 16 || strings.Contains(said, "![](") {
			return
		}
		a := asked{system: "s", turns: []utterance{user(said)}, limit: int(limit)}
		if !g.noTools {
			a.tools = []string{"get"}
		}
		g.header = append(g.header, "X-Client-Request-Id", "same")
		whole := g.do(t, h, a)
		a.stream = true
		streamed := g.do(t, h, a)
		require.Len(t, streamed.calls, len(whole.calls))
		whole.calls, streamed.calls = nil, nil // some APIs turn cut arguments into an empty object
		require.Equal(t, fmt.Sprint(whole), fmt.Sprint(streamed))
	})
}
