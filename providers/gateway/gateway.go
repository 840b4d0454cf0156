// Package gateway reads what foreign programs send to models: which API a request speaks,
// which model it asks, whether it streams, how much output it allows. It makes the request
// that the configured provider gets, the errors that a program understands, and a Reply of
// what came back. It opens no network connection and knows no run.
package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/cupel-eval/cupel/internal/lazyregexp"
	"github.com/cupel-eval/cupel/providers/openai"
)

// Kind is what a request asks for.
type Kind string

// The kinds of request that are forwarded.
const (
	Chat       Kind = "chat"
	Embeddings Kind = "embeddings"
	Count      Kind = "count"  // the number of tokens of a prompt
	Models     Kind = "models" // the list of models, or one of them
)

// Request is a request of a foreign program. It contains no credential. A copy may be
// changed, its Header and Body not: the With methods return changed copies.
type Request struct {
	Method string
	// Endpoint is the escaped path below the version segment, such as /chat/completions, and
	// Version that segment as it was sent, such as /v1; empty if there was none. Query is
	// without credentials.
	Endpoint, Version, Query string
	// Header are the headers that a provider gets: see KeptHeaders.
	Header http.Header
	Body   []byte
	// Wire is the API format by the name that package all uses, such as openai-chat, and
	// Provider the public provider that speaks it, such as openai.
	Wire, Provider string
	Kind           Kind
	// Model is the name in the body or the path; empty if the request names none.
	Model  string
	Stream bool
	// MaxOutput is the limit of output tokens that the request states; 0 if it states none.
	// Choices is how many replies it asks for, at least 1.
	MaxOutput, Choices int
}

// ErrEndpoint means that a path is not that of a model, embeddings, a token count or a
// list of models.
var ErrEndpoint = errors.New("not forwarded: only models, embeddings, token counts and lists of models are")

// endpoint is a path below the version segment.
type endpoint struct {
	fits     *lazyregexp.Regexp
	provider string
	kind     Kind
	method   string
}

// at makes an endpoint of a pattern of its path.
func at(method, pattern, provider string, kind Kind) endpoint {
	return endpoint{lazyregexp.New(`^((?:/[^/]+)*?)(/v\d[0-9a-z]*)?(` + pattern + `)$`), provider, kind, method}
}

// endpoints are what is forwarded; the first that fits counts. The pattern of a model's
// name has no slash: SDKs escape it.
var endpoints = []endpoint{
	at("POST", `/(?:chat/)?completions`, "openai", Chat),
	at("POST", `/embeddings`, "openai", Embeddings),
	at("POST", `/responses`, "openai-responses", Chat),
	at("POST", `/responses/input_tokens`, "openai-responses", Count),
	at("POST", `/messages|/complete`, "anthropic", Chat),
	at("POST", `/messages/count_tokens`, "anthropic", Count),
	at("POST", `/publishers/anthropic/models/[^/]+:(?:stream)?[rR]awPredict`, "anthropic", Chat),
	at("POST", `/models/[^/]+:(?:g|streamG)enerateContent`, "gemini", Chat),
	at("POST", `/models/[^/]+:(?:embedContent|batchEmbedContents)`, "gemini", Embeddings),
	at("POST", `/models/[^/]+:countTokens`, "gemini", Count),
	at("POST", `/model/[^/]+/(?:converse|invoke|converse-stream|invoke-with-response-stream)`, "bedrock", Chat),
	at("POST", `/model/[^/]+/count-tokens`, "bedrock", Count),
	at("POST", `/api/(?:chat|generate)`, "ollama", Chat),
	at("POST", `/api/embed(?:dings)?`, "ollama", Embeddings),
	at("GET", `/api/tags`, "ollama", Models),
	at("POST", `/api/show`, "ollama", Models),
	at("POST", `/chat`, "cohere", Chat),
	at("POST", `/embed`, "cohere", Embeddings),
	at("POST", `/tokenize`, "cohere", Count),
	at("POST", `/generate(?:_stream)?`, "tgi", Chat),
	at("GET", `/models(?:/[^/]+){0,3}`, "openai", Models),
}

// wires are the names of the API formats by the provider of an endpoint.
var wires = map[string]string{
	"openai": "openai-chat", "openai-responses": "openai-responses", "anthropic": "anthropic-messages", "gemini": "gemini",
	"bedrock": "bedrock-converse", "ollama": "ollama-chat", "cohere": "cohere-chat", "tgi": "tgi-generate",
}

// Parse reads a request. path is escaped and below the session's base; body is not
// compressed. An error is ErrEndpoint, or says what is wrong with the body; the Request then
// has the Wire if it is known, for the error's form.
func Parse(method, path, query string, header http.Header, body []byte) (Request, error) {
	r := Request{Method: method, Query: plainQuery(query), Header: KeptHeaders(header), Body: body, Choices: 1}
	r.find(path, header)
	if r.Kind == "" {
		return r, ErrEndpoint
	}
	if header.Get("Content-Encoding") != "" && header.Get("Content-Encoding") != "identity" {
		return r, fmt.Errorf("the body is compressed (%.40q); send it uncompressed", header.Get("Content-Encoding"))
	}
	if method == http.MethodGet {
		r.Body, r.Model = nil, modelOf(path)
		return r, nil
	}
	if err := r.read(path); err != nil {
		return r, fmt.Errorf("the body of %s is not a JSON object with distinct names: %w", r.Endpoint, err)
	}
	return r, nil
}

