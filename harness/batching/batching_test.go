package batching

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/internal/testkit"
)

// provider is a batch API of OpenAI in memory, whose results a test writes.
type provider struct {
	// results writes the file of results of a batch with items of these ids.
	results func(ids []string) string
	// state is the reply to a question for a batch; empty means that it is complete.
	state string

	mu      sync.Mutex
	files   [][]string
	batches [][]string
	asked   int
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	number := 0
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/files":
		text, _ := io.ReadAll(r.Body)
		var ids []string
		for _, part := range strings.Split(string(text), `"custom_id":"`)[1:] {
			id, _, _ := strings.Cut(part, `"`)
			ids = append(ids, id)
		}
		p.files = append(p.files, ids)
		say(`{"id":"f%d"}`, len(p.files)-1)
	case r.Method == http.MethodPost:
		var asked struct {
			File string `json:"input_file_id"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		_, _ = fmt.Sscanf(asked.File, "f%d", &number)
		p.batches = append(p.batches, p.files[number])
		say(`{"id":"b%d"}`, len(p.batches)-1)
	case strings.HasSuffix(r.URL.Path, "/content"):
		_, _ = fmt.Sscanf(r.URL.Path, "/v1/files/out%d/content", &number)
		say("%s", p.results(p.batches[number]))
	case r.URL.Path == "/v1/batches":
		say(`{"data":[],"has_more":false}`)
	default:
		p.asked++
		_, _ = fmt.Sscanf(r.URL.Path, "/v1/batches/b%d", &number)
		if p.state != "" {
			say("%s", p.state)
			return
		}
		say(`{"id":"b%d","status":"completed","output_file_id":"out%d"}`, number, number)
	}
}

func newCollector(t *testing.T, p *provider, s Settings) *Collector {
	t.Helper()
	s.Settle, s.Poll = max(s.Settle, time.Millisecond), max(s.Poll, time.Millisecond)
	c, err := New(Options{Settings: s, Run: "run", Transport: func(string) http.RoundTripper { return testkit.Handled(p) }})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// send sends a request of an episode of its own, with an id, and returns status and body of the
// reply.
func send(ctx context.Context, c *Collector, id string) (int, string, error) {
	ctx, end := c.Open(ctx)
	defer end()
	req := httptest.NewRequestWithContext(Identify(ctx, id, "digest of "+id, nil), http.MethodPost, "http://host/v1/chat/completions", strings.NewReader(`{"model":"m"}`))
	req.RequestURI = ""
	resp, err := c.Transport("openai").RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), errors.Join(err, resp.Body.Close())
}

// sendAll sends requests at the same time, and returns their statuses and bodies in order.
func sendAll(t *testing.T, c *Collector, ids ...string) (statuses []int, bodies []string) {
	t.Helper()
	statuses, bodies = make([]int, len(ids)), make([]string, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			var err error
			statuses[i], bodies[i], err = send(context.Background(), c, id)
			if err != nil {
				bodies[i] = err.Error()
			}
		})
	}
	all.Wait()
	return statuses, bodies
}

func answered(id string) string {
	return fmt.Sprintf(`{"custom_id":%q,"response":{"status_code":200,"body":{"for":%q}}}`+"\n", id, id)
}

// Whatever the provider returns, each request gets the first result of its own id, or else a
// failure that is asked again.
func TestResultsOfABatch(t *testing.T) {
	ids := []string{"a", "b", "c", "d"}
	each := func(ids []string, f func(id string) string) (text string) {
		for _, id := range ids {
			text += f(id)
		}
		return text
	}
	inOrder := func(ids []string) string { return each(ids, answered) }
	without := func(which string) func(string) string {
		return func(id string) string {
			if strings.HasSuffix(id, "_"+which) {
				return ""
			}
			return answered(id)
		}
	}
	for name, tt := range map[string]struct {
		results func(ids []string) string
		never   string // the request without a result
	}{
		"in order": {inOrder, ""},
		"wrong order": {func(ids []string) string {
			back := slices.Clone(ids)
			slices.Reverse(back)
			return inOrder(back)
		}, ""},
		"twice": {func(ids []string) string {
			return inOrder(ids) + each(ids, func(id string) string { return strings.Replace(answered(id), "200", "500", 1) })
		}, ""},
		"unknown ids": {func(ids []string) string { return answered("key_of_another") + answered("") + inOrder(ids) }, ""},
		"garbage": {func(ids []string) string {
			return "<html>\n{\n\n" + each(ids, func(id string) string { return "\x00\n" + answered(id) }) + "{\"cust"
		}, ""},
		"never":         {func(ids []string) string { return each(ids, without("b")) }, "b"},
		"as garbage":    {func(ids []string) string { return each(ids, without("c")) + `{"custom_id":"` }, "c"},
		"oversized":     {func(ids []string) string { return each(ids, without("d")) + strings.Repeat("x", 33<<20) + "\n" }, "d"},
		"of wrong type": {func(ids []string) string { return each(ids, without("a")) + `{"custom_id":{"a":1}}` }, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &provider{results: tt.results}
			statuses, bodies := sendAll(t, newCollector(t, p, Settings{MaxItems: len(ids), Settle: time.Hour}), ids...)
			require.Len(t, p.batches, 1)
			for i, id := range ids {
				if id == tt.never {
					require.Equal(t, http.StatusGatewayTimeout, statuses[i])
					require.Contains(t, bodies[i], "ended without a result for this request")
					continue
				}
				require.Equal(t, http.StatusOK, statuses[i], bodies[i])
				require.Contains(t, bodies[i], "_"+id+`"`)
			}
		})
	}
}

