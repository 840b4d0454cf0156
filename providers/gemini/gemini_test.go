package gemini_test

import (
	"fmt"
	"testing"

	"github.com/cupel-eval/cupel/internal/testkit"
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/providertest"
)

func TestContract(t *testing.T) {
	providertest.Run(t, providertest.Subject{
		New:    gemini.New,
		Encode: encode,
		Fault: func(message string) string {
			return fmt.Sprintf(`{"error": {"message": %s, "status": "A_NEW_STATUS"}}`, testkit.Quote(message))
		},
		Skip: map[string]string{
			"usage":                     "the API does not tell what it writes to the cache: see TestUsage",
			"formats and request bytes": "the format stands inside of generationConfig: see TestFormatsAreSent",
		},
	})
}

func encode(a providertest.Answer) string {
	reason := map[providers.Finish]string{
		providers.FinishStop: "STOP", providers.FinishLength: "MAX_TOKENS", providers.FinishTools: "STOP",
		providers.FinishRefusal: "SAFETY", providers.FinishOther: "MALFORMED_FUNCTION_CALL",
	}[a.Finish]
	parts := fmt.Sprintf(`{"text": %s}`, testkit.Quote(a.Text))
	if a.Finish == providers.FinishTools && len(a.Args) == 0 {
		parts += `, {"functionCall": {"name": "some_tool"}}`
	}
	for i, args := range a.Args {
		parts += fmt.Sprintf(`, {"functionCall": {"id": "id%d", "name": %q, "args": %s}}`, i, a.Tool, args)
	}
	usage := ""
	if u := a.Usage; u.Reported {
		usage = fmt.Sprintf(`, "usageMetadata": {"promptTokenCount": %d, "candidatesTokenCount": %d, "cachedContentTokenCount": %d, "thoughtsTokenCount": %d}`,
			u.Input+u.CacheRead, u.Output, u.CacheRead, u.Reasoning)
	}
	return fmt.Sprintf(`{"candidates": [{"content": {"role": "model", "parts": [%s]}, "finishReason": %q, "index": 0}],
		"modelVersion": "gemini-x", "responseId": "r1"%s}`, parts, reason, usage)
}
