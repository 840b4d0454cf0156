package openai

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var typical = []byte(`{"id":"chatcmpl-CbXk2n7vQ9","object":"chat.completion","created":1767225600,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"message":{"role":"assistant","content":"` +
	strings.Repeat(`{\"control\":{\"done\":false,\"reason\":\"ok\"},\"next_action\":{\"type\":\"tool\",\"name\":\"get_counts\"}}`, 32) +
	`","refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":812,"completion_tokens":142,"total_tokens":954,"prompt_tokens_details":{"cached_tokens":512,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1"}`)

// Floor: BenchmarkDecodeFloor, a plain decode of the same bytes into a map.
func BenchmarkDecode(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		reply, fault, err := decode(typical, "")
		if fault != nil || err != nil || !reply.Usage.Reported {
			b.Fatal(fault, err)
		}
	}
}

func BenchmarkDecodeFloor(b *testing.B) { testkit.DecodeFloor(b, typical) }

// The stream has 200 chunks. Floor: BenchmarkStreamFloor, a plain decode of each chunk.
var typicalStream = func() []byte {
	chunks := slices.Repeat([]string{delta(`"content":" token"`, `,"logprobs":null,"finish_reason":null`)}, 200)
	return events(append(chunks, delta(``, `,"finish_reason":"stop"`), `{"choices":[],"usage":{"prompt_tokens":812,"completion_tokens":200,"total_tokens":1012}}`, "[DONE]")...)
}()

func BenchmarkStream(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typicalStream)))
	for b.Loop() {
		reply, complete, err := wire.Decode(newDecoder(Dialect{}, true), wire.Events, typicalStream, true, "")
		if err != nil || !complete || !reply.Usage.Reported {
			b.Fatal(complete, err)
		}
	}
}

func BenchmarkStreamFloor(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typicalStream)))
	for b.Loop() {
		for line := range bytes.Lines(typicalStream) {
			var v map[string]any
			if data, ok := bytes.CutPrefix(line, []byte("data: {")); ok && json.Unmarshal(append([]byte("{"), data...), &v) != nil {
				b.Fatal(string(line))
			}
		}
	}
}
