package sim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/internal/pause"
	"github.com/cupel-eval/cupel/providers/sim/internal/model"
)

const maxBody = 8 << 20 // bytes of a request body

// service answers requests. What later requests refer to by id it remembers, within bounds.
type service struct {
	cfg Config

	mu sync.Mutex
	// items are those of the Responses wire: one item, or the list of all items up
	// to a response.
	items archive[json.RawMessage]
	// threads are those of the Messages wire, by the id of the message they end in.
	threads archive[thread]
}

// failure is an error as a wire will put it. Where a request is refused, its reading ends
// in a panic with one, which service.ask turns into a result.
type failure struct {
	status  int
	code    string // OpenAI's code, such as model_not_found, or Anthropic's error_code
	param   string
	kind    string // the wire's word for it, if the status does not tell
	detail  any    // of Google, besides
	model   string // the unknown model, with model_not_found
	message string
}

func invalid(param, format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

// refuse ends the reading of a request that is not valid.
func refuse(param, format string, args ...any) { panic(invalid(param, format, args...)) }

func refuseIf(wrong bool, param, format string, args ...any) {
	if wrong {
		refuse(param, format, args...)
	}
}

// reject refuses under a condition, with a status and a code.
func reject(wrong bool, status int, code, param, format string, args ...any) {
	if wrong {
		panic(&failure{status: status, code: code, param: param, message: fmt.Sprintf(format, args...)})
	}
}

// tooLarge refuses a body that exceeds maxBody, by itself or with what it refers to.
func tooLarge() *failure {
	return &failure{status: http.StatusRequestEntityTooLarge, code: "request_too_large", message: fmt.Sprintf("The request body exceeds %d bytes.", maxBody)}
}

// wire is one request and reply format. In the types of their requests, check looks at what
// needs no reading, into adds a part to what it is a part of, offer reads the tools and which
// of them may be called, and form what is demanded of the form of the text.
type wire struct {
	name      string
	requestID string // name of the header that carries the reply's request id; empty if none does
	instant   bool   // answers without the latency of a model
	// recall puts what a body refers to by id into the body; nil if the wire refers
	// to nothing. keep remembers a request, as recalled, and its reply.
	// These and decode, which reads a request, panic with a failure.
	recall func(s *service, r *http.Request, body []byte) []byte
	keep   func(s *service, body []byte, q modelRequest, c completion)
	decode func(r *http.Request, body []byte) modelRequest
	encode func(modelRequest, completion) any
	// stream makes the frames of a streamed reply, media is what they are.
	stream func(modelRequest, completion) [][]byte
	media  string
	fail   func(*failure, string) any
	// mark adds the headers of an error; nil adds no headers.
	mark func(http.Header, *failure)
}

// with is a wire that differs in the reading and in the replies.
func (wr wire) with(decode func(*http.Request, []byte) modelRequest, encode func(modelRequest, completion) any, stream func(modelRequest, completion) [][]byte) wire {
	wr.decode, wr.encode, wr.stream, wr.recall, wr.keep = decode, encode, stream, nil, nil
	return wr
}

// routes are the addresses that models answer at.
var routes = []struct {
	path string
	wire wire
}{
	{"/v1/chat/completions", openAI},
	{"/v1/completions", completions},
	{"/openai/v1/chat/completions", openAI}, // as Groq has it
	{"/mistral/v1/chat/completions", mistral},
	{"/v1/responses", responses},
	{"/v1/messages", anthropic},
	{"/v1/messages/count_tokens", anthropicCount},
	{"/v1beta/models/{call}", gemini},
	{"/v1/models/{call}", gemini},
	{"/v1/projects/{project}/locations/{location}/publishers/google/models/{call}", gemini},
	{"/v1beta1/projects/{project}/locations/{location}/publishers/google/models/{call}", gemini},
	{"/model/{model}/converse", bedrock},
	{"/model/{model}/converse-stream", bedrock},
	{"/model/{model}/invoke", invoke},
	{"/model/{model}/invoke-with-response-stream", invoke},
	{"/api/chat", ollama},
	{"/generate", tgi},
	{"/generate_stream", tgi},
	{"/models/{model}/generate", tgi},
	{"/models/{model}/generate_stream", tgi},
	{"/v2/chat", cohere},
}

func newMux(s *service) http.Handler {
	mux := http.NewServeMux()
	seen := map[string]bool{}
	handle := func(method, path string, serve http.HandlerFunc) {
		// The base address that a client is given may lack the version.
		for _, path := range slices.Compact([]string{path, strings.Replace(path, "/v1/", "/", 1)}) {
			mux.HandleFunc(method+" "+path, serve)
			if !seen[path] {
				mux.HandleFunc(path, notAllowed)
			}
			seen[path] = true
		}
	}
	for _, r := range routes {
		handle(http.MethodPost, r.path, s.serve(r.wire))
	}
	for _, l := range listings {
		handle(l.method, l.path, l.serve)
	}
	handle(http.MethodGet, "/healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "server": "simulated"})
	})
	mux.HandleFunc("/", refusing(http.StatusNotFound, "unknown_url", "Invalid URL (%s %s)"))
	return mux
}

