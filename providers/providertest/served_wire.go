package providertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/fault"
)

// wireCases are about requests, limits and interruptions.
func wireCases() []trialCase {
	cases := []trialCase{
		{"settings", testSettings},
		{"requests are deterministic", testSameBytes},
		{"extra header, query and body", testExtras},
		{"calls that cannot be sent", testUnsent},
		{"unknown model", testUnknownModel},
		{"mixed concurrent calls", testMixed},
	}
	for _, c := range []struct {
		name string
		run  func(t require.TestingT, b *bench, stream bool)
	}{
		{"cancellation in the middle", testCancelledMidway},
		{"deadline in the middle", testDeadlineMidway},
		{"slow body", testSlow},
		{"small body limit", testSmallLimit},
	} {
		cases = append(cases,
			trialCase{c.name, func(t require.TestingT, b *bench) { c.run(t, b, false) }},
			trialCase{c.name + twin, func(t require.TestingT, b *bench) { c.run(t, b, true) }})
	}
	return cases
}

// requireError demands a *fault.Error of one of the kinds, complete and
// without the key.
func requireError(t require.TestingT, b *bench, err error, kinds ...fault.Kind) *fault.Error {
	var e *fault.Error
	require.True(t, errors.As(err, &e), "want an error of kind %v, got %v", kinds, err)
	require.Contains(t, kinds, e.Kind, "%v", err)
	require.Equal(t, "under-test", e.Provider)
	require.NotEmpty(t, e.Model)
	require.NotContains(t, err.Error(), b.key())
	require.LessOrEqual(t, len([]rune(e.Message)), 300)
	return e
}

// testSettings: each arrives as it is, or a warning says that it does not.
func testSettings(t require.TestingT, b *bench) {
	temperature, seed := 0.25, int64(77)
	c := saying("say ok")
	c.MaxTokens, c.Temperature, c.Seed, c.Stop = 61, &temperature, &seed, []string{"HALT"}
	r, _, err := b.call(background, b.wire(t, nil), c)
	require.NoError(t, err)
	body, warnings := b.last(t).body, strings.Join(r.Warnings, "\n")
	for name, value := range map[string]string{"max_tokens": "61", "temperature": "0.25", "seed": "77", "stop": `"HALT"`} {
		sent, warned := strings.Contains(body, value), strings.Contains(warnings, name+":")
		require.True(t, sent != warned, "%s: sent %v, warned of %v\n%s\n%s", name, sent, warned, body, warnings)
	}
}

// rich is a call with nearly everything in it.
func rich() providers.Call {
	temperature := 0.5
	return providers.Call{
		System: "Be brief.", MaxTokens: 500, Temperature: &temperature, Tools: tools, Stop: []string{"HALT"},
		Messages: []providers.Message{
			{Role: providers.RoleUser, Text: "say <hi> & \"bye\"", Images: []providers.Image{{MediaType: "image/png", Data: picture()}}},
			{Role: providers.RoleAssistant, Text: "Hm.", Calls: []providers.ToolCall{{ID: "call_1", Name: "get_weather", Args: `{"city":"Bern"}`}}},
			{Role: providers.RoleTool, CallID: "call_1", Name: "get_weather", Text: "rain"},
			{Role: providers.RoleUser, Text: "say ok"},
		},
	}
}

// testSameBytes: equal calls make equal requests, also by new wires; what
// they hold is readable. The wire may lack parts: the server's answer is not
// looked at.
func testSameBytes(t require.TestingT, b *bench) {
	for _, stream := range []bool{false, true} {
		for name, c := range map[string]providers.Call{
			"rich": rich(), "plain": saying("say <hi> & \"bye\""), "schema": jsonCall(providers.JSONSchema, "say {}"), "tool": jsonCall(providers.ForcedTool, "say {}"),
		} {
			var first sent
			c.Stream = stream
			for i := range 4 {
				b.forget()
				_, _, _ = b.call(background, b.wire(t, nil), c)
				if b.made() == 0 {
					break // refused unsent, every time
				}
				got := b.last(t)
				if i == 0 {
					first = got
				}
				require.Equal(t, first.target, got.target, name)
				require.Equal(t, first.body, got.body, name)
				require.Equal(t, "application/json", got.header.Get("Content-Type"))
				require.NotContains(t, got.body+got.target, b.key())
			}
			if name == "plain" {
				require.Contains(t, first.body, `say <hi> & \"bye\"`, "the prompt must be readable on a cassette")
			}
		}
	}
}

