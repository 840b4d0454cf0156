package anthropic

import (
	"encoding/json"
	"strings"
	"testing"
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

func BenchmarkDecodeFloor(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(typical)))
	for b.Loop() {
		var v map[string]any
		if err := json.Unmarshal(typical, &v); err != nil {
			b.Fatal(err)
		}
	}
}
