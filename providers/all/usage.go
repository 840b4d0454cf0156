package all

import (
	"github.com/cupel-eval/cupel/providers"
	"github.com/cupel-eval/cupel/providers/anthropic"
	"github.com/cupel-eval/cupel/providers/bedrock"
	"github.com/cupel-eval/cupel/providers/cohere"
	"github.com/cupel-eval/cupel/providers/gemini"
	"github.com/cupel-eval/cupel/providers/ollama"
	"github.com/cupel-eval/cupel/providers/tgi"
)

// UsageFields returns what becomes of each number of a provider's usage object, by
// the name of the wire's folder, in a fresh map.
func UsageFields() map[string][]providers.UsageField {
	return map[string][]providers.UsageField{
		"anthropic": anthropic.UsageFields(),
		"bedrock":   bedrock.UsageFields(),
		"cohere":    cohere.UsageFields(),
		"gemini":    gemini.UsageFields(),
		"ollama":    ollama.UsageFields(),
		"tgi":       tgi.UsageFields(),
	}
}
