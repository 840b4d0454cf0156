package sim

import (
	"encoding/json"
	"net/http"
)

// anthropicCount counts the tokens of a request to the Messages wire: as many as the
// usage of its reply tells.
var anthropicCount = wire{
	name:      anthropic.name,
	requestID: anthropic.requestID,
	instant:   true,
	decode:    decodeAnthropicCount,
	encode:    func(_ modelRequest, c completion) any { return obj{"input_tokens": c.in} },
	fail:      failAnthropic,
}

// decodeAnthropicCount reads a request without what only an answer needs.
func decodeAnthropicCount(req *http.Request, body []byte) (modelRequest, *failure) {
	if name := foreign(body, "max_tokens", "stream", "temperature", "stop_sequences", "metadata", "top_p", "top_k", "service_tier", "thread"); name != "" {
		return modelRequest{}, invalid(name, "%s: Extra inputs are not permitted", name)
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) == nil && members != nil {
		members["max_tokens"] = json.RawMessage("1")
		body = encodeJSON(members)
	}
	return decodeAnthropic(req, body)
}