// notAllowed refuses the method of a request whose address is known.
var notAllowed = refusing(http.StatusMethodNotAllowed, "method_not_allowed", "Not allowed: %s %s")

// refusing refuses every request but HEAD, by which clients look whether there is a server.
func refusing(status int, code, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		f := &failure{status: status, code: code, message: fmt.Sprintf(message, r.Method, r.URL.Path)}
		wireOf(r).refuse(w, f, drawsFor(0, "", "", []byte(r.URL.Path)))
	}
}

// wireOf is the wire of a request; of one that no route takes, the likely one.
func wireOf(r *http.Request) wire {
	path := r.URL.Path
	for _, p := range []struct {
		prefix string
		wire   wire
	}{
		{"/v1/messages", anthropic}, {"/messages", anthropic}, {"/v1/responses", responses}, {"/responses", responses}, {"/v1beta", gemini}, {"/v1/models/", gemini}, {"/v1/projects/", gemini},
		{"/model/", bedrock}, {"/api/", ollama}, {"/v2/", cohere}, {"/models/", tgi}, {"/generate", tgi},
	} {
		if strings.HasPrefix(path, p.prefix) {
			return p.wire
		}
	}
	return openAI
}

// vendor names the wire as errors and limits go by it.
func (wr wire) vendor() string {
	if wr.name == responses.name {
		return "openai-responses"
	}
	return wr.name
}

func (s *service) serve(wr wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		clientID := r.Header.Get("X-Client-Request-Id")
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			f := invalid("", "The request body could not be read.")
			if limit := new(http.MaxBytesError); errors.As(err, &limit) {
				f = tooLarge()
			}
			wr.refuse(w, f, drawsFor(s.cfg.Seed, "", clientID, nil))
			return
		}
		q, c, f := s.ask(wr, r, body)
		if f != nil {
			wr.refuse(w, f, drawsFor(s.cfg.Seed, q.model, clientID, body))
			return
		}
		wr.answer(r.Context(), w, q, c)
	}
}

func (s *service) ask(wr wire, r *http.Request, body []byte) (q modelRequest, c completion, f *failure) {
	defer func() {
		if v := recover(); v != nil {
			refused, ok := v.(*failure)
			if !ok {
				panic(v)
			}
			f = refused
		}
	}()
	whole := body
	if wr.recall != nil {
		whole = wr.recall(s, r, body)
	}
	q = wr.decode(r, whole)
	q.fromHeader, q.body = r.Header.Get("X-Client-Request-Id"), body
	c = s.complete(q)
	if wr.instant {
		c.first, c.total = 0, 0
	}
	if wr.keep != nil {
		wr.keep(s, whole, q, c)
	}
	return q, c, nil
}

// answer sends what a model said, whole or as a stream, when it is time.
func (wr wire) answer(ctx context.Context, w http.ResponseWriter, q modelRequest, c completion) {
	wait := c.total
	if q.stream {
		wait = c.first
	}
	_ = pause.For(ctx, wait)
	if ctx.Err() != nil { // the client is gone, or the server is closing
		wr.refuse(w, &failure{status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is shutting down."}, c.draws)
		return
	}
	if wr.requestID != "" {
		w.Header().Set(wr.requestID, c.draws.id("req_sim"))
	}
	if q.stream {
		play(ctx, w, cmp.Or(q.media, wr.media), wr.stream(q, c), c.total-c.first)
		return
	}
	writeJSON(w, http.StatusOK, wr.encode(q, c))
}

func (s *service) complete(q modelRequest) completion {
	p, ok := profileFor(q.model)
	if !ok {
		panic(unknownModel(q.model))
	}
	d := drawsFor(s.cfg.Seed, p.Name, q.fromHeader, q.body)
	limit := outputLimit
	if q.maxTokens > 0 {
		limit = min(limit, q.maxTokens)
	}
	c := completion{served: p.Served, in: model.Tokens(q.prompt) + imageTokens*q.images, draws: d}
	if p.Name == Probe {
		q.runScript(&c)
	} else {
		said := p.Reply(q.conversation(d, limit), s.cfg.Books)
		c.text, c.calls = said.Text, said.Calls
	}
	c.bound(limit, q.stop)
	c.first = p.Latency.Draw(d.normal, 0, s.cfg.Latency)
	c.total = p.Latency.Draw(d.normal, c.made(), s.cfg.Latency)
	return c
}

func (wr wire) refuse(w http.ResponseWriter, f *failure, d draws) {
	id := d.id("req_sim")
	if wr.requestID != "" {
		w.Header().Set(wr.requestID, id)
	}
	if wr.mark != nil {
		wr.mark(w.Header(), f)
	}
	writeJSON(w, f.status, wr.fail(f, id))
}

// writeJSON writes v. Replies carry no Date header: they depend on no clock.
func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, `{"error":{"message":"simulation failed to encode its reply"}}`, http.StatusInternalServerError)
		return
	}
	w.Header()["Date"] = nil
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone: nothing to do about it
}