// forget drops the requests made so far.
func (b *bench) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = nil
}

// made is how many requests were made.
func (b *bench) made() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen)
}

// testExtras looks at the request only: the server may refuse what is foreign.
func testExtras(t require.TestingT, b *bench) {
	plain := b.wire(t, nil)
	extra := b.wire(t, func(o *providers.Options) {
		o.Header, o.Query = map[string]string{"X-Extra": "one"}, map[string]string{"extra": "two & three"}
		o.Extra = []byte(`{"extra_field":{"deep":[1.50]}}`)
	})
	_, _, _ = b.call(background, plain, saying("say ok"))
	before := b.last(t)
	_, _, _ = b.call(background, extra, saying("say ok"))
	after := b.last(t)
	require.Equal(t, "one", after.header.Get("X-Extra"))
	require.Contains(t, after.target, "extra=two+%26+three")
	require.Contains(t, after.body, `"extra_field":{"deep":[1.50]}`)
	require.NotContains(t, before.body+before.target, "extra")
	_, err := b.New(providers.Options{Provider: "under-test", BaseURL: b.server.URL + b.Base, Key: b.key(), HTTP: b.client, Region: "eu-central-1", Extra: []byte(`[1]`)})
	requireRefused(t, err)
}

// requireRefused demands that an option is refused.
func requireRefused(t require.TestingT, err error) {
	var e *fault.Error
	require.True(t, errors.As(err, &e), "want a *fault.Error, got %v", err)
	require.Equal(t, fault.InvalidRequest, e.Kind)
}

// testUnsent: what no provider takes is refused before anything is sent.
func testUnsent(t require.TestingT, b *bench) {
	m := b.wire(t, nil)
	for name, change := range map[string]func(*providers.Call){
		"a tool's name with a space":    func(c *providers.Call) { c.Tools = []providers.Tool{{Name: "get weather"}} },
		"two tools of a name":           func(c *providers.Call) { c.Tools = []providers.Tool{tools[1], tools[1]} },
		"a schema that is no object":    func(c *providers.Call) { c.Tools = []providers.Tool{{Name: "x", Schema: []byte("true")}} },
		"a choice of an unknown tool":   func(c *providers.Call) { c.Choice = providers.Choice{Kind: providers.ChoiceNamed, Name: "nobody"} },
		"an unknown kind of choice":     func(c *providers.Call) { c.Choice.Kind = "perhaps" },
		"some tool where there is none": func(c *providers.Call) { c.Tools, c.Choice.Kind = nil, providers.ChoiceAny },
		"an unknown mode":               func(c *providers.Call) { c.Format = &providers.Format{Mode: "yaml"} },
	} {
		for _, stream := range []bool{false, true} {
			c := using("say ok")
			c.Stream = stream
			change(&c)
			_, _, err := b.call(background, m, c)
			e := requireError(t, b, err, fault.InvalidRequest)
			require.Zero(t, e.Status, name)
			require.NotEmpty(t, e.Message, name)
		}
	}
	require.Zero(t, b.made(), "a request was made")
}

func testUnknownModel(t require.TestingT, b *bench) {
	for _, stream := range []bool{false, true} {
		c := saying("say ok")
		c.Model, c.Stream = "nobody", stream
		r, _, err := b.call(background, b.wire(t, nil), c)
		e := requireError(t, b, err, fault.NotFound)
		require.GreaterOrEqual(t, e.Status, http.StatusBadRequest)
		require.Equal(t, e.Status, r.Status)
		require.NotEmpty(t, e.Message)
		require.False(t, e.Partial)
	}
}

