package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

var typical = []byte(`{"id":"msg_01ABCdefGHI","type":"message","role":"assistant","model":"claude-haiku-4-5-20251001","content":[{"type":"text","text":"` +
	strings.Repeat(`{\"control\":{\"done\":false,\"reason\":\"ok\"},\"next_action\":{\"type\":\"tool\",\"name\":\"get_counts\"}}`, 5) +
	`"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":812,"cache_creation_input_tokens":0,"cache_read_input_tokens":512,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":142,"service_tier":"standard"}}`)

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

// reply4K is a reply of 4 KB. streamed has the same reply as a stream of words.
var reply4K = []byte(`{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"` + strings.Repeat("angry 17, sad 4, ", 230) +
	`"}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":812,"output_tokens":142}}`)

// Floor: BenchmarkDecode4KFloor, json.Valid of the same bytes, which is one pass over
// them.
func BenchmarkDecode4K(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(reply4K)))
	for b.Loop() {
		if reply, _, err := decode(reply4K, ""); err != nil || !reply.Usage.Reported {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode4KFloor(b *testing.B) {
	b.SetBytes(int64(len(reply4K)))
	for b.Loop() {
		if !json.Valid(reply4K) {
			b.Fatal("not JSON")
		}
	}
}

// Floor: BenchmarkDecodeStreamFloor, which decodes only the type of each event.
func BenchmarkDecodeStream(b *testing.B) {
	body := []byte(streamed())
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, complete, err := wire.Decode(&decoder{}, wire.Events, body, true, ""); err != nil || !complete {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeStreamFloor(b *testing.B) {
	body := []byte(streamed())
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		for line := range bytes.SplitSeq(body, []byte("\n")) {
			var v struct {
				Type string `json:"type"`
			}
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok && json.Unmarshal(data, &v) != nil {
				b.Fatal("not JSON")
			}
		}
	}
}

// streamed returns a stream of 230 pieces.
func streamed() string {
	pieces := []string{begun, text0}
	for range 230 {
		pieces = append(pieces, blockDelta(`{"type":"text_delta","text":"angry 17, sad 4, "}`))
	}
	return events(append(pieces, close0, stopped("end_turn", `{"output_tokens":142}`), ended)...)
}
