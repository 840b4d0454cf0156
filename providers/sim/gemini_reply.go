package sim

import (
	"net/http"
	"slices"
)

// geminiFinish is why it ended, and what is said about it.
func (c completion) geminiFinish() (reason string, message *string) {
	switch {
	case c.cut:
		return "MAX_TOKENS", nil
	case c.refusal != "":
		return "SAFETY", &c.refusal
	}
	return "STOP", nil
}

// geminiReply is one chunk of a stream, or the whole. The last one has a reason.
func (c completion) geminiReply(parts []obj, last bool) obj {
	candidate := obj{"index": 0}
	if len(parts) > 0 {
		candidate["content"] = obj{"role": "model", "parts": parts}
	}
	// Classes of no tokens are left out; the prompt includes what came from a cache.
	usage := obj{"promptTokenCount": c.in, "totalTokenCount": c.in + c.made(), "promptTokensDetails": []obj{{"modality": "TEXT", "tokenCount": c.in}}}
	for name, n := range map[string]int{"cachedContentTokenCount": c.read, "thoughtsTokenCount": c.thought, "candidatesTokenCount": c.out} {
		if n > 0 {
			usage[name] = n
		}
	}
	if last {
		reason, message := c.geminiFinish()
		candidate["finishReason"] = reason
		if message != nil {
			candidate["finishMessage"] = *message
		}
		if reason == "SAFETY" {
			candidate["safetyRatings"] = []obj{{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true}}
		}
	}
	return obj{"candidates": []obj{candidate}, "usageMetadata": usage, "modelVersion": c.served, "responseId": c.draws.id("sim")}
}

// geminiCalls are the parts of the calls. The first is signed if there were
// thoughts.
func (c completion) geminiCalls() []obj {
	var parts []obj
	for i, t := range c.identify("sim") {
		part := obj{"functionCall": obj{"id": t.id, "name": t.name, "args": object(t.args)}}
		if i == 0 && c.reasoning != "" {
			part["thoughtSignature"] = signature(c.reasoning)
		}
		parts = append(parts, part)
	}
	return parts
}

func encodeGemini(_ modelRequest, c completion) any {
	var parts []obj
	if c.reasoning != "" {
		parts = append(parts, obj{"text": c.reasoning, "thought": true})
	}
	if !c.silent() {
		parts = append(parts, obj{"text": c.text})
	}
	return c.geminiReply(append(parts, c.geminiCalls()...), true)
}

// streamGemini makes chunks of one part each; the last one has none of text. A
// stream is one of events, or a list.
func streamGemini(q modelRequest, c completion) [][]byte {
	var chunks []obj
	for _, p := range c.draws.pieces(c.reasoning) {
		chunks = append(chunks, c.geminiReply([]obj{{"text": p, "thought": true}}, false))
	}
	for _, p := range c.draws.pieces(c.text) {
		chunks = append(chunks, c.geminiReply([]obj{{"text": p}}, false))
	}
	for _, part := range c.geminiCalls() {
		chunks = append(chunks, c.geminiReply([]obj{part}, false))
	}
	var end []obj
	if c.refusal == "" {
		end = []obj{{"text": ""}}
	}
	chunks = append(chunks, c.geminiReply(end, true))
	var frames [][]byte
	for i, chunk := range chunks {
		text := encodeJSON(chunk)
		switch {
		case !q.extras:
			text = slices.Concat([]byte("data: "), text, []byte("\r\n\r\n"))
		case i == 0:
			text = append([]byte("["), text...)
		default:
			text = append([]byte(",\r\n"), text...)
		}
		frames = append(frames, text)
	}
	if q.extras {
		frames = append(frames, []byte("]"))
	}
	return frames
}

// failGemini is google.rpc.Status.
func failGemini(f *failure, _ string) any {
	status := map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED", http.StatusNotFound: "NOT_FOUND",
		http.StatusMethodNotAllowed: "INVALID_ARGUMENT", http.StatusRequestEntityTooLarge: "INVALID_ARGUMENT", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED",
		http.StatusInternalServerError: "INTERNAL", http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
	}[f.status]
	if status == "" {
		status = "UNKNOWN"
	}
	message := f.message
	if f.code == "model_not_found" {
		message = "models/" + f.model + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
	}
	return obj{"error": obj{"code": f.status, "message": message, "status": status}}
}