// testMixed: calls at the same time do not mix.
func testMixed(t require.TestingT, b *bench) {
	m := b.wire(t, nil)
	const calls = 12
	var wg sync.WaitGroup
	replies, errs := make([]providers.Reply, calls), make([]error, calls)
	for i := range calls {
		wg.Go(func() {
			c := saying(fmt.Sprintf("say number %d", i))
			c.Stream = i%2 == 0
			replies[i], _, errs[i] = b.call(background, m, c)
		})
	}
	wg.Wait()
	for i := range calls {
		require.NoError(t, errs[i])
		require.Equal(t, fmt.Sprintf("number %d", i), replies[i].Text)
	}
}

// halfReplies sends the first half of each reply and then nothing until the client
// goes away.
func halfReplies(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := begin(w, r, next)
		_, _ = w.Write(body[:len(body)/2])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	})
}

// begin has next answer, sends the header, and returns the body.
func begin(w http.ResponseWriter, r *http.Request, next http.Handler) []byte {
	kept := httptest.NewRecorder()
	next.ServeHTTP(kept, r)
	for name, values := range kept.Header() {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(kept.Code)
	return kept.Body.Bytes()
}

func testCancelledMidway(t require.TestingT, b *bench, stream bool) {
	interrupt(t, b, stream, fault.Transport, context.Canceled)
}

func testDeadlineMidway(t require.TestingT, b *bench, stream bool) {
	interrupt(t, b, stream, fault.TimedOut, context.DeadlineExceeded)
}

// interrupt ends a call in the middle of its reply: what has come is kept.
func interrupt(t require.TestingT, b *bench, stream bool, kind fault.Kind, cause error) {
	m := b.wire(t, nil)
	c := saying("fill 200")
	c.Stream = stream
	full, _, err := b.call(background, m, c)
	require.NoError(t, err)
	b.bend(halfReplies)
	var ctx context.Context
	var cancel context.CancelFunc
	if kind == fault.TimedOut {
		ctx, cancel = context.WithTimeout(background, 150*time.Millisecond)
	} else {
		ctx, cancel = context.WithCancel(background)
		if stream {
			c.OnDelta = func(providers.Delta) { cancel() }
		}
		// Of a stream only if no piece ever comes.
		time.AfterFunc(map[bool]time.Duration{false: 50 * time.Millisecond, true: 2 * time.Second}[stream], cancel)
	}
	defer cancel()
	start := time.Now() //nolint:forbidigo // of a test
	r, _, err := b.call(ctx, m, c)
	e := requireError(t, b, err, kind)
	require.ErrorIs(t, e, cause)
	require.Less(t, time.Since(start), patience/2, "the call did not end")
	require.Equal(t, http.StatusOK, r.Status)
	require.Equal(t, stream, e.Partial)
	if stream {
		require.NotEmpty(t, r.Text, "what had come is lost")
		require.True(t, strings.HasPrefix(full.Text, r.Text))
		require.Less(t, len(r.Text), len(full.Text))
	}
	require.True(t, !stream || (full.RequestID == "") == (r.RequestID == ""), "the request id is lost")
}

// testSlow: a reply in small pieces is the same reply.
func testSlow(t require.TestingT, b *bench, stream bool) {
	m := b.wire(t, nil)
	c := saying(sayProse())
	c.Stream = stream
	want, _, err := b.call(background, m, c)
	require.NoError(t, err)
	b.bend(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body := begin(w, r, next)
			for len(body) > 0 {
				n := min(len(body), 1+len(body)%61)
				_, _ = w.Write(body[:n])
				w.(http.Flusher).Flush()
				body = body[n:]
			}
		})
	})
	got, _, err := b.call(background, m, c)
	require.NoError(t, err)
	sameReply(t, want, got)
}

// testSmallLimit: a reply over the limit is refused, what arrived is kept.
func testSmallLimit(t require.TestingT, b *bench, stream bool) {
	c := saying("fill 400")
	c.Stream = stream
	full, _, err := b.call(background, b.wire(t, nil), c)
	require.NoError(t, err)
	r, _, err := b.call(background, b.wire(t, func(o *providers.Options) { o.MaxBody = 1500 }), c)
	e := requireError(t, b, err, fault.Malformed)
	require.Equal(t, http.StatusOK, e.Status)
	require.Contains(t, e.Error(), "long")
	require.LessOrEqual(t, len(r.Text), 1500)
	require.True(t, strings.HasPrefix(full.Text, r.Text))
}
