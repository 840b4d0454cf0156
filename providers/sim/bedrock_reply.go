package sim

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
)

// bedrockRefused ends a refusal by a guardrail, whose text is then the message.
const bedrockRefused = "guardrail_intervened"

// bedrockUsage counts the cache besides the input.
func (c completion) bedrockUsage() obj {
	u := obj{"inputTokens": c.fresh(), "outputTokens": c.made(), "totalTokens": c.in + c.made()}
	if c.read+c.write > 0 {
		u["cacheReadInputTokens"], u["cacheWriteInputTokens"] = c.read, c.write
	}
	return u
}

// bedrockLatency has the form of the service's value; it does not depend on a clock.
func (c completion) bedrockLatency() obj { return obj{"latencyMs": 200 + 10*c.made()} }

func (c completion) bedrockContent() []obj {
	content := []obj{}
	if c.reasoning != "" {
		content = append(content, obj{"reasoningContent": obj{"reasoningText": obj{"text": c.reasoning, "signature": signature(c.reasoning)}}})
	}
	if text := c.spoken(); text != "" || !c.silent() {
		content = append(content, obj{"text": text})
	}
	for _, t := range c.identify("tooluse_sim") {
		content = append(content, obj{"toolUse": obj{"toolUseId": t.ID, "name": t.Name, "input": object(t.Args)}})
	}
	return content
}

func encodeBedrock(_ modelRequest, c completion) any {
	return obj{
		"output":     obj{"message": obj{"role": "assistant", "content": c.bedrockContent()}},
		"stopReason": c.stopReason(bedrockRefused), "usage": c.bedrockUsage(), "metrics": c.bedrockLatency(),
	}
}

// streamBedrock makes binary events. Only the use of a tool has an event that begins its block.
func streamBedrock(_ modelRequest, c completion) [][]byte {
	var frames [][]byte
	send := func(kind string, v obj) {
		v["p"] = "abcdefghijklmnopqrstuvwxyz"[:1+len(frames)%26] // padding, as the service has it
		frames = append(frames, awsEvent(kind, v))
	}
	n := 0
	delta := func(v obj) { send("contentBlockDelta", obj{"contentBlockIndex": n, "delta": v}) }
	stop := func() {
		send("contentBlockStop", obj{"contentBlockIndex": n})
		n++
	}
	send("messageStart", obj{"role": "assistant"})
	if c.reasoning != "" {
		for _, p := range c.draws.pieces(c.reasoning) {
			delta(obj{"reasoningContent": obj{"text": p}})
		}
		delta(obj{"reasoningContent": obj{"signature": signature(c.reasoning)}})
		stop()
	}
	if text := c.spoken(); text != "" || !c.silent() {
		for _, p := range append([]string{""}, c.draws.pieces(text)...) {
			delta(obj{"text": p})
		}
		stop()
	}
	for _, t := range c.identify("tooluse_sim") {
		send("contentBlockStart", obj{"contentBlockIndex": n, "start": obj{"toolUse": obj{"toolUseId": t.ID, "name": t.Name}}})
		for _, p := range c.draws.pieces(t.Args) {
			delta(obj{"toolUse": obj{"input": p}})
		}
		stop()
	}
	send("messageStop", obj{"stopReason": c.stopReason(bedrockRefused)})
	send("metadata", obj{"usage": c.bedrockUsage(), "metrics": c.bedrockLatency()})
	return frames
}

func failBedrock(f *failure, _ string) any {
	if f.code == "model_not_found" {
		return obj{"message": "The provided model identifier is invalid."}
	}
	return obj{"message": f.message}
}

// markBedrock names the exception. An unknown model is one of validation.
func markBedrock(h http.Header, f *failure) {
	if f.code == "model_not_found" {
		f.status = http.StatusBadRequest
	}
	name := map[int]string{
		http.StatusForbidden: "AccessDeniedException", http.StatusNotFound: "UnknownOperationException", http.StatusTooManyRequests: "ThrottlingException",
		http.StatusInternalServerError: "InternalServerException", http.StatusServiceUnavailable: "ServiceUnavailableException", http.StatusRequestTimeout: "ModelTimeoutException",
	}[f.status]
	name = cmp.Or(name, "ValidationException")
	h.Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
}

// binaryStream is the media type of AWS's event streams.
const binaryStream = "application/vnd.amazon.eventstream"

// awsFrame makes one message of an event stream, with headers of texts.
func awsFrame(payload []byte, headers ...[2]string) []byte {
	m := eventstream.Message{Payload: payload}
	for _, h := range headers {
		m.Headers.Set(h[0], eventstream.StringValue(h[1]))
	}
	var out bytes.Buffer
	_ = eventstream.NewEncoder().Encode(&out, m) // the payloads and headers are short enough
	return out.Bytes()
}

func awsEvent(kind string, v any) []byte {
	return awsFrame(encodeJSON(v), [2]string{":event-type", kind}, [2]string{":content-type", "application/json"}, [2]string{":message-type", "event"})
}

// invoke is InvokeModel of Amazon Bedrock, in the Messages format of Anthropic's models:
// the path names the model and whether to stream.
var invoke = bedrock.with(decodeInvoke, encodeAnthropic, streamInvoke)

func decodeInvoke(req *http.Request, body []byte) modelRequest {
	members := parse[map[string]json.RawMessage](body)
	refuseIf(!given(members["anthropic_version"]), "", "anthropic_version: Field required: the simulation serves InvokeModel in the Messages format of Anthropic's models alone")
	refuseForeign(body, 400, "", extraInputs, "model", "stream", "thread")
	members["model"] = encodeJSON(req.PathValue("model"))
	q := readMessages(encodeJSON(members))
	q.stream = strings.HasSuffix(req.URL.Path, "-stream")
	return q
}

// streamInvoke puts the events of Messages into binary ones.
func streamInvoke(q modelRequest, c completion) [][]byte {
	var frames [][]byte
	for _, f := range streamAnthropic(q, c) {
		_, data, _ := bytes.Cut(f, []byte("data: "))
		frames = append(frames, awsEvent("chunk", struct {
			Bytes []byte `json:"bytes"`
		}{bytes.TrimSpace(data)}))
	}
	return frames
}
