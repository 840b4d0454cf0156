package sim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/cupel-eval/cupel/internal/clip"
	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

// tgi is the generate wire of Text Generation Inference. Such a server has one model, so a request names
// none: here it may, in the path, the query or the body, and otherwise the probe answers. The prompt is one
// text, which counts as the user's message; images are in it as in Markdown. There are no tools.
var tgi = wire{
	name:   "tgi",
	decode: decodeTGI,
	encode: encodeTGI,
	stream: streamTGI,
	media:  eventStream,
	fail:   failTGI,
	mark:   markTGI,
}

// tgiWindow is the most tokens that a prompt may have.
const tgiWindow = 32768

type tgiRequest struct {
	Model      string  `json:"model"`
	Inputs     *string `json:"inputs"`
	Stream     bool    `json:"stream"`
	Parameters struct {
		MaxNewTokens        *int     `json:"max_new_tokens"`
		Temperature         *float64 `json:"temperature"`
		Seed                *int64   `json:"seed"`
		Stop                []string `json:"stop"`
		Details             bool     `json:"details"`
		DecoderInputDetails bool     `json:"decoder_input_details"`
		ReturnFullText      bool     `json:"return_full_text"`
		Grammar             *struct {
			Type  string          `json:"type"`
			Value json.RawMessage `json:"value"`
		} `json:"grammar"`
	} `json:"parameters"`
}

// markdownImage is how a prompt shows an image.
var markdownImage = lazyregexp.New(`!\[\]\(([^)]*)\)`)

func decodeTGI(req *http.Request, body []byte) modelRequest {
	var r tgiRequest
	if err := json.Unmarshal(body, &r); err != nil {
		refuse("", "Failed to deserialize the JSON body into the target type: %s", clip.Runes(err.Error(), 200))
	}
	p := r.Parameters
	stream := strings.HasSuffix(req.URL.Path, "/generate_stream")
	refuseIf(r.Inputs == nil, "", "Failed to deserialize the JSON body into the target type: missing field `inputs`")
	refuseIf(*r.Inputs == "", "", "Input validation error: `inputs` cannot be empty")
	refuseIf(p.MaxNewTokens != nil && *p.MaxNewTokens < 1, "", "Input validation error: `max_new_tokens` must be strictly positive")
	refuseIf(p.Temperature != nil && *p.Temperature <= 0, "", "Input validation error: `temperature` must be strictly positive")
	refuseIf(len(p.Stop) > 4, "", "Input validation error: `stop` supports up to 4 stop sequences. Given: %d", len(p.Stop))
	refuseIf(stream && p.DecoderInputDetails, "", "Input validation error: `decoder_input_details` == true is not supported when streaming tokens")
	refuseIf(model.Tokens(*r.Inputs) > tgiWindow && !strings.Contains(*r.Inputs, "]("), "", "Input validation error: `inputs` must have less than %d tokens. Given: %d", tgiWindow, model.Tokens(*r.Inputs))
	q := modelRequest{
		model:       cmp.Or(req.PathValue("model"), req.URL.Query().Get("model"), r.Model, Probe),
		temperature: p.Temperature, seed: p.Seed, stop: p.Stop, stream: stream, maxTokens: value(p.MaxNewTokens), extras: p.Details || p.DecoderInputDetails,
	}
	m := utterance{text: *r.Inputs}
	for _, at := range markdownImage.FindAllStringSubmatch(*r.Inputs, -1) {
		picture, ok := pictureAt(at[1])
		refuseIf(!ok, "", "Input validation error: invalid image: could not be decoded")
		m.images = append(m.images, picture)
	}
	m.text = markdownImage.ReplaceAllString(m.text, "")
	q.messages = []utterance{m}
	q.settle()
	if g := p.Grammar; g != nil {
		refuseIf(g.Type != "json" && g.Type != "regex" && g.Type != "json_schema", "", "Input validation error: grammar is not valid: unknown type %s", clip.Runes(g.Type, 40))
		q.bind(formatSchema)
	}
	return q
}

// tgiText is the text. It ends in the stop sequence that ended it.
func (c completion) tgiText() string { return c.spoken() + c.stopped }

func (c completion) tgiFinish() string {
	return c.ended("length", "stop_sequence", "eos_token", "eos_token", "eos_token")
}

// tgiTokens are pieces of the text as the wire tells tokens.
func (c completion) tgiTokens() []obj {
	tokens := []obj{}
	for i, p := range append(c.draws.pieces(c.spoken()), c.stopped) {
		if p != "" {
			tokens = append(tokens, obj{"id": 1000 + i, "text": p, "logprob": -0.25, "special": false})
		}
	}
	if c.tgiFinish() == "eos_token" {
		tokens = append(tokens, obj{"id": 2, "text": "</s>", "logprob": -0.25, "special": true})
	}
	return tokens
}

func encodeTGI(q modelRequest, c completion) any {
	r := obj{"generated_text": c.tgiText()}
	if q.extras {
		prefill := []obj{}
		for i := range min(c.in, tgiWindow) {
			prefill = append(prefill, obj{"id": i, "text": "·", "logprob": nil})
		}
		r["details"] = obj{"finish_reason": c.tgiFinish(), "generated_tokens": c.made(), "seed": q.seed, "prefill": prefill, "tokens": c.tgiTokens()}
	}
	return r
}

// streamTGI makes an event of each token, the last with the whole text.
func streamTGI(q modelRequest, c completion) [][]byte {
	tokens := c.tgiTokens()
	if len(tokens) == 0 { // cut before anything was said
		tokens = []obj{{"id": 0, "text": "", "logprob": -0.25, "special": true}}
	}
	var frames [][]byte
	for i, token := range tokens {
		event := obj{"index": i + 1, "token": token, "generated_text": nil, "details": nil}
		if i == len(tokens)-1 {
			event["generated_text"] = c.tgiText()
			event["details"] = obj{"finish_reason": c.tgiFinish(), "generated_tokens": c.made(), "seed": q.seed, "input_length": c.in}
		}
		frames = append(frames, []byte("data:"+string(encodeJSON(event))+"\n\n"))
	}
	return frames
}

func failTGI(f *failure, _ string) any {
	kind := "validation"
	if f.status >= http.StatusInternalServerError {
		kind = "generation"
	}
	if f.status == http.StatusTooManyRequests {
		kind = "overloaded"
	}
	return obj{"error": f.message, "error_type": cmp.Or(f.kind, kind)}
}

// markTGI gives what is not valid the wire's status.
func markTGI(_ http.Header, f *failure) {
	if f.status == http.StatusBadRequest {
		f.status = http.StatusUnprocessableEntity
	}
}
