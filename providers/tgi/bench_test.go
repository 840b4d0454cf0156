package tgi

import (
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var (
	typical = []byte(`{"generated_text":"` + strings.Repeat(`The model says a sentence of common length, with a \"quote\" in it.\n`, 20) +
		`","details":{"finish_reason":"eos_token","generated_tokens":75,"input_length":9,"seed":null,"prefill":[],"tokens":[` +
		strings.Repeat(`{"id":13,"text":"word","logprob":-0.14550781,"special":false},`, 40) + `{"id":2,"text":"</s>","logprob":0.0,"special":true}]}}`)
	long = []byte(strings.Repeat(`data:{"index":1,"token":{"id":13,"text":" word","logprob":-0.14550781,"special":false},"generated_text":null,"details":null}`+"\n\n", 200) +
		`data:{"index":201,"token":{"id":2,"text":"</s>","special":true},"generated_text":"` + strings.Repeat(" word", 200) + `","details":{"finish_reason":"eos_token","generated_tokens":201,"input_length":9}}` + "\n\n")
)

// Floor: BenchmarkWholeFloor, a plain decode of the same 4 KB into a map.
func BenchmarkWhole(b *testing.B) { bench(b, typical) }

// Floor: one decode of an event of 120 bytes, 200 times.
func BenchmarkStream(b *testing.B) { bench(b, long) }

func bench(b *testing.B, body []byte) {
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r, complete, err := wire.Decode(&decoder{}, wire.Events, body, true, "")
		if err != nil || !complete || !r.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkWholeFloor(b *testing.B) { testkit.DecodeFloor(b, typical) }
