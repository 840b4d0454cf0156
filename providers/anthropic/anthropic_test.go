package anthropic_test

import (
	"fmt"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    anthropic.New,
		Encode: encode,
		Fault: func(message string) string {
			return fmt.Sprintf(`{"type": "error", "error": {"type": "other", "message": %s}, "request_id": "req-body"}`, testkit.Quote(message))
		},
		Skip: map[string]string{"json_object": "the Messages API has no mode for any JSON object"},
	})
}

func encode(a providertest.Answer) string {
	stop := map[providers.Finish]string{
		providers.FinishStop: "end_turn", providers.FinishLength: "max_tokens", providers.FinishTools: "tool_use",
		providers.FinishRefusal: "refusal", providers.FinishOther: "pause_turn",
	}[a.Finish]
	usage := ""
	if u := a.Usage; u.Reported {
		usage = fmt.Sprintf(`, "usage": {"input_tokens": %d, "output_tokens": %d, "cache_read_input_tokens": %d,
			"cache_creation_input_tokens": %d, "output_tokens_details": {"thinking_tokens": %d}}`,
			u.Input, u.Output+u.Reasoning, u.CacheRead, u.CacheWrite, u.Reasoning)
	}
	content := fmt.Sprintf(`{"type": "text", "text": %s}`, testkit.Quote(a.Text))
	for i, args := range a.Args {
		content += fmt.Sprintf(`, {"type": "tool_use", "id": "toolu_%d", "name": %q, "input": %s}`, i, a.Tool, args)
	}
	return fmt.Sprintf(`{"id": "msg_1", "type": "message", "role": "assistant", "model": "some-model-20260101",
		"content": [%s], "stop_reason": %q, "stop_sequence": null%s}`, content, stop, usage)
}
