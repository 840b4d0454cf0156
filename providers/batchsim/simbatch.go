// Package batchsim simulates the batch APIs of OpenAI, Anthropic and Gemini over the simulated
// models of package sim. Every request of a batch gets the reply that the simulator gives to the
// same request by itself. Batches take Config.Delay, their results come in another order, and
// Config.Faults makes them fail as real ones do.
//
// An item is asked with the X-Client-Request-Id that follows the first underscore of its id, so
// that an item and a single request of that id get the same bytes.
package batchsim

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cupel-eval/cupel/internal/loopback"
	"github.com/cupel-eval/cupel/providers/sim"
)

// Config configures the simulation. The zero value serves batches that end at once.
type Config struct {
	// Models are the simulated models. Their latency, limits and chaos are those of single
	// requests; of these, items have the chaos.
	Models sim.Config
	// Delay is how long a batch takes, in real time.
	Delay time.Duration
	// Faults are "NAME[=RATE],…", of the names that Faults lists; a rate is 0 to 1, and 1 if it
	// is not given.
	Faults string
}

// Fault is a failure that batches can have.
type Fault struct{ Name, Does string }

// Faults lists the failures.
func Faults() []Fault {
	return []Fault{
		{"reject", "a batch is rejected as a whole, after it was accepted"},
		{"refuse", "the creation of a batch is refused with status 400"},
		{"full", "a batch of more than one request is rejected because too many tokens are enqueued"},
		{"unanswered", "a batch is created, and its creator gets status 503"},
		{"expire", "a request expires before it runs"},
		{"cancel", "a request is cancelled before it runs"},
		{"error", "a request ends with an internal error"},
		{"lose", "a request has no result"},
		{"twice", "a request has two results, of which the second is an error"},
	}
}

// rates are the rates of faults by name.
type rates map[string]float64

func parse(text string) (rates, error) {
	r := rates{}
	for part := range strings.SplitSeq(text, ",") {
		name, rate, given := strings.Cut(strings.TrimSpace(part), "=")
		if name == "" {
			continue
		}
		if !slices.ContainsFunc(Faults(), func(f Fault) bool { return f.Name == name }) {
			return nil, fmt.Errorf("sim: no fault of batches is called %.40q", name)
		}
		r[name] = 1
		if given {
			n, err := strconv.ParseFloat(rate, 64)
			if err != nil || !(n >= 0 && n <= 1) {
				return nil, fmt.Errorf("sim: the rate of %s is %.40q: must be 0 to 1", name, rate)
			}
			r[name] = n
		}
	}
	return r, nil
}

// server holds the batches.
type server struct {
	cfg   Config
	rates rates
	items http.Handler // without latency and limits
	now   func() time.Time

	mu      sync.Mutex
	files   map[string][]byte
	order   []string // ids of files and batches, the oldest first
	batches map[string]*job
	made    int
	bytes   int
}

// maxBody bounds a request, maxKept what is kept of files and batches. The oldest go first.
const (
	maxBody = 256 << 20
	maxKept = 512 << 20
)

// Handler serves the batch APIs beside everything that sim.Handler serves. Invalid faults count as
// none; Start refuses them.
func Handler(cfg Config) http.Handler {
	s := &server{cfg: cfg, files: map[string][]byte{}, batches: map[string]*job{}, now: cfg.Models.Now}
	if s.now == nil {
		s.now = time.Now //nolint:forbidigo // how long a batch takes is real time
	}
	s.rates, _ = parse(cfg.Faults) // none if they are invalid
	quick := cfg.Models
	quick.Latency, quick.Limit = 0, ""
	s.items = sim.Handler(quick)
	mux := http.NewServeMux()
	for pattern, h := range map[string]http.HandlerFunc{
		"POST /v1/files": s.upload, "GET /v1/files/{id}/content": s.download,
		"POST /v1/batches": s.createOpenAI, "GET /v1/batches": s.listOpenAI, "GET /v1/batches/{id}": s.showOpenAI, "POST /v1/batches/{id}/cancel": s.cancelOpenAI,
		"POST /v1/messages/batches": s.createAnthropic, "GET /v1/messages/batches": s.listAnthropic, "GET /v1/messages/batches/{id}": s.showAnthropic,
		"GET /v1/messages/batches/{id}/results": s.resultsAnthropic, "POST /v1/messages/batches/{id}/cancel": s.cancelAnthropic,
		"GET /v1beta/batches": s.listGemini, "GET /v1beta/batches/{id}": s.showGemini, "POST /v1beta/batches/{call}": s.cancelGemini,
	} {
		mux.HandleFunc(pattern, h)
	}
	single := sim.Handler(cfg.Models)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if model, ok := strings.CutSuffix(r.URL.Path, ":batchGenerateContent"); ok && r.Method == http.MethodPost {
			s.createGemini(w, r, model)
			return
		}
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		single.ServeHTTP(w, r)
	})
}

// Start serves Handler on an address until ctx ends or the server is closed; see sim.Start.
func Start(ctx context.Context, addr string, cfg Config) (*loopback.Server, error) {
	if _, err := parse(cfg.Faults); err != nil {
		return nil, err
	}
	if err := cfg.Models.Validate(); err != nil {
		return nil, err
	}
	s, err := loopback.Start(ctx, addr, Handler(cfg), cfg.Models.AllowRemote)
	if err != nil {
		return nil, fmt.Errorf("sim: %w", err)
	}
	return s, nil
}