// Requests whose ids are equal, or unfit for a batch, get their own replies.
func TestIdsOfItems(t *testing.T) {
	p := &provider{results: func(ids []string) string {
		require.Len(t, slices.Compact(slices.Sorted(slices.Values(ids))), 5)
		text := ""
		for _, id := range ids {
			require.Regexp(t, `^[A-Za-z0-9_-]{1,64}$`, id)
			text += answered(id)
		}
		return text
	}}
	_, bodies := sendAll(t, newCollector(t, p, Settings{MaxItems: 5, Settle: time.Hour}), "a", "a", "", "with space", strings.Repeat("long", 30))
	require.Len(t, slices.Compact(slices.Sorted(slices.Values(bodies))), 5)
}

// A batch has at most as many requests as it may, and waits for others no longer than it may.
func TestWhenABatchIsSubmitted(t *testing.T) {
	p := &provider{results: func(ids []string) string { return strings.Join(mapped(ids, answered), "") }}
	c := newCollector(t, p, Settings{MaxItems: 2, MaxWait: 10 * time.Millisecond, Settle: time.Hour})
	statuses, _ := sendAll(t, c, "a", "b", "c", "d", "e")
	require.Equal(t, []int{200, 200, 200, 200, 200}, statuses)
	require.Len(t, p.batches, 3, "two are full, and one request waited long enough")
}

func mapped(ids []string, f func(string) string) (out []string) {
	for _, id := range ids {
		out = append(out, f(id))
	}
	return out
}

// Replies that are not those of the API end the wait: the requests are in the batch, and a resumed
// run asks again.
func TestUnreadableBatch(t *testing.T) {
	p := &provider{state: "<html>a proxy of the network</html>"}
	_, _, err := send(context.Background(), newCollector(t, p, Settings{}), "a")
	require.True(t, IsWaiting(err))
	require.ErrorContains(t, err, "the request is in batch b0 of openai; resume the run to collect its reply: ask for batch b0: the reply is not the expected JSON")
	require.Equal(t, maxUnreadable, p.asked)
}