// find sets what follows from the path.
func (r *Request) find(path string, header http.Header) {
	plain, err := url.PathUnescape(path)
	if err != nil || strings.Contains(path, "//") || strings.Contains(plain+"/", "/../") || strings.Contains(plain+"/", "/./") {
		return
	}
	for _, e := range endpoints {
		m := e.fits.FindStringSubmatch(path)
		if m == nil || e.method != r.Method || e.provider == "cohere" && m[2] == "" {
			continue
		}
		r.Version, r.Endpoint, r.Provider, r.Kind = m[2], m[3], e.provider, e.kind
		switch {
		case e.kind == Models && e.provider == "openai" && header.Get("Anthropic-Version") != "":
			r.Provider = "anthropic"
		case e.kind == Models && e.provider == "openai" && (header.Get("X-Goog-Api-Key") != "" || strings.HasPrefix(r.Version, "/v1beta")):
			r.Provider = "gemini"
		case e.provider == "bedrock" && strings.Contains(r.Endpoint, "-embed-"):
			r.Kind = Embeddings
		}
		r.Wire = wires[r.Provider]
		return
	}
}

// limits are where the APIs have the limit of output tokens. The first is the one to set.
var limits = map[string][]string{
	"openai-chat":        {"max_tokens", "max_completion_tokens"},
	"openai-responses":   {"max_output_tokens"},
	"anthropic-messages": {"max_tokens", "max_tokens_to_sample"},
	"gemini":             {"generationConfig.maxOutputTokens", "generation_config.max_output_tokens", "generationConfig.max_output_tokens", "generation_config.maxOutputTokens"},
	"bedrock-converse":   {"inferenceConfig.maxTokens", "max_tokens"},
	"ollama-chat":        {"options.num_predict"},
	"cohere-chat":        {"max_tokens"},
	"tgi-generate":       {"parameters.max_new_tokens"},
}

// read sets what follows from the body.
func (r *Request) read(path string) error {
	b, err := membersOf(r.Body)
	if err != nil {
		return err
	}
	if r.Model = b.text("model"); r.Model == "" {
		r.Model = modelOf(path)
	}
	switch stream := string(b.value("stream")); {
	case r.Kind != Chat:
	case strings.Contains(r.Endpoint, "stream"), stream == "true":
		r.Stream = true
	default:
		r.Stream = r.Provider == "ollama" && stream != "false" || strings.Contains(r.Query, "alt=sse")
	}
	for _, name := range limits[r.Wire] {
		r.MaxOutput = max(r.MaxOutput, b.number(name))
	}
	for _, name := range []string{"n", "best_of", "generationConfig.candidateCount"} {
		r.Choices = max(r.Choices, b.number(name))
	}
	return nil
}

// versionEnd is the version segment that ends an address.
var versionEnd = lazyregexp.New(`/v\d[0-9a-z]*$`)

// versions are those of the APIs whose SDKs take an address without one.
var versions = map[string]string{"anthropic": "/v1", "cohere": "/v2", "gemini": "/v1beta"}

// RecordedURL is the URL under which the request is matched and stored: it names the API
// and no address, so that a recording replays wherever the program finds its provider.
func (r Request) RecordedURL() string {
	address := "http://" + r.Provider + ".invalid"
	if r.Provider == "cohere" { // two formats have one path
		address += r.Version
	}
	if address += r.Endpoint; r.Query != "" {
		address += "?" + r.Query
	}
	return address
}

// URL is where the request goes below an address of a provider, as an SDK of its takes it:
// with the version segment, or for Anthropic, Cohere and Gemini also without it.
func (r Request) URL(base string) string {
	base = strings.TrimRight(base, "/")
	version := versions[r.Provider]
	if version != "" && r.Version != "" {
		version = r.Version
	}
	if versionEnd.MatchString(base) {
		version = ""
	}
	if r.Query != "" {
		return base + version + r.Endpoint + "?" + r.Query
	}
	return base + version + r.Endpoint
}

// WithModel returns the request with another model. A list of models stays as it is.
func (r Request) WithModel(name string) (Request, error) {
	if m := modelInPath.FindStringSubmatchIndex(r.Endpoint); m != nil {
		r.Endpoint, r.Model = r.Endpoint[:m[2]]+url.PathEscape(name)+r.Endpoint[m[3]:], name
		return r, nil
	}
	if r.Method == http.MethodGet {
		return r, nil
	}
	return r.with("model", quote(name), func(r *Request) { r.Model = name })
}

// WithMaxOutput returns the request with a limit of output tokens, in the field that the
// provider takes for the request's model. provider is the name of who will be asked; empty
// means the API's public one.
func (r Request) WithMaxOutput(n int, provider string) (Request, error) {
	if len(limits[r.Wire]) == 0 || r.Kind != Chat || strings.Contains(r.Endpoint, "/invoke") { // each vendor has its own there
		return r, fmt.Errorf("%s %s has no limit of output tokens", r.Wire, r.Endpoint)
	}
	field := limits[r.Wire][0]
	switch {
	case r.Wire == "openai-chat":
		field = dialectOf(cmp.Or(provider, r.Provider)).LimitField(r.Model)
	case r.Endpoint == "/complete":
		field = "max_tokens_to_sample"
	}
	return r.with(field, fmt.Appendf(nil, "%d", n), func(r *Request) { r.MaxOutput = n })
}

// dialectOf is the dialect of a provider; a provider without one speaks as OpenAI does.
func dialectOf(provider string) openai.Dialect {
	for _, d := range openai.Dialects() {
		if d.Name == provider {
			return d
		}
	}
	return openai.Dialect{}
}

// with sets a field of the body.
func (r Request) with(field string, value []byte, then func(*Request)) (Request, error) {
	body, err := set(r.Body, field, value)
	if err == nil {
		r.Body = body
		then(&r)
	}
	return r, err
}
