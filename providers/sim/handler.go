package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody is the largest request body accepted, in bytes.
const maxBody = 1 << 20

// service answers requests; it holds no state between them.
type service struct{ cfg Config }

// inquiry is one request to a model, whatever wire it came in by.
type inquiry struct {
	model      string
	talk       talk
	prompt     string // all text sent, for the token estimate
	mode       outputMode
	tool       string // the tool that must be called, with toolCall
	maxTokens  int    // 0 means the model's own limit
	stop       []string
	fromHeader string // X-Client-Request-Id
	body       []byte
}

// completion is what a model said to an inquiry.
type completion struct {
	served  string
	text    string
	tool    string // the tool that text is the arguments of; empty if it is none
	cut     bool   // ran into the token limit
	stopped string // the stop sequence that ended it, if one did
	in, out int
	draws   draws
}

// failure is an error as a wire will put it.
type failure struct {
	status  int
	code    string // OpenAI's code, such as model_not_found
	param   string
	model   string // the unknown model, with model_not_found
	message string
}

func invalid(param, format string, args ...any) *failure {
	return &failure{status: http.StatusBadRequest, param: param, message: fmt.Sprintf(format, args...)}
}

// wire is one request and reply format.
type wire struct {
	requestID string // name of the header that carries the reply's request id
	decode    func(h http.Header, body []byte) (inquiry, *failure)
	encode    func(completion) any
	fail      func(*failure, string) any
}

func newMux(s *service) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve(openAI))
	mux.HandleFunc("POST /v1/messages", s.serve(anthropic))
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "server": "simulated"})
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		f := &failure{status: http.StatusNotFound, code: "unknown_url", message: fmt.Sprintf("Invalid URL (%s %s)", r.Method, r.URL.Path)}
		switch r.URL.Path {
		case "/v1/chat/completions", "/v1/messages", "/v1/models", "/healthz":
			f.status, f.code = http.StatusMethodNotAllowed, "method_not_allowed"
			f.message = fmt.Sprintf("Not allowed: %s %s", r.Method, r.URL.Path)
		}
		wireOf(r).refuse(w, f, drawsFor(s.cfg.Seed, "", "", []byte(r.URL.Path)))
	})
	return mux
}

// wireOf guesses the wire of a request that no route took.
func wireOf(r *http.Request) wire {
	if strings.HasPrefix(r.URL.Path, "/v1/messages") {
		return anthropic
	}
	return openAI
}

// serve answers one wire's requests.
func (s *service) serve(wr wire) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		clientID := r.Header.Get("X-Client-Request-Id")
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			f := invalid("", "The request body could not be read.")
			if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
				f = &failure{status: http.StatusRequestEntityTooLarge, code: "request_too_large", message: fmt.Sprintf("The request body exceeds %d bytes.", maxBody)}
			}
			wr.refuse(w, f, drawsFor(s.cfg.Seed, "", clientID, nil))
			return
		}
		q, f := wr.decode(r.Header, body)
		if f != nil {
			wr.refuse(w, f, drawsFor(s.cfg.Seed, "", clientID, body))
			return
		}
		q.fromHeader, q.body = clientID, body
		c, f := s.complete(r.Context(), q)
		switch {
		case f != nil:
			wr.refuse(w, f, drawsFor(s.cfg.Seed, q.model, clientID, body))
		case r.Context().Err() != nil: // the client is gone, or the server is closing
			wr.refuse(w, &failure{status: http.StatusServiceUnavailable, code: "unavailable", message: "The server is shutting down."}, c.draws)
		default:
			w.Header().Set(wr.requestID, c.draws.id("req_sim"))
			writeJSON(w, http.StatusOK, wr.encode(c))
		}
	}
}

// complete asks the model, and sleeps as long as that takes or until ctx ends.
func (s *service) complete(ctx context.Context, q inquiry) (completion, *failure) {
	p, ok := profileFor(q.model)
	if !ok {
		return completion{}, &failure{status: http.StatusNotFound, code: "model_not_found", model: clip(q.model, 100),
			message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", clip(q.model, 100))}
	}
	d := drawsFor(s.cfg.Seed, p.name, q.fromHeader, q.body)
	limit := outputLimit
	if q.maxTokens > 0 {
		limit = min(limit, q.maxTokens)
	}
	c := completion{served: p.served, tool: q.tool, in: estimateTokens(q.prompt), draws: d}
	c.text = p.say(q.talk, q.mode, limit, d)
	c.text, c.cut = cutTokens(c.text, limit)
	c.text, c.stopped = cutStop(c.text, q.stop)
	c.cut = c.cut && c.stopped == ""
	c.out = estimateTokens(c.text)
	sleep(ctx, p.latency.draw(d.normal, c.out, s.cfg.Latency))
	return c, nil
}

func (s *service) models(w http.ResponseWriter, _ *http.Request) {
	type model struct {
		ID      string `json:"id"`
		Object  string `json:"object"`
		Created int64  `json:"created"`
		OwnedBy string `json:"owned_by"`
	}
	list := struct {
		Object string  `json:"object"`
		Data   []model `json:"data"`
	}{Object: "list"}
	for _, p := range profiles {
		list.Data = append(list.Data, model{p.name, "model", draws{}.created(), "simulated"})
	}
	writeJSON(w, http.StatusOK, list)
}

// refuse writes an error in the wire's shape.
func (wr wire) refuse(w http.ResponseWriter, f *failure, d draws) {
	id := d.id("req_sim")
	w.Header().Set(wr.requestID, id)
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

// clip shortens s to at most n runes.
func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}
