package all

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/sim"
)

// once asks a handler once and repeats its answer.
type once struct {
	handler http.Handler
	answer  *httptest.ResponseRecorder
}

func (o *once) RoundTrip(r *http.Request) (*http.Response, error) {
	if o.answer == nil {
		o.answer = httptest.NewRecorder()
		o.handler.ServeHTTP(o.answer, r)
	}
	return &http.Response{StatusCode: o.answer.Code, Header: o.answer.Header(), Body: io.NopCloser(bytes.NewReader(o.answer.Body.Bytes())), Request: r}, nil
}

// answers are scripts of about 4 KB: prose, JSON within JSON, in which every sixth byte
// is escaped, and ten tool calls.
func answers() map[string]providers.Call {
	script := func(text string) providers.Call {
		return providers.Call{Model: "sim-probe", MaxTokens: 4000, Messages: []providers.Message{{Role: providers.RoleUser, Text: text}}}
	}
	say := func(text string) providers.Call {
		quoted, _ := json.Marshal(text) // strings can always be marshalled
		return script("say " + string(quoted))
	}
	calls := script(strings.Repeat(`call get_weather {"city":"Bern","note":"`+strings.Repeat("a word or two ", 25)+"\"}\n", 10))
	calls.Tools = []providers.Tool{{Name: "get_weather", Schema: []byte(`{"type":"object","properties":{"city":{"type":"string"},"note":{"type":"string"}}}`)}}
	return map[string]providers.Call{
		"prose": say(strings.Repeat("There were 12 incidents on Monday, two more than the week before.\n", 58)),
		"json":  say(strings.Repeat(`{"control":{"done":false,"reason":"ok"},"next_action":{"type":"tool","name":"get_counts"}}`, 36)),
		"calls": calls,
	}
}

// exchanges runs bench for every provider and script, with the body of the answer.
func exchanges(b *testing.B, stream bool, bench func(b *testing.B, m providers.Model, c providers.Call, body []byte)) {
	for _, name := range slices.Sorted(maps.Keys(served)) {
		for _, kind := range slices.Sorted(maps.Keys(answers())) {
			call := answers()[kind]
			call.Stream = stream
			if name == "tgi" && len(call.Tools) > 0 {
				continue // the generate API has no tools
			}
			b.Run(name+"/"+kind, func(b *testing.B) {
				o := &once{handler: sim.Handler(sim.Config{Seed: 1})}
				m, err := Factories()[name](providers.Options{BaseURL: "http://127.0.0.1:1" + served[name].base, Key: "k", Region: "eu-central-1", HTTP: &http.Client{Transport: o}})
				if err != nil {
					b.Fatal(err)
				}
				if r, err := m.Call(context.Background(), call); err != nil || len(r.Text)+len(r.Calls) == 0 {
					b.Fatal(err, r)
				}
				b.ReportAllocs()
				b.SetBytes(int64(o.answer.Body.Len()))
				short := providers.Call{Model: call.Model, Stream: stream, Messages: []providers.Message{{Role: providers.RoleUser, Text: "again"}}}
				bench(b, m, short, o.answer.Body.Bytes())
			})
		}
	}
}

func ask(b *testing.B, m providers.Model, c providers.Call, _ []byte) {
	for b.Loop() {
		if _, err := m.Call(context.Background(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWhole makes a call of every provider, from the short request to the parsed
// reply of 4 KB, without the network. Floor: BenchmarkWholeFloor, encoding/json on the
// reply alone.
func BenchmarkWhole(b *testing.B) { exchanges(b, false, ask) }

func BenchmarkWholeFloor(b *testing.B) {
	exchanges(b, false, func(b *testing.B, _ providers.Model, _ providers.Call, body []byte) {
		for b.Loop() {
			var v any
			if err := json.Unmarshal(body, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStream makes the same calls as streams, with the reply of 4 KB in many
// frames. Floor: BenchmarkStreamFloor, encoding/json on the JSON objects of the frames.
func BenchmarkStream(b *testing.B) { exchanges(b, true, ask) }

func BenchmarkStreamFloor(b *testing.B) {
	exchanges(b, true, func(b *testing.B, _ providers.Model, _ providers.Call, body []byte) {
		frames := documents(body)
		for b.Loop() {
			for _, f := range frames {
				var v any
				if err := json.Unmarshal(f, &v); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// documents returns the JSON objects of a stream, in any framing.
func documents(body []byte) (list [][]byte) {
	for {
		at := bytes.IndexByte(body, '{')
		if at < 0 {
			return list
		}
		body = body[at:]
		dec := json.NewDecoder(bytes.NewReader(body))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil { // a brace of a binary frame
			body = body[1:]
			continue
		}
		list, body = append(list, raw), body[dec.InputOffset():]
	}
}
