package otlp

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/cupel-eval/cupel/internal/clip"
)

// Bounds of what a Receiver takes.
const (
	maxReceived = 64 << 20 // bytes after decompression
	maxKept     = 50_000   // spans and log records
	maxNames    = 64       // of each kind that Seen lists
)

// Receiver takes traces over HTTP while an agent acts: it serves /v1/traces, /v1/logs and
// /v1/metrics, which it drops. It is safe for concurrent use; the zero value is ready.
type Receiver struct {
	mu      sync.Mutex
	c       *collector
	refused int
	problem string
}

// Seen is what traces tell of an episode. Names are sorted, and at most 64 of each kind.
type Seen struct {
	// Spans counts spans and log records.
	Spans int `json:"spans"`
	// Agents are the names of agents, workflows and services.
	Agents []string `json:"agents,omitempty"`
	// ModelCalls counts calls of models, each once, however many spans tell of it.
	ModelCalls int `json:"model_calls,omitempty"`
	// Tools are the names of the tools that were executed.
	Tools []string `json:"tools,omitempty"`
	// Hosts are those that its requests went to.
	Hosts []string `json:"hosts,omitempty"`
	// Refused counts requests with something that could not be read, and Problem is the first.
	Refused int    `json:"refused,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// ServeHTTP implements http.Handler. A body that cannot be read, or a part of it, is answered
// with 400 or 413; what is sound in it is kept.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		http.Error(w, "send traces with POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err == nil && !strings.HasSuffix(req.URL.Path, "/v1/metrics") {
		err = r.take(body)
	}
	if err != nil {
		status := http.StatusBadRequest
		if errors.As(err, new(*http.MaxBytesError)) || errors.Is(err, errFull) {
			status = http.StatusRequestEntityTooLarge
		}
		r.refuse(err)
		http.Error(w, "cupel: "+err.Error(), status)
		return
	}
	answer, kind := "", "application/x-protobuf" // an empty message says that all was taken
	if strings.Contains(req.Header.Get("Content-Type"), "json") {
		answer, kind = "{}", "application/json"
	}
	w.Header().Set("Content-Type", kind)
	_, _ = io.WriteString(w, answer) // the program may have gone
}

// take decodes the body of a request.
func (r *Receiver) take(body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c == nil {
		r.c = newCollector(true)
		r.c.name, r.c.maxBytes, r.c.maxSpans = "traces", maxReceived, maxKept
	}
	if len(body) == 0 {
		return nil // no span
	}
	r.c.problems = nil
	err := decoder{r.c}.stream(bytes.NewReader(body))
	if len(r.c.problems) > 0 {
		err = errors.Join(errors.New(r.c.problems[0]), err)
	}
	return err
}

func (r *Receiver) refuse(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused++; r.refused == 1 {
		text, _, _ := strings.Cut(err.Error(), "\n")
		r.problem = clip.Bytes(text, 300)
	}
}

// Seen returns what came so far; nil if nothing did. It is called once.
func (r *Receiver) Seen() *Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.c == nil && r.refused == 0 {
		return nil
	}
	s := &Seen{Refused: r.refused, Problem: r.problem}
	if r.c == nil {
		return s
	}
	s.Spans, r.c.problems = len(r.c.spans)+len(r.c.events), nil
	agents, tools, hosts := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, e := range r.c.episodes(true) {
		s.ModelCalls += len(e.Turns)
		for _, c := range e.Calls {
			tools[c.Name] = true
		}
	}
	for _, sp := range r.c.spans {
		service, _ := sp.resource.attrs["service.name"].(string)
		agents[sp.text(attrAgentName)], agents[sp.text("n8n.workflow.name")] = true, true
		if !strings.HasPrefix(service, "unknown_service") {
			agents[service] = true
		}
		if sp.client {
			hosts[sp.host()] = true
		}
	}
	if s.Refused == 0 && len(r.c.problems) > 0 { // such as a cycle
		s.Refused, s.Problem = 1, clip.Bytes(r.c.problems[0], 300)
	}
	s.Agents, s.Tools, s.Hosts = listed(agents), listed(tools), listed(hosts)
	return s
}

// listed are the names of a set.
func listed(set map[string]bool) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name != "" && len(list) < maxNames {
			list = append(list, name)
		}
	}
	return list
}

// host is where the request of a client's span went, in lower case; empty if it does not say.
func (s *span) host() string {
	name := s.text("server.address", "net.peer.name", "http.host")
	if u, err := url.Parse(s.text("url.full", "http.url")); err == nil && name == "" {
		name = u.Hostname()
	}
	return strings.ToLower(name)
}

// errFull says that the collector is full.
var errFull = errors.New("import them in parts")
