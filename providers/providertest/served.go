package providertest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// Served is a wire under test against a server that speaks its dialect: a probe,
// which does line by line what the last message of the user says.
//
//	say TEXT · think TEXT · call NAME ARGS · refuse TEXT · fill N
//	describe · results · system · settings · cached READ WRITTEN · then
//
// TEXT may be a JSON string. describe tells the images, results the tool results
// (NAME -> TEXT, NAME failed: TEXT), fill says w1 w2 … wN, and what follows then
// is for the next turn of the assistant.
type Served struct {
	// New makes the wire; Base is the path of its version segment, such as "/v1".
	New  providers.Factory
	Base string
	// Key is the credential, where it must be of a form; empty means any.
	Key string
	// Handler is the server; Model is the name of its probe.
	Handler http.Handler
	Model   string
	// Chaos are the ways in which the server fails when a request asks for it by
	// name in ChaosHeader.
	Chaos       []Chaos
	ChaosHeader string
	// Skip names cases the dialect lacks, with the reason. A case that passes must
	// not be named. A name also skips its streamed variant, if that fails.
	Skip map[string]string
}

// Chaos is a misbehaviour of the server and what a correct wire makes of it.
type Chaos struct {
	Name string
	// Whole and Stream are the kinds of error to report, any of them; none means
	// that the reply is read as if nothing had happened.
	Whole, Stream []fault.Kind
	// Wait is the advice on when to come back; 0 demands none.
	Wait time.Duration
	// Paid reports that the usage must come out beside the error.
	Paid bool
}

// trialCase is one thing to prove.
type trialCase struct {
	name string
	run  func(t require.TestingT, b *bench)
}

// twin is the ending of the name of a case's streamed twin.
const twin = ", streamed"

// RunServed checks the wire for everything that a Call can contain, whole and streamed.
func RunServed(t *testing.T, s Served) {
	for _, name := range s.unknownSkips() {
		t.Errorf("Skip names %q, which is not a case", name)
	}
	for _, c := range s.cases() {
		t.Run(c.name, func(t *testing.T) {
			problem, reason := s.verdict(c)
			switch {
			case problem != "":
				t.Error(problem)
			case reason != "":
				t.Skip(reason)
			}
		})
	}
}

// unknownSkips are the names in Skip that are not cases, sorted.
func (s Served) unknownSkips() []string {
	known := map[string]bool{}
	for _, c := range s.cases() {
		known[c.name] = true
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(s.Skip)), func(name string) bool { return known[name] })
}

// verdict runs a case: problem says what is wrong, reason why it is skipped.
func (s Served) verdict(c trialCase) (problem, reason string) {
	problem = s.judge(c)
	reason, own := s.Skip[c.name]
	if !own { // a twin that passes may
		reason = s.Skip[strings.TrimSuffix(c.name, twin)]
	}
	switch {
	case reason == "", problem == "" && !own:
		return problem, ""
	case problem == "":
		return fmt.Sprintf("the case passes: take it out of Skip, which says %q", reason), ""
	}
	return "", reason
}

func (s Served) cases() []trialCase {
	return slices.Concat(s.dialogueCases(), wireCases(), s.chaosCases())
}

// trial takes a case's failures, so that a case that should fail may.
type trial struct{ problems []string }

func (t *trial) Errorf(format string, args ...any) {
	t.problems = append(t.problems, fmt.Sprintf(format, args...))
}

func (t *trial) FailNow() { runtime.Goexit() }

// judge runs a case and says what is wrong, goroutines left behind included.
func (s Served) judge(c trialCase) string {
	t := &trial{}
	before := goleak.IgnoreCurrent()
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() {
			if p := recover(); p != nil {
				t.Errorf("panic: %v", p)
			}
		}()
		b := newBench(s)
		defer b.close()
		c.run(t, b)
	}()
	<-over
	if err := goleak.Find(before); err != nil {
		t.Errorf("left behind: %v", err)
	}
	return strings.Join(t.problems, "\n")
}

// bench is a server with a wire before it.
type bench struct {
	Served
	server *httptest.Server
	client *http.Client

	mu    sync.Mutex
	seen  []sent
	shape func(next http.Handler) http.Handler // bends the replies; nil leaves them
}

// sent is a request as it came, and what chaos the reply says it met.
type sent struct {
	target, body, chaos string
	header              http.Header
}

func newBench(s Served) *bench {
	b := &bench{Served: s}
	b.server = httptest.NewServer(http.HandlerFunc(b.serve))
	b.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	return b
}

func (b *bench) close() {
	b.client.CloseIdleConnections()
	b.server.Close()
}

// serve notes the request and hands it on.
func (b *bench) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // a short body shows in the case
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	note := sent{target: r.Method + " " + r.URL.RequestURI(), body: string(body), header: r.Header.Clone()}
	var next http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { // also when the connection is to be dropped
			note.chaos = w.Header().Get(b.ChaosHeader)
			b.mu.Lock()
			b.seen = append(b.seen, note)
			b.mu.Unlock()
		}()
		b.Handler.ServeHTTP(w, r)
	})
	b.mu.Lock()
	if b.shape != nil {
		next = b.shape(next)
	}
	b.mu.Unlock()
	next.ServeHTTP(w, r)
}

// bend makes the server send its later replies in another way.
func (b *bench) bend(shape func(next http.Handler) http.Handler) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shape = shape
}

// last is the latest request.
func (b *bench) last(t require.TestingT) sent {
	b.mu.Lock()
	defer b.mu.Unlock()
	require.NotEmpty(t, b.seen, "no request was made")
	return b.seen[len(b.seen)-1]
}

// wire makes the wire, with options changed by change, which may be nil.
func (b *bench) wire(t require.TestingT, change func(*providers.Options)) providers.Model {
	o := providers.Options{Provider: "under-test", BaseURL: b.server.URL + b.Base, Key: b.key(), HTTP: b.client, Region: "eu-central-1"}
	if change != nil {
		change(&o)
	}
	m, err := b.New(o)
	require.NoError(t, err)
	return m
}

func (b *bench) key() string {
	if b.Key != "" {
		return b.Key
	}
	return canary
}

// patience bounds every call: nothing here takes that long.
const patience = 20 * time.Second

// call makes one call, for the pieces of its stream as well.
func (b *bench) call(ctx context.Context, m providers.Model, c providers.Call) (providers.Reply, []providers.Delta, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if c.Model == "" {
		c.Model = b.Model
	}
	var pieces []providers.Delta
	inner := c.OnDelta
	c.OnDelta = func(d providers.Delta) {
		pieces = append(pieces, d)
		if inner != nil {
			inner(d)
		}
	}
	r, err := m.Call(ctx, c)
	return r, pieces, err
}

// saying is a call whose last message is a script.
func saying(lines ...string) providers.Call {
	return providers.Call{Messages: []providers.Message{{Role: providers.RoleUser, Text: strings.Join(lines, "\n")}}, MaxTokens: 2000}
}
