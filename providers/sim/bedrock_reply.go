package sim

import (
	"net/http"
)

// bedrockRefused ends a refusal, which is the doing of a guardrail, whose text then stands
// in the message.
const bedrockRefused = "guardrail_intervened"

// bedrockUsage counts the cache besides the input.
func (c completion) bedrockUsage() obj {
	u := obj{"inputTokens": c.fresh(), "outputTokens": c.made(), "totalTokens": c.in + c.made()}
	if c.read+c.write > 0 {
		u["cacheReadInputTokens"], u["cacheWriteInputTokens"] = c.read, c.write
	}
	return u
}

// bedrockLatency is as the service would tell it; it depends on no clock.
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
		content = append(content, obj{"toolUse": obj{"toolUseId": t.id, "name": t.name, "input": object(t.args)}})
	}
	return content
}

func encodeBedrock(_ modelRequest, c completion) any {
	return obj{
		"output":     obj{"message": obj{"role": "assistant", "content": c.bedrockContent()}},
		"stopReason": c.stopReason(bedrockRefused), "usage": c.bedrockUsage(), "metrics": c.bedrockLatency(),
	}
}

// streamBedrock makes binary events. Only the use of a tool has an event that
// begins its block.
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
		send("contentBlockStart", obj{"contentBlockIndex": n, "start": obj{"toolUse": obj{"toolUseId": t.id, "name": t.name}}})
		for _, p := range c.draws.pieces(t.args) {
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
	if name == "" {
		name = "ValidationException"
	}
	h.Set("X-Amzn-Errortype", name+":http://internal.amazon.com/coral/com.amazon.bedrock/")
}