// A cancelled request leaves the queue; one in a batch says where it is.
func TestCancelledRequests(t *testing.T) {
	p := &provider{state: `{"status":"in_progress"}`}
	c := newCollector(t, p, Settings{Settle: time.Hour, MaxWait: time.Hour})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { _, _, err := send(ctx, c, "a"); ended <- err }()
	require.Eventually(t, func() bool { return len(c.State()) == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Empty(t, c.State())
	require.Empty(t, p.batches)

	c = newCollector(t, p, Settings{})
	ctx, cancel = context.WithCancel(context.Background())
	go func() { _, _, err := send(ctx, c, "b"); ended <- err }()
	require.Eventually(t, func() bool { s := c.State(); return len(s) == 1 && s[0].Batch == "b0" }, 10*time.Second, time.Millisecond)
	require.False(t, c.State()[0].Since.IsZero())
	cancel()
	require.True(t, IsWaiting(<-ended))
}

// A body that is not one line of JSON cannot be an item.
func TestBodies(t *testing.T) {
	for body, says := range map[string]string{"{\n\"model\":1}": "", "{\n": "its body is not JSON", strings.Repeat("x", maxBody+1): "read its body of at most"} {
		req := httptest.NewRequest(http.MethodPost, "http://host/v1/chat/completions", strings.NewReader(body))
		text, err := readBody(req)
		if says == "" {
			require.NoError(t, err)
			require.NotContains(t, text, "\n")
			continue
		}
		require.ErrorContains(t, err, says)
	}
}

// Notes cut off anywhere are read up to their last whole line, and the rest is written over.
func TestNotesCutOff(t *testing.T) {
	path := filepath.Join(t.TempDir(), "batches")
	n, err := openNotes(path, nil)
	require.NoError(t, err)
	require.NoError(t, n.add(note{Batch: 1, Key: "k", Items: [][2]string{{"a", "digest"}}}, true))
	require.NoError(t, n.add(note{Batch: 1, ID: "b0"}, true))
	require.NoError(t, n.add(note{Batch: 1, Done: true}, false))
	require.NoError(t, n.close())
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for size := range len(whole) + 1 {
		require.NoError(t, os.WriteFile(path, whole[:size], 0o600))
		var seen []note
		n, err := openNotes(path, func(n note, _ map[string]bool) { seen = append(seen, n) })
		require.NoError(t, err)
		require.NoError(t, n.add(note{Batch: 2, Key: "k2"}, false))
		require.NoError(t, n.close())
		lines := strings.Count(string(whole[:size]), "\n")
		require.Len(t, seen, min(lines, 1))
		if lines > 0 {
			require.Equal(t, lines > 1, seen[0].ID == "b0")
			require.Equal(t, lines > 2, seen[0].Done)
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, lines+1, strings.Count(string(text), "\n"))
	}
	require.NoError(t, os.WriteFile(path, []byte(`{"batch":1,"key":"k"}`+"\nnot a note\n"), 0o600))
	_, err = openNotes(path, func(note, map[string]bool) {})
	require.ErrorContains(t, err, path+":2: not a note of a batch; restore the file, or start a new run")
}

// FuzzNotes reads any file of notes: each batch is visited once, with a key and a number.
func FuzzNotes(f *testing.F) {
	f.Add([]byte(`{"batch":1,"key":"k","provider":"openai","items":[["a","digest"]]}` + "\n" + `{"batch":1,"id":"b"}` + "\n" + `{"batch":1,"failed":"a"}` + "\n" + `{"batch":1,"done":true}` + "\n"))
	f.Add([]byte(`{"batch":2,"id":"b"}` + "\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		seen := map[int]bool{}
		err := readNotes("notes", text, func(n note, failed map[string]bool) {
			require.Positive(t, n.Batch)
			require.NotEmpty(t, n.Key)
			require.NotNil(t, failed)
			require.False(t, seen[n.Batch])
			seen[n.Batch] = true
		})
		if err != nil {
			require.Contains(t, err.Error(), "restore the file, or start a new run")
		}
	})
}
