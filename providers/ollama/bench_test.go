package ollama

import (
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var (
	typical = []byte(`{"model":"qwen3:4b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"` +
		strings.Repeat(`The collector \"went to therapy\" since it was feeling a little disconnected from its traces.\n`, 40) +
		`"},"done":true,"done_reason":"stop","total_duration":1164634958,"load_duration":148749625,"prompt_eval_count":172,"prompt_eval_duration":248357042,"eval_count":32,"eval_duration":469802920}`)
	streamed = []byte(strings.Repeat(`{"model":"qwen3:4b","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":" word"},"done":false}`+"\n", 200) +
		`{"model":"qwen3:4b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":172,"eval_count":200}` + "\n")
)

// Floor: BenchmarkWholeFloor, a plain decode of the same 4 KB into a map.
func BenchmarkWhole(b *testing.B) { bench(b, typical, false) }

// Floor: one decode of a line of 120 bytes, 200 times.
func BenchmarkStream(b *testing.B) { bench(b, streamed, true) }

func bench(b *testing.B, body []byte, asked bool) {
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, complete, err := wire.Decode(&decoder{}, wire.Lines, body, asked, "")
		if err != nil || !complete || !r.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkWholeFloor(b *testing.B) { testkit.DecodeFloor(b, typical) }
