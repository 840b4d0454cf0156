package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// gemini is the generateContent wire, of the Gemini API and of Vertex AI.
var gemini = wire{
	name:   "gemini",
	decode: decodeGemini,
	encode: encodeGemini,
	stream: streamGemini,
	media:  eventStream,
	fail:   failGemini,
}

type geminiRequest struct {
	Contents          []geminiContent
	SystemInstruction *geminiContent
	GenerationConfig  struct {
		MaxOutputTokens, CandidateCount    *int
		Temperature                        *float64
		Seed                               *int64
		StopSequences                      []string
		ResponseMimeType                   string
		ResponseSchema, ResponseJSONSchema json.RawMessage
	}
	Tools []struct {
		FunctionDeclarations []struct {
			Name                             string
			Parameters, ParametersJSONSchema json.RawMessage
		}
	}
	ToolConfig *struct {
		FunctionCallingConfig struct {
			Mode                 string
			AllowedFunctionNames []string
		}
	}
}

type geminiContent struct {
	Role  string
	Parts []geminiPart
}

type geminiPart struct {
	Text         *string
	Thought      bool
	InlineData   *struct{ MimeType, Data string }
	FileData     *struct{ MimeType, FileURI string }
	FunctionCall *struct {
		ID, Name string
		Args     json.RawMessage
	}
	FunctionResponse *struct {
		ID, Name string
		Response json.RawMessage
	}
}

// The members of a request and its generationConfig; any other is refused.
var (
	geminiMembers = []string{"contents", "systemInstruction", "system_instruction", "generationConfig", "generation_config", "tools", "toolConfig", "tool_config", "safetySettings", "safety_settings", "cachedContent", "cached_content", "labels", "serviceTier", "store", "model"}
	geminiConfig  = []string{
		"maxOutputTokens", "temperature", "seed", "stopSequences", "candidateCount", "responseMimeType", "responseSchema", "responseJsonSchema", "_responseJsonSchema", "topP", "topK",
		"presencePenalty", "frequencyPenalty", "responseLogprobs", "logprobs", "thinkingConfig", "responseModalities", "speechConfig", "imageConfig", "mediaResolution", "audioTimestamp", "enableEnhancedCivicAnswers", "routingConfig",
	}
)

