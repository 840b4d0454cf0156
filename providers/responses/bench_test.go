package responses

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers/internal/wire"
)

// typical is a reply of 4 KB: sealed reasoning, a message and a call.
var typical = []byte(`{"id":"resp_0f","object":"response","created_at":1767225600,"status":"completed","background":false,"error":null,"incomplete_details":null,"instructions":null,"model":"gpt-5-mini-2025-08-07","output":[` +
	`{"id":"rs_0f","type":"reasoning","summary":[],"encrypted_content":"` + strings.Repeat("gAAAAABo", 160) + `"},` +
	`{"id":"msg_0f","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"` + strings.Repeat(`{\"control\":{\"done\":false,\"reason\":\"ok\"}}`, 30) + `"}]},` +
	`{"id":"fc_0f","type":"function_call","status":"completed","call_id":"call_0f","name":"get_counts","arguments":"{\"from\":\"2026-05-03\"}"}],` +
	`"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":"medium","summary":null},"service_tier":"default","store":false,"temperature":1.0,"text":{"format":{"type":"text"},"verbosity":"medium"},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled",` +
	`"usage":{"input_tokens":812,"input_tokens_details":{"cached_tokens":512},"output_tokens":142,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":954},"user":null,"metadata":{}}`)

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

// typicalStream returns the same reply as 100 pieces.
func typicalStream() []byte {
	var s strings.Builder
	s.WriteString("event: response.created\ndata: " + created + "\n\n")
	for i := range 100 {
		fmt.Fprintf(&s, "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"sequence_number\":%d,\"item_id\":\"msg_0f\",\"output_index\":1,\"content_index\":0,\"delta\":\" word\",\"logprobs\":[],\"obfuscation\":\"aBcDeFgH\"}\n\n", i)
	}
	s.WriteString("event: response.completed\ndata: " + completed("") + "\n\n")
	return []byte(s.String())
}

// Floor: BenchmarkStreamFloor, which splits the same bytes into frames.
func BenchmarkStream(b *testing.B) {
	body := typicalStream()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		reply, fault, err := decode(body, "")
		if fault != nil || err != nil || !reply.Usage.Reported {
			b.Fatal(fault, err)
		}
	}
}

type skipping struct{ decoder }

func (skipping) Frame(*wire.Builder, wire.Frame) (bool, error) { return false, nil }

func BenchmarkStreamFloor(b *testing.B) {
	body := typicalStream()
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, _, err := wire.Decode(&skipping{}, wire.Events, body, true, ""); err != nil {
			b.Fatal(err)
		}
	}
}
