package gemini

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// replyOf returns a reply of about 4 KB.
func replyOf(text string) []byte {
	return []byte(`{"candidates":[{"content":{"role":"model","parts":[{"text":"` + text +
		`"}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":812,"candidatesTokenCount":142,"totalTokenCount":1054,"promptTokensDetails":[{"modality":"TEXT","tokenCount":812}],"thoughtsTokenCount":100},"modelVersion":"gemini-2.5-flash","responseId":"SFuKaaXZKu"}`)
}

// replies are prose, and JSON within JSON, in which every sixth byte is escaped.
func replies() map[string][]byte {
	return map[string][]byte{
		"prose": replyOf(strings.Repeat(`There were 12 incidents on Monday, two more than the week before.\n`, 56)),
		"json":  replyOf(strings.Repeat(`{\"control\":{\"done\":false,\"reason\":\"ok\"},\"next_action\":{\"type\":\"tool\",\"name\":\"get_counts\"}}`, 35)),
	}
}

// Floor: BenchmarkDecodeFloor, a plain decode of the same bytes into a map.
func BenchmarkDecode(b *testing.B) {
	for name, body := range replies() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				reply, _, err := wire.Decode(&decoder{}, framing, body, false, "")
				if err != nil || !reply.Usage.Reported {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDecodeFloor(b *testing.B) {
	for name, body := range replies() {
		b.Run(name, func(b *testing.B) { testkit.DecodeFloor(b, body) })
	}
}

// The stream has 50 chunks, in both forms. Floor: 50 plain decodes of a chunk.
func BenchmarkStream(b *testing.B) {
	chunk := candidateOf(`{"text":"some words of an answer "}`, `,"index":0`)
	last := candidateOf(`{"text":"."}`, stopped)
	for name, body := range map[string]string{
		"events": strings.Repeat("data: "+chunk+"\r\n\r\n", 50) + "data: " + last + "\r\n\r\n",
		"array":  "[" + strings.Repeat(chunk+"\n,\n", 50) + last + "]",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if _, complete, err := decode(body, true); err != nil || !complete {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkStreamFloor(b *testing.B) {
	chunk := []byte(candidateOf(`{"text":"some words of an answer "}`, `,"index":0`))
	b.ReportAllocs()
	b.SetBytes(50 * int64(len(chunk)))
	for b.Loop() {
		for range 50 {
			var v map[string]any
			if err := json.Unmarshal(chunk, &v); err != nil {
				b.Fatal(err)
			}
		}
	}
}