func decodeGemini(req *http.Request, body []byte) modelRequest {
	model, method, _ := strings.Cut(req.PathValue("call"), ":")
	methods := []string{"generateContent", "streamGenerateContent", "countTokens"}
	reject(!slices.Contains(methods, method), http.StatusNotFound, "unknown_url", "", "Requested entity was not found: method %s", clip.Runes(method, 40))
	if whole := parse[struct{ GenerateContentRequest json.RawMessage }](body).GenerateContentRequest; given(whole) { // of countTokens
		body = whole
	}
	r := parse[geminiRequest](body)
	checkGemini(body, r)
	g := r.GenerationConfig
	q := modelRequest{model: model, maxTokens: value(g.MaxOutputTokens), temperature: g.Temperature, seed: g.Seed, stop: g.StopSequences, stream: method == "streamGenerateContent", counted: method == "countTokens"}
	if q.extras = q.stream && req.URL.Query().Get("alt") != "sse"; q.extras {
		q.media = "application/json; charset=UTF-8"
	}
	if r.SystemInstruction != nil {
		var system utterance
		r.SystemInstruction.into(&system)
		q.system = system.text
	}
	for i, c := range r.Contents {
		m := utterance{at: i, own: c.Role == "model"}
		refuseIf(c.Role != "user" && c.Role != "model" && c.Role != "function" && (c.Role != "" || len(r.Contents) > 1), "", "Please use a valid role: user, model.")
		c.into(&m)
		q.messages = append(q.messages, m)
	}
	r.offer(&q)
	refuseIf(q.settle() != nil, "", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	switch {
	case g.ResponseMimeType == "application/json" && (given(g.ResponseSchema) || given(g.ResponseJSONSchema)):
		q.bind(formatSchema)
	case g.ResponseMimeType == "application/json":
		q.bind(formatObject)
	}
	return q
}

// checkGemini looks at what needs no reading. Members that the API does not have
// are refused, as by every Google API.
func checkGemini(body []byte, r geminiRequest) {
	var members, config map[string]json.RawMessage
	_ = json.Unmarshal(body, &members) // has been parsed
	_ = json.Unmarshal(members["generationConfig"], &config)
	only := func(names map[string]json.RawMessage, known []string, at string) {
		for _, name := range slices.Sorted(maps.Keys(names)) {
			refuseIf(!slices.Contains(known, name), "", "Invalid JSON payload received. Unknown name %q%s: Cannot find field.", clip.Runes(name, 40), at)
		}
	}
	only(members, geminiMembers, "")
	only(config, geminiConfig, " at 'generation_config'")
	g := r.GenerationConfig
	refuseIf(len(r.Contents) == 0, "", "* GenerateContentRequest.contents: contents is not specified\n")
	refuseIf(g.Temperature != nil && (*g.Temperature < 0 || *g.Temperature > 2), "", "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n")
	refuseIf(g.MaxOutputTokens != nil && *g.MaxOutputTokens < 1, "", "* GenerateContentRequest.generation_config.max_output_tokens: max_output_tokens must be positive.\n")
	refuseIf(g.CandidateCount != nil && *g.CandidateCount != 1, "", "Only one candidate can be specified in the simulation")
	refuseIf(len(g.StopSequences) > 5, "", "The number of stop sequences must be at most 5.")
	refuseIf(g.ResponseMimeType != "application/json" && (given(g.ResponseSchema) || given(g.ResponseJSONSchema)), "", "Function calling config or response schema: response_mime_type application/json is required with a response schema")
	refuseIf(g.ResponseMimeType != "" && g.ResponseMimeType != "application/json" && g.ResponseMimeType != "text/plain", "", "* GenerateContentRequest.generation_config.response_mime_type: allowed mimetypes are `text/plain`, `application/json`, `application/xml`, `application/yaml` and `text/x.enum`.\n")
}

func (c geminiContent) into(m *utterance) {
	refuseIf(len(c.Parts) == 0, "", "* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.\n", m.at)
	for j, p := range c.Parts {
		switch {
		case p.Thought:
		case p.Text != nil:
			m.text += *p.Text
		case p.InlineData != nil:
			picture, ok := pictureOf(p.InlineData.MimeType, p.InlineData.Data)
			refuseIf(!ok || p.InlineData.MimeType == "", "", "Unable to process input image. Please retry or report in https://developers.generativeai.google/guide/troubleshooting")
			m.images = append(m.images, picture)
		case p.FileData != nil:
			m.images = append(m.images, picture{url: p.FileData.FileURI})
		case p.FunctionCall != nil && m.own:
			m.calls = append(m.calls, invocation{ID: p.FunctionCall.ID, Name: p.FunctionCall.Name, Args: string(p.FunctionCall.Args)})
		case p.FunctionResponse != nil && !m.own:
			m.results = append(m.results, p.result())
		default:
			refuse("", "* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field\n", m.at, j)
		}
	}
}

// result reads a response: by the documentation its output or error, or else the whole of it.
func (p geminiPart) result() result {
	f := p.FunctionResponse
	r := result{id: f.ID, name: f.Name, text: string(f.Response)}
	var members map[string]json.RawMessage
	_ = json.Unmarshal(f.Response, &members) // anything but an object has none
	for name, raw := range members {
		if len(members) == 1 && (name == "output" || name == "result" || name == "error") {
			r.text, r.failed = model.TextOf(string(raw)), name == "error"
		}
	}
	return r
}

func (r geminiRequest) offer(q *modelRequest) {
	for i, t := range r.Tools {
		for j, d := range t.FunctionDeclarations {
			at := fmt.Sprintf("* GenerateContentRequest.tools[%d].function_declarations[%d]", i, j)
			refuseIf(!functionName.MatchString(d.Name), "", "%s.name: Invalid function name. Must start with a letter or an underscore.\n", at)
			refuseIf(slices.Contains(q.tools, d.Name), "", "Duplicate function declaration found: %s", d.Name)
			refuseIf(given(d.Parameters) && given(d.ParametersJSONSchema), "", "%s.parameters: only one of parameters and parameters_json_schema may be set\n", at)
			schema := d.ParametersJSONSchema
			if given(d.Parameters) {
				schema = d.Parameters
			}
			q.offer(d.Name, schema)
		}
	}
	if r.ToolConfig == nil {
		return
	}
	switch c := r.ToolConfig.FunctionCallingConfig; c.Mode {
	case "", "AUTO", "MODE_UNSPECIFIED", "VALIDATED":
	case "NONE":
		q.choice = choiceNone
	case "ANY":
		q.choice = choiceAny
		for _, name := range c.AllowedFunctionNames {
			refuseIf(!slices.Contains(q.tools, name), "", "Allowed function name %s is not among the function declarations.", clip.Runes(name, 64))
		}
		if len(c.AllowedFunctionNames) == 1 {
			q.choice, q.tool = choiceNamed, c.AllowedFunctionNames[0]
		}
		refuseIf(len(q.tools) == 0, "", "Function calling config is set without function_declarations.")
	default:
		refuse("", "Invalid value at 'tool_config.function_calling_config.mode': %q", clip.Runes(c.Mode, 40))
	}
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
		candidate["finishReason"] = "STOP"
		switch {
		case c.cut:
			candidate["finishReason"] = "MAX_TOKENS"
		case c.refusal != "":
			candidate["finishReason"], candidate["finishMessage"] = "SAFETY", c.refusal
			candidate["safetyRatings"] = []obj{{"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": true}}
		}
	}
	return obj{"candidates": []obj{candidate}, "usageMetadata": usage, "modelVersion": c.served, "responseId": c.draws.id("sim")}
}

// geminiCalls are the parts of the calls. The first is signed if there were thoughts.
func (c completion) geminiCalls() []obj {
	var parts []obj
	for i, t := range c.identify("sim") {
		part := obj{"functionCall": obj{"id": t.ID, "name": t.Name, "args": object(t.Args)}}
		if i == 0 && c.reasoning != "" {
			part["thoughtSignature"] = signature(c.reasoning)
		}
		parts = append(parts, part)
	}
	return parts
}

func encodeGemini(q modelRequest, c completion) any {
	if q.counted {
		return obj{"totalTokens": c.in, "promptTokensDetails": []obj{{"modality": "TEXT", "tokenCount": c.in}}}
	}
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
	var parts, chunks []obj
	for _, p := range c.draws.pieces(c.reasoning) {
		parts = append(parts, obj{"text": p, "thought": true})
	}
	for _, p := range c.draws.pieces(c.text) {
		parts = append(parts, obj{"text": p})
	}
	for _, part := range append(parts, c.geminiCalls()...) {
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
	message := f.message
	if f.code == "model_not_found" {
		message = "models/" + f.model + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
	}
	e := obj{"code": f.status, "message": message, "status": cmp.Or(f.kind, status, "UNKNOWN")}
	if f.detail != nil {
		e["details"] = f.detail
	}
	return obj{"error": e}
}
