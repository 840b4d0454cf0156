package sim

import (
	"encoding/json"
	"net/http"
)

// completions is OpenAI's first wire, of one text. Servers of open models have it, too.
// The prompt counts as the user's message; there are no tools.
var completions = wire{
	name:      openAI.name,
	requestID: "X-Request-Id",
	decode:    decodeCompletions,
	encode:    encodeCompletions,
	stream:    streamCompletions,
	media:     media(eventStream + "; charset=utf-8"),
	fail:      failOpenAI,
}

func decodeCompletions(_ *http.Request, body []byte) (modelRequest, *failure) {
	var prompt struct {
		Prompt json.RawMessage `json:"prompt"`
	}
	var r openAIRequest
	if err := json.Unmarshal(body, &prompt); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return modelRequest{}, decodeFailure(err)
	}
	var text string
	var texts []string
	if json.Unmarshal(prompt.Prompt, &texts) == nil && len(texts) == 1 {
		text = texts[0]
	} else if json.Unmarshal(prompt.Prompt, &text) != nil || text == "" {
		return modelRequest{}, invalid("prompt", "Invalid 'prompt': the simulation completes one text that is not empty.")
	}
	if name := foreign(body, "messages", "tools", "response_format", "max_completion_tokens"); name != "" {
		return modelRequest{}, &failure{status: http.StatusBadRequest, message: "Unrecognized request argument supplied: " + name}
	}
	r.Messages = []openAIRequestTurn{{}} // there is one
	if f := r.check(body); f != nil {
		return modelRequest{}, f
	}
	q := modelRequest{model: *r.Model, stop: r.Stop, temperature: r.Temperature, seed: r.Seed, stream: r.Stream, messages: []utterance{{text: text}}}
	q.extras = r.StreamOptions != nil && r.StreamOptions.IncludeUsage
	if r.MaxTokens != nil {
		if *r.MaxTokens < 1 {
			return modelRequest{}, invalid("max_tokens", "Invalid 'max_tokens': must be at least 1.")
		}
		q.maxTokens = *r.MaxTokens
	}
	q.settle()
	return q, nil
}

// completionsPart is one chunk of a stream, or the whole.
func (c completion) completionsPart(text string, finish any) obj {
	return obj{
		"id": c.draws.id("cmpl-sim"), "object": "text_completion", "created": c.draws.created(), "model": c.served, "system_fingerprint": "simulated",
		"choices": []obj{{"index": 0, "text": text, "logprobs": nil, "finish_reason": finish}},
	}
}

func encodeCompletions(q modelRequest, c completion) any {
	r := c.completionsPart(c.spoken(), finishOpenAI(q, c))
	r["usage"] = c.openAIUsage()
	return r
}

func streamCompletions(q modelRequest, c completion) [][]byte {
	var e events
	for _, p := range c.draws.pieces(c.spoken()) {
		e.send("", c.completionsPart(p, nil))
	}
	e.send("", c.completionsPart("", finishOpenAI(q, c)))
	if q.extras {
		end := c.completionsPart("", nil)
		end["choices"], end["usage"] = []obj{}, c.openAIUsage()
		e.send("", end)
	}
	return append(e.frames, []byte("data: [DONE]\n\n"))
}