// job is a batch.
type job struct {
	id, name string
	path     string // of the items
	header   http.Header
	meta     json.RawMessage
	created  time.Time
	rejected string // why all of it is rejected
	full     bool
	items    []item
	done     chan struct{} // closed when the results are there
	size     int
}

type item struct {
	id      string
	body    []byte
	status  int
	reply   []byte
	what    string // expired or cancelled; empty if it ran
	lost    bool
	doubled bool
}

// hit reports whether a fault happens to what has an id.
func (s *server) hit(fault, id string) bool {
	rate := s.rates[fault]
	if rate == 0 {
		return false
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s", s.cfg.Models.Seed, fault, id))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11)/(1<<53) < rate
}

// start starts a batch. The caller must not have locked.
func (s *server) start(j *job, prefix string) {
	s.mu.Lock()
	s.made++
	number := strconv.Itoa(s.made)
	j.id = prefix + "sim" + strconv.FormatInt(s.now().UnixNano(), 36) + number
	j.created, j.done = s.now(), make(chan struct{})
	j.full = len(j.items) > 1 && s.hit("full", number)
	if j.rejected == "" && s.hit("reject", number) {
		j.rejected = "the simulator rejects this batch"
	}
	s.batches[j.id] = j
	for i := range j.items {
		j.size += 2 * len(j.items[i].body)
	}
	s.keep(j.id, j.size)
	s.mu.Unlock()
	go s.run(j)
}

// keep remembers an id and forgets the oldest; the caller must have locked.
func (s *server) keep(id string, size int) {
	s.order = append(s.order, id)
	for s.bytes += size; s.bytes > maxKept && len(s.order) > 1; s.order = s.order[1:] {
		oldest := s.order[0]
		if j := s.batches[oldest]; j != nil {
			s.bytes -= j.size
		}
		s.bytes -= len(s.files[oldest])
		delete(s.batches, oldest)
		delete(s.files, oldest)
	}
}

// run gets the replies to the items, in an order of its own.
func (s *server) run(j *job) {
	defer close(j.done)
	slices.SortFunc(j.items, func(a, b item) int { return cmp.Compare(shuffled(a.id), shuffled(b.id)) })
	for i := range j.items {
		it := &j.items[i]
		switch {
		case s.hit("expire", it.id):
			it.what = "expired"
		case s.hit("cancel", it.id):
			it.what = "cancelled"
		case s.hit("error", it.id):
			it.status, it.reply = http.StatusInternalServerError, []byte(`{"type":"error","error":{"type":"api_error","message":"simulated internal error"}}`)
		default:
			it.status, it.reply = s.ask(j, it)
		}
		it.lost, it.doubled, it.body = s.hit("lose", it.id), s.hit("twice", it.id), nil
	}
	left := j.created.Add(s.cfg.Delay).Sub(s.now())
	if left > 0 {
		time.Sleep(left)
	}
}

func shuffled(id string) uint64 {
	sum := sha256.Sum256([]byte("order " + id))
	return binary.BigEndian.Uint64(sum[:8])
}

// ask asks the simulator for one item.
func (s *server) ask(j *job, it *item) (status int, reply []byte) {
	w := &memory{header: http.Header{}, status: http.StatusOK}
	defer func() {
		if recover() != nil { // a chaos that ends the connection
			status, reply = http.StatusInternalServerError, []byte(`{"type":"error","error":{"type":"api_error","message":"the connection was lost"}}`)
		}
	}()
	r, err := http.NewRequest(http.MethodPost, "http://sim.localhost"+j.path, strings.NewReader(string(it.body)))
	if err != nil {
		return http.StatusBadRequest, []byte(`{}`)
	}
	r.Header = j.header.Clone()
	r.Header.Del("Content-Length")
	r.Header.Set("Content-Type", "application/json")
	if _, request, ok := strings.Cut(it.id, "_"); ok {
		r.Header.Set("X-Client-Request-Id", request)
	}
	s.items.ServeHTTP(w, r)
	return w.status, w.body
}

// memory is a response in memory.
type memory struct {
	header http.Header
	status int
	body   []byte
}

func (m *memory) Header() http.Header    { return m.header }
func (m *memory) WriteHeader(status int) { m.status = status }
func (m *memory) Write(p []byte) (int, error) {
	m.body = append(m.body, p...)
	return len(p), nil
}

// find returns a batch; nil if there is none.
func (s *server) find(id string) *job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batches[id]
}

// list returns the batches with ids of a prefix, the newest first.
func (s *server) list(prefix string) (all []*job) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range slices.SortedFunc(maps.Keys(s.batches), func(a, b string) int { return s.batches[b].created.Compare(s.batches[a].created) }) {
		if strings.HasPrefix(id, prefix) {
			all = append(all, s.batches[id])
		}
	}
	return all
}

// page returns at most limit batches after one.
func page(all []*job, after string, limit string) (list []*job, more bool) {
	if i := slices.IndexFunc(all, func(j *job) bool { return j.id == after }); i >= 0 {
		all = all[i+1:]
	}
	n, err := strconv.Atoi(limit)
	if err != nil || n < 1 {
		n = 20
	}
	return all[:min(n, len(all))], len(all) > n
}

// ended reports whether the results are there.
func (j *job) ended() bool {
	select {
	case <-j.done:
		return true
	default:
		return false
	}
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}
