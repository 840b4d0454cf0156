package cohere

import (
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var (
	typical = []byte(`{"id":"4a894e68","message":{"role":"assistant","content":[{"type":"text","text":"` +
		strings.Repeat(`The model says a sentence of common length, with a \"quote\" in it.\n`, 55) +
		`"}]},"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":12,"output_tokens":10},"tokens":{"input_tokens":614,"output_tokens":13},"cached_tokens":480}}`)
	long = []byte("event: message-start\ndata: {\"id\":\"x\",\"type\":\"message-start\"}\n\n" +
		strings.Repeat("event: content-delta\ndata: {\"type\":\"content-delta\",\"index\":0,\"delta\":{\"message\":{\"content\":{\"text\":\" word\"}}}}\n\n", 200) +
		"event: message-end\ndata: {\"type\":\"message-end\",\"delta\":{\"finish_reason\":\"COMPLETE\",\"usage\":{\"tokens\":{\"input_tokens\":1,\"output_tokens\":2}}}}\n\n")
)

// Floor: BenchmarkWholeFloor, a plain decode of the same 4 KB into a map.
func BenchmarkWhole(b *testing.B) { bench(b, typical) }

// Floor: one decode of an event of 100 bytes, 200 times.
func BenchmarkStream(b *testing.B) { bench(b, long) }

func bench(b *testing.B, body []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, complete, err := wire.Decode(&decoder{}, framing, body, true, "")
		if err != nil || !complete || !r.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkWholeFloor(b *testing.B) { testkit.DecodeFloor(b, typical) }
