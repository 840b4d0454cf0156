package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/openai"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    openai.New,
		Encode: encode,
		Fault: func(message string) string {
			return fmt.Sprintf(`{"error": {"message": %s, "type": "other", "param": null, "code": null}}`, testkit.Quote(message))
		},
	})
}

func encode(a providertest.Answer) string {
	finish := map[providers.Finish]string{
		providers.FinishStop: "stop", providers.FinishLength: "length", providers.FinishTools: "tool_calls",
		providers.FinishRefusal: "content_filter", providers.FinishOther: "something new",
	}[a.Finish]
	usage := ""
	if u := a.Usage; u.Reported {
		usage = fmt.Sprintf(`, "usage": {"prompt_tokens": %d, "completion_tokens": %d,  "total_tokens": %d, "new_field": 0.0,
			"prompt_tokens_details": {"cached_tokens": %d, "cache_write_tokens": %d}, "completion_tokens_details": {"reasoning_tokens": %d}}`,
			u.Input+u.CacheRead+u.CacheWrite, u.Output+u.Reasoning, u.Total(), u.CacheRead, u.CacheWrite, u.Reasoning)
	}
	var calls strings.Builder
	for i, args := range a.Args {
		fmt.Fprintf(&calls, `, {"id": "call_%d", "type": "function", "function": {"name": %q, "arguments": %s}}`, i, a.Tool, testkit.Quote(args))
	}
	tools := ""
	if len(a.Args) > 0 {
		tools = `, "tool_calls": [` + calls.String()[1:] + `]`
	}
	return fmt.Sprintf(`{"id": "chatcmpl-1", "object": "chat.completion", "model": "some-model-2026-01-01", "choices": [{"index": 0,
		"message": {"role": "assistant", "content": %s, "refusal": null%s}, "finish_reason": %q}]%s}`, testkit.Quote(a.Text), tools, finish, usage)
}
